//go:build unix

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
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

// A panic's text can hold a prompt, a file or a key, and an error a key: neither is
// in the log, where it happened is (IMP-40).
func TestLogHasNoContents(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	dir := t.TempDir()
	logTo(dir, true, func(name string) string { return map[string]string{"OPENAI_API_KEY": "sk-not-for-logs"}[name] })
	panics := func(f func()) {
		defer func() { slog.Error("a tool panicked", "panic", recover(), "stack", string(debug.Stack())) }()
		f()
	}
	panics(func() { panic("private words of a file") })
	panics(func() { panic(fmt.Errorf("private words: %w", os.ErrNotExist)) })
	panics(func() { panic(struct{ text string }{"private words"}) })
	panics(func() { fmt.Print([]int(nil)[len(os.Args)]) })
	slog.Error("a server", "error", errors.New("it refuses sk-not-for-logs"), "name", "with sk-not-for-logs")
	logEvents(func(app.Event) {})(app.Committed{Entry: session.Entry{Message: &session.Message{Role: session.RoleUser, Text: "private words"}}})
	log := document(t, filepath.Join(dir, "agent.log"))
	for _, no := range []string{"private", "sk-not"} {
		if strings.Contains(log, no) {
			t.Errorf("the log has %q: %s", no, log)
		}
	}
	for _, yes := range []string{"a panic with a string", "a panic with a *fmt.wrapError", "index out of range", "log_test.go", "it refuses ***", "with ***", "role=user"} {
		if !strings.Contains(log, yes) {
			t.Errorf("the log does not say %q: %s", yes, log)
		}
	}
}

// The report for a fault holds no secret, wherever one is.
func TestReportHasNoSecret(t *testing.T) {
	ws, home := t.TempDir(), t.TempDir()
	files := map[string]string{
		home + "/.config/phero/config.toml": `model = "SECRET-0/x"
base_url = "https://me:SECRET-1@models.example.com/SECRET-2/v1?key=SECRET-3"

[permissions]
allow = ["bash(curl -H 'Authorization: SECRET-4' *)"]

[sandbox]
network_for = ["curl -u SECRET-5 *"]

[web]
allowed_hosts = ["SECRET-6.example.com"]
proxy = "http://me:SECRET-7@proxy.example.com"

[mcp.tracker]
url = "https://me:SECRET-8@mcp.example.com/SECRET-9"
headers = {Authorization = "Bearer SECRET-10", X = "SECRET-${HOME}"}

[mcp.files]
command = "/bin/SECRET-11"
args = ["--token", "SECRET-12"]
env = {TOKEN = "SECRET-13"}
`,
		ws + "/.mcp.json":              `{"mcpServers":{"theirs":{"command":"x","args":["SECRET-14"],"env":{"T":"SECRET-15"}}}}`,
		ws + "/.phero/local.toml":      "[permissions]\ndeny = [\"bash(deploy --password SECRET-16 *)\"]\n",
		home + "/.config/phero/keys":   "ANTHROPIC_API_KEY=SECRET-17\nOPENAI_BASE_URL=https://SECRET-18.example.com/v1\n",
		ws + "/AGENTS.md":              "SECRET-19",
		home + "/.local/state/phero/x": "SECRET-20",
	}
	for path, text := range files {
		writeFile(t, path, []byte(text))
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := program(t, ws, home, "doctor", "--report")
	for _, name := range []string{
		"OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "HTTPS_PROXY", "SSH_CONNECTION", "TMUX", "OLLAMA_HOST", "SSL_CERT_FILE", "CI",
		"AGENT_NETWORK_FOR", "GITHUB_TOKEN", "NO_COLOR",
	} {
		cmd.Env = append(cmd.Env, name+"=SECRET-of-"+name)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if strings.Contains(string(out), "SECRET") {
		t.Errorf("the report has a secret:\n%s", out)
	}
	for _, want := range []string{"- agent: ", "`model`: is set (~/.config/phero/config.toml:1)", "`mcp.tracker`: is set", "- keys: openai, anthropic", "- HTTPS_PROXY: is set", "- not trusted: 1"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the report does not say %q:\n%s", want, out)
		}
	}
}
