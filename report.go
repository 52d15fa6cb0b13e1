package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/catalogue"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/ui/text"
)

// report writes what a bug report needs, as Markdown: versions, the names of settings
// and keys, and of their values only those that come from a fixed set. It sends nothing.
func report(ctx context.Context, out io.Writer, s config.Settings) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(out, "- %s: %s\n", name, text.Line(value))
		}
	}
	line("agent", programVersion()+", "+runtime.Version()+", "+runtime.GOOS+"/"+runtime.GOARCH)
	for _, cmd := range [][]string{{"uname", "-sr"}, {"bash", "--version"}, {"git", "--version"}, {"bwrap", "--version"}, {"tmux", "-V"}} {
		line(cmd[0], versionOf(ctx, cmd))
	}
	for _, name := range []string{"TERM", "TERM_PROGRAM", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE"} {
		line(name, os.Getenv(name))
	}
	for _, name := range []string{"TMUX", "SSH_CONNECTION", "NO_COLOR", "HTTPS_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "OLLAMA_HOST", "CI"} {
		if os.Getenv(name) != "" {
			line(name, "is set")
		}
	}
	sandbox, err := app.CheckSandbox(ctx, options(s))
	if err != nil {
		sandbox = "does not work"
	}
	line("sandbox", home(sandbox))
	var keys []string
	for _, p := range catalogue.WithKeys(s.Getenv) {
		keys = append(keys, p.ID)
	}
	line("keys", strings.Join(keys, ", "))
	for _, v := range s.Given() {
		line("`"+v.Key+"`", shown(v)+" ("+home(strings.Join(v.Source, ", "))+")")
	}
	line("not trusted", fmt.Sprint(len(s.Untrusted)))
	line("log", home(logPath(s.StateDir)))
}

// shown is a setting's value where it cannot be a secret.
func shown(v config.Value) string {
	if config.Values(v.Key) != nil || v.Value == "true" || v.Value == "false" {
		return v.Value
	}
	return "is set"
}

// home writes the person's home as ~.
func home(path string) string {
	if dir, err := os.UserHomeDir(); err == nil && dir != "/" {
		path = strings.ReplaceAll(path, dir, "~")
	}
	return path
}

// versionOf is the first line that a program says of itself; "" where it is not there.
func versionOf(ctx context.Context, cmd []string) string {
	out, err := exec.CommandContext(ctx, cmd[0], cmd[1:]...).Output()
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return first
}
