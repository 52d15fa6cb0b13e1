package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/phero-agent/agent/tools/file"
)

// AddServer adds a server's table at the end of a settings file, which is made where
// there is none.
func AddServer(path string, s Server) error {
	if err := s.Check(); err != nil {
		return err
	}
	l, err := readFile(path, false)
	if err != nil {
		return err
	}
	var text string
	if l != nil {
		if _, ok := l.file.MCP[s.Name]; ok {
			return fmt.Errorf("%s has a server %s already: agent mcp remove %s takes it out", path, s.Name, s.Name)
		}
		if text = string(l.data); text != "" {
			text = strings.TrimRight(text, "\n") + "\n\n"
		}
	}
	return rewrite(path, text+s.table())
}

// table is the server as a file says it.
func (s Server) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s.%s]\n", serversKey, s.Name)
	v := reflect.ValueOf(s)
	for _, f := range serverSettings() {
		if field := v.FieldByIndex(f.index); !field.IsZero() {
			fmt.Fprintf(&b, "%s = %s\n", f.key, tomlText(field))
		}
	}
	return b.String()
}

// RemoveServer takes a server's table out of a settings file; false where it has
// none. One that is not written as a table of its own is left to the person.
func RemoveServer(path, name string) (bool, error) {
	l, err := readFile(path, false)
	if err != nil || l == nil {
		return false, err
	}
	if _, ok := l.file.MCP[name]; !ok {
		return false, nil
	}
	table := serversKey + "." + name
	var kept []string
	within := false
	for line := range strings.Lines(string(l.data)) {
		if head, ok := tableHead(line); ok {
			within = head == table || strings.HasPrefix(head, table+".")
		}
		if !within {
			kept = append(kept, line)
		}
	}
	text := strings.Join(kept, "")
	left := &layer{name: path, data: []byte(text), lines: positions([]byte(text))}
	if err := left.decode(); err != nil || left.file.MCP[name].Command+left.file.MCP[name].URL != "" {
		return false, fmt.Errorf("%s: the server is not a table of its own: remove it with an editor", l.serverSource(name))
	}
	return true, rewrite(path, text)
}

// tableHead is the name of the table that a line begins.
func tableHead(line string) (string, bool) {
	line = strings.TrimSpace(line)
	rest, ok := strings.CutPrefix(line, "[")
	if !ok {
		return "", false
	}
	name, _, ok := strings.Cut(strings.TrimPrefix(rest, "["), "]")
	return strings.NewReplacer(" ", "", `"`, "", "'", "").Replace(name), ok
}

// rewrite writes a settings file in one piece, and keeps its rights.
func rewrite(path, text string) error {
	perm := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		perm = info.Mode().Perm()
	}
	return write(path, text, perm)
}

// write writes a file in one piece, and makes the directory for it. A link stays one.
func write(path, text string, perm fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return file.WriteFileAtomic(path, []byte(text), perm)
}
