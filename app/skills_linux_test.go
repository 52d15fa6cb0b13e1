package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// SKILL-19, decision 18: what is beside a person's skill can be read and run, in the
// sandbox too, and not be written.
func TestFilesOfASkill(t *testing.T) {
	change := skillHome(t, map[string]string{
		".claude/skills/greet/SKILL.md": greeter,
		".claude/skills/greet/ref.md":   "the reference\n",
		".claude/skills/greet/hi.sh":    "#!/bin/sh\necho hi from the script > said\n",
	})
	var o app.Options
	change(&o)
	dir := filepath.Join(o.Home, ".claude/skills/greet")
	r := newRig(t, `== one
> read {"file_path":"`+dir+`/ref.md"}
> bash {"command":"`+dir+`/hi.sh; echo x > `+dir+`/ref.md; ls ~"}
> write {"file_path":"`+dir+`/new","content":"x"}
== two
Done.
`, nil, change, func(o *app.Options) { o.Sandbox = "auto" })
	needsBwrap(r)
	r.turn("go")
	if m := r.result(0); !strings.Contains(m.Text, "the reference") {
		t.Errorf("%+v", m)
	}
	if got := r.file("said"); got != "hi from the script\n" {
		t.Errorf("the script said %q: %+v", got, r.result(1))
	}
	if m := r.result(2); m.Status == session.StatusOK {
		t.Errorf("%+v", m)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "ref.md")); err != nil || string(data) != "the reference\n" {
		t.Errorf("%q, %v", data, err)
	}
}
