//go:build unix

package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// IMP-40: the log is a private file, made when there is something to say.
func TestLog(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	dir := filepath.Join(t.TempDir(), "state")
	logTo(dir, false, os.Getenv)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Fatalf("there is a log before anything was said: %v", err)
	}
	slog.Error("a tool panicked")
	path := filepath.Join(dir, "agent.log")
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), "a tool panicked") {
		t.Fatalf("the log is %q, %v", data, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Fatalf("its mode is %v, %v", info.Mode(), err)
	}
}
