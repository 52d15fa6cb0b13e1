package app

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/phero-agent/agent/permissions"
)

var update = flag.Bool("update", false, "write testdata/fatigue.txt")

// TestFatigue counts the questions of an ordinary bug fix, as models write its
// calls, answered with always and widened once where the dialog offers it. Each
// question stands with its reason in testdata/fatigue.txt; -update writes it.
func TestFatigue(t *testing.T) {
	var cases struct {
		Calls []struct {
			Tool      string
			Arguments json.RawMessage
		}
	}
	data, err := os.ReadFile("testdata/fatigue.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &cases); err != nil || len(cases.Calls) < 90 {
		t.Fatalf("%d calls, %v", len(cases.Calls), err)
	}
	var report strings.Builder
	for _, c := range []struct {
		mode    permissions.Mode
		sandbox string
		most    int
	}{
		{permissions.ModeAsk, "bwrap", 24}, {permissions.ModeAsk, "none", 34},
		{permissions.ModeAcceptEdits, "bwrap", 18}, {permissions.ModeAcceptEdits, "none", 28},
		{permissions.ModeAuto, "bwrap", 3},
	} {
		asked := &tiredPerson{t: t}
		asked.p = testPermissions(t, c.sandbox, Options{Workspace: fatigueWorkspace(t), Interactive: true, Mode: c.mode}, asked.answer)
		asked.p.policy.SetMode(c.mode)
		for _, call := range cases.Calls {
			if err := asked.p.policy.Authorize(context.Background(), call.Tool, string(call.Arguments)); err != nil {
				t.Errorf("%s %s: %v", call.Tool, call.Arguments, err)
			}
		}
		if len(asked.questions) > c.most {
			t.Errorf("mode %v, sandbox %s: %d questions, at most %d", c.mode, c.sandbox, len(asked.questions), c.most)
		}
		fmt.Fprintf(&report, "mode %v, sandbox %s: %d questions of at most %d\n", c.mode, c.sandbox, len(asked.questions), c.most)
		for _, q := range asked.questions {
			fmt.Fprintf(&report, "  %s\n", strings.ReplaceAll(q, asked.p.opts.Workspace, "/ws"))
		}
	}
	if *update {
		if err := os.WriteFile("testdata/fatigue.txt", []byte(report.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/fatigue.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), report.String()); diff != "" {
		t.Errorf("the questions are others (-want +got); -update writes them:\n%s", diff)
	}
}

// tiredPerson answers always, widened once where that is offered.
type tiredPerson struct {
	t         *testing.T
	p         *Permissions
	questions []string
}

func (a *tiredPerson) answer(ctx context.Context, req permissions.Request) (permissions.Answer, error) {
	trace := a.p.policy.ExplainIn(ctx, req.Tool, req.Arguments)
	var kept []Always
	for _, o := range a.p.offers(req, trace) {
		if len(o.Wider) == 0 {
			kept = append(kept, o.Always)
			continue
		}
		kept = append(kept, o.Wider[0])
		if !o.Covers(o.Wider[0]) {
			kept = append(kept, o.Always)
		}
	}
	why := trace.Reason.String()
	switch {
	case req.Rule != "":
		why += " " + req.Rule
	case trace.Why != "":
		why += ": " + trace.Why
	default:
		why += fmt.Sprintf(": %q", trace.Uncovered())
	}
	a.questions = append(a.questions, fmt.Sprintf("%s %q: %s; kept %q", req.Tool, req.Raw, why, fmt.Sprint(kept)))
	if err := a.p.remember(SessionScope, kept); err != nil {
		a.t.Error(err)
	}
	return permissions.AllowOnce, nil
}

// testPermissions are the application's permissions where the named sandbox holds.
func testPermissions(t testing.TB, sandbox string, opts Options, asker permissions.Asker) *Permissions {
	t.Helper()
	if opts.StateDir == "" {
		opts.StateDir = t.TempDir()
	}
	opts.Sandbox = sandbox
	p, err := newPermissions(opts, asker, func() string { return sandbox }, func() string { return opts.Workspace })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fatigueWorkspace is a repository with the files that the calls name.
func fatigueWorkspace(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "go.mod", "go.sum", "Makefile", "CHANGELOG.md", "internal/a.go", "parse/parse.go", "parse/units.go", "parse/parse_test.go",
		"parse/testdata/units.txt", "parse/testdata/want.txt", "parse/testdata/got.txt", ".github/workflows/ci.yml"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	initRepository(t, dir)
	return dir
}

// initRepository makes a directory a git repository, with settings of its own only.
func initRepository(t *testing.T, dir string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	cmd := exec.CommandContext(t.Context(), "git", "init", "-q", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v: %s", err, out)
		}
		t.Skipf("git is missing: %v", err)
	}
}
