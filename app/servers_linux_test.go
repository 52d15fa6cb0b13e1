package app_test

import (
	"fmt"
	"os"
	"path/filepath"
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
	for n := 1; n <= 2; n++ {
		if m := r.result(n); m.Status != session.StatusFailed {
			t.Errorf("%+v", m)
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, "new")); err == nil {
		t.Error("the server wrote in the workspace")
	}
}
