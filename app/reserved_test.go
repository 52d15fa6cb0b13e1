//go:build unix

package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// W3: the agent itself runs no git: a repository's settings can make it run programs.
func TestTheAgentRunsNoGit(t *testing.T) {
	bin := t.TempDir()
	mark := filepath.Join(bin, "ran")
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho \"$@\" >> "+mark+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	r := newRig(t, `
== a
> read {"file_path":"f"}
> write {"file_path":"g","content":"x"}
> bash {"command":"true"}
== b
done
`, map[string]string{"f": "x", ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\tfsmonitor = touch " + mark + "\n"})
	if s, _ := await(r, 0, func(s app.State) bool { return s.Branch != "" }); s.Branch != "main" {
		t.Errorf("%+v", s)
	}
	r.turn("go")
	r.app.Undo(session.Scope{}, nil)
	if ran, err := os.ReadFile(mark); err == nil {
		t.Errorf("it ran git %s", ran)
	}
}

// S19: whatever a command leaves in the workspace, the agent's own tools survive it.
func TestOddFilesInTheWorkspace(t *testing.T) {
	r := newRig(t, `
== a
> bash {"command":"mkfifo fifo; ln -s / root; ln -s loop loop; touch $'new\nline' $'\\e[2Jx' -- -n; mkdir -p $(printf 'd/%.0s' {1..100}); python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'; for i in {1..3000}; do : > many$i; done; echo needle > plain; chmod 0 plain; chmod 600 plain"}
== b
> glob {"pattern":"**"}
> grep {"pattern":"needle"}
> read {"file_path":"fifo"}
> read {"file_path":"sock"}
> read {"file_path":"loop"}
> write {"file_path":"fifo","content":"x"}
> read {"file_path":"plain"}
== c
done
`, nil)
	r.turn("go")
	want := []session.Status{session.StatusOK, session.StatusOK, session.StatusOK, session.StatusFailed, session.StatusFailed, session.StatusDenied, session.StatusFailed, session.StatusOK}
	for i, status := range want {
		if m := r.result(i); m.Status != status {
			t.Errorf("%d: %v %.300s", i, m.Status, m.Text)
		}
	}
	if m := r.result(2); !strings.Contains(m.Text, "plain") {
		t.Errorf("grep: %s", m.Text)
	}
	if files, err := r.app.Files(); err != nil || len(files) < 3000 {
		t.Errorf("%d files, %v", len(files), err)
	}
}
