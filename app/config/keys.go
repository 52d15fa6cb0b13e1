package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// KeysFile is the person's file of keys, lines of NAME=value: what the set-up keeps,
// and who does not want keys in the environment. Only its owner may read it.
func (s *Settings) KeysFile() string { return filepath.Join(s.ConfigDir, "keys") }

// withKeys is the environment and, for what it does not say, the file of keys.
func (s *Settings) withKeys(getenv func(string) string) func(string) string {
	path := s.KeysFile()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return getenv
	}
	var data []byte
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s: others can read it: chmod 600 %s", path, path)
	}
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		s.Notices = append(s.Notices, fmt.Sprintf("the keys do not count: %v", err))
		return getenv
	}
	kept := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(name, "#") {
			kept[strings.TrimSpace(strings.TrimPrefix(name, "export "))] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return func(name string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return kept[name]
	}
}

// Keep writes variables into the file of keys, each a name and a value, in place of
// what the file says of them.
func (s *Settings) Keep(variables ...[2]string) error {
	data, err := os.ReadFile(s.KeysFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var out strings.Builder
	for line := range strings.Lines(string(data)) {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if !slices.ContainsFunc(variables, func(v [2]string) bool { return v[0] == strings.TrimSpace(name) }) {
			out.WriteString(strings.TrimRight(line, "\n") + "\n")
		}
	}
	for _, v := range variables {
		fmt.Fprintf(&out, "%s=%s\n", v[0], v[1])
	}
	return write(s.KeysFile(), out.String(), 0o600)
}

// KeepModel writes the model into the person's settings file, above what is there,
// in place of what it says of it.
func (s *Settings) KeepModel(name string) error {
	path := s.Paths()[0]
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "model = %q\n", name)
	table := false
	for line := range strings.Lines(string(data)) {
		key, _, _ := strings.Cut(line, "=")
		table = table || strings.HasPrefix(strings.TrimSpace(line), "[")
		if table || strings.TrimSpace(key) != "model" {
			out.WriteString(line)
		}
	}
	return rewrite(path, out.String())
}
