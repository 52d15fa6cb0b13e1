package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// mcpJSON is the file in which other agents keep the servers of a project.
const mcpJSON = ".mcp.json"

// readMCPJSON reads a repository's .mcp.json as a layer of the project; nil without
// an error: there is none. What it says beside command, args, env, url and headers
// is other agents' and ignored.
func readMCPJSON(workspace string) (*layer, error) {
	path := filepath.Join(workspace, mcpJSON)
	data, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	var file struct {
		Servers map[string]struct {
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
		} `json:"mcpServers"`
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l := &layer{name: path, project: true, data: data}
	for name, s := range file.Servers {
		if l.file.MCP == nil {
			l.file.MCP = map[string]Server{}
		}
		l.file.MCP[name] = Server{Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers}
	}
	return l, nil
}
