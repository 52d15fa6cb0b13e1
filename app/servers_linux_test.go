package app_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/session"
)

// A server in the sandbox sees the workspace and changes nothing there; it reads
// nothing else of the person's.
func TestServerInSandbox(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hidden"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, fmt.Sprintf(`== 1
> mcp_x_read {"path":"f"}
> mcp_x_touch {"path":"new"}
> mcp_x_read {"path":%q}
> mcp_x_read {"path":".phero/.gitignore"}
== 2
done
`, secret), map[string]string{"f": "content"}, withServers(mcpServer(t, "x", "plain", func(s *config.Server) { s.Sandbox = nil })), func(o *app.Options) {
		o.Sandbox = "bwrap"
	})
	needsBwrap(r)
	r.turn("go")
	if m := r.result(0); m.Text != "content" {
		t.Errorf("%+v", m)
	}
	if _, err := os.Stat(filepath.Join(r.dir, ".phero/.gitignore")); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 3; n++ {
		if m := r.result(n); m.Status != session.StatusFailed {
			t.Errorf("%+v", m)
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, "new")); err == nil {
		t.Error("the server wrote in the workspace")
	}
}

// A server sees what it is installed with and what the settings name, and nothing
// that the program itself keeps.
func TestServerSeesWhatItNeeds(t *testing.T) {
	base := t.TempDir()
	write := func(path, text string) string {
		path = filepath.Join(base, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("project/package.json", "{}")
	module := write("project/node_modules/m/index.js", "module")
	data, beside := write("data/d", "data"), write("other", "beside")
	def := mcpServer(t, "x", "plain", func(s *config.Server) { s.Sandbox, s.Read = nil, []string{filepath.Join(base, "data")} })
	script := filepath.Join(base, "project/dist/server")
	if err := errors.Join(os.MkdirAll(filepath.Dir(script), 0o755), os.Symlink(def.Command, script)); err != nil {
		t.Fatal(err)
	}
	def.Command = script
	r := newRig(t, fmt.Sprintf("== 1\n> mcp_x_read {\"path\":%q}\n> mcp_x_read {\"path\":%q}\n> mcp_x_read {\"path\":%q}\n== 2\ndone\n", module, data, beside), nil, withServers(def), func(o *app.Options) {
		o.Sandbox = "bwrap"
	})
	needsBwrap(r)
	r.turn("go")
	for n, want := range []string{"module", "data", "no such file"} {
		if m := r.result(n); !strings.Contains(m.Text, want) {
			t.Errorf("%+v, not %q", m, want)
		}
	}
}

// An argument shows what it names, but not what the program itself keeps.
func TestServerArgumentsShow(t *testing.T) {
	base := t.TempDir()
	data, token := filepath.Join(base, "data"), filepath.Join(base, "state", "mcp", "token.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(token), 0o700), os.WriteFile(token, []byte("secret"), 0o600), os.WriteFile(data, []byte("data"), 0o644)); err != nil {
		t.Fatal(err)
	}
	def := mcpServer(t, "x", "plain", func(s *config.Server) {
		s.Sandbox, s.Args = nil, append(s.Args, "--data="+data, "--state="+filepath.Join(base, "state"), token)
	})
	r := newRig(t, fmt.Sprintf("== 1\n> mcp_x_read {\"path\":%q}\n> mcp_x_read {\"path\":%q}\n== 2\ndone\n", data, token), nil, withServers(def), func(o *app.Options) {
		o.Sandbox, o.StateDir = "bwrap", filepath.Join(base, "state")
	})
	needsBwrap(r)
	r.turn("go")
	for n, want := range []string{"data", "no such file"} {
		if m := r.result(n); !strings.Contains(m.Text, want) {
			t.Errorf("%+v, not %q", m, want)
		}
	}
}

// What would show a home directory, or the tokens of other servers, is refused.
func TestServerReadsTooMuch(t *testing.T) {
	var state string
	r := newRig(t, "== 1\ndone\n", nil, func(o *app.Options) {
		o.Sandbox, state = "bwrap", o.StateDir
		for name, path := range map[string]string{"state": o.StateDir, "above": filepath.Dir(o.StateDir), "root": "/", "none": "/nonexistent"} {
			withServers(append(o.Servers, mcpServer(t, name, "plain", func(s *config.Server) { s.Sandbox, s.Read = nil, []string{path} }))...)(o)
		}
	})
	needsBwrap(r)
	r.turn("go")
	for name, want := range map[string]string{"state": "shows what agent keeps in " + state, "above": "shows what agent keeps in " + state, "root": "mcp.root.read: ", "none": "the path /nonexistent in mcp.none.read is not there"} {
		if text, err := r.app.Servers(name); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %q, %v, not %q", name, text, err, want)
		}
	}
}
