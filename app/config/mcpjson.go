package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// mcpJSON is the file in which other agents keep the servers of a project.
const mcpJSON = ".mcp.json"

// otherServer is a server in the words of other agents. What else they say is
// ignored.
type otherServer struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

// readMCPJSON reads a repository's .mcp.json as a layer of the project; nil where
// there is none, or nothing to be used. It is not our file, so nothing in it is an
// error: notices say what does not count, and why.
func readMCPJSON(workspace string) (l *layer, notices []string) {
	path := filepath.Join(workspace, mcpJSON)
	data, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	var file struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(data)).Decode(&file)
	}
	if err != nil {
		return nil, []string{fmt.Sprintf("%s does not count: %v", mcpJSON, err)}
	}
	l = &layer{name: path, project: true, data: data}
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		s, err := otherAgents(name, file.Servers[name])
		if _, ok := l.file.MCP[s.Name]; ok && err == nil {
			err = fmt.Errorf("another one is %s here too", s.Name)
		}
		if err != nil {
			notices = append(notices, fmt.Sprintf("%s: the server %q does not count: %v", mcpJSON, name, err))
			continue
		}
		if l.file.MCP == nil {
			l.file.MCP = map[string]Server{}
		}
		l.file.MCP[s.Name] = s
	}
	return l, notices
}

func otherAgents(name string, raw json.RawMessage) (Server, error) {
	var o otherServer
	if err := json.Unmarshal(raw, &o); err != nil {
		return Server{}, err
	}
	if o.Type == "sse" {
		return Server{}, errors.New("it is of the older kind sse; its streamable HTTP address, often one that ends in /mcp, can be added with agent mcp add")
	}
	s := Server{Name: fitName(name), Command: o.Command, Args: o.Args, Env: o.Env, URL: o.URL, Headers: o.Headers}
	return s, s.Check()
}

// fitName makes another agent's name of a server one of ours.
func fitName(name string) string {
	name = strings.Map(func(r rune) rune {
		if inServerName(r) {
			return r
		}
		return '-'
	}, name)
	return name[:min(len(name), maxServerName)]
}
