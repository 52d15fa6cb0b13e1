//go:build linux

package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/bash"
)

// where prints the reach of the command that runs it: "inside" or "host", and
// whether it has the network. It ends as without a network where it has none.
const where = `[ "$(readlink /proc/self/ns/pid)" = "$(cat pid)" ] && echo host || echo inside; ` +
	`[ "$(readlink /proc/self/ns/net)" = "$(cat net)" ] && echo net || { echo 'curl: (6) Could not resolve host: x'; exit 6; }`

// inBwrap starts a rig whose commands run in bubblewrap.
func inBwrap(t *testing.T, text string, change ...func(*app.Options)) *rig {
	t.Helper()
	files := map[string]string{}
	for _, ns := range []string{"pid", "net"} {
		link, err := os.Readlink("/proc/self/ns/" + ns)
		if err != nil {
			t.Skip(err)
		}
		files[ns] = link + "\n"
	}
	files["where"] = where
	r := newRig(t, text, files, append([]func(*app.Options){auto(t.TempDir())}, change...)...)
	needsBwrap(r)
	return r
}

func needsBwrap(r *rig) {
	r.t.Helper()
	if s, _ := await(r, 0, func(s app.State) bool { return s.Sandbox != "" }); s.Sandbox != "bwrap" {
		if os.Getenv("CI") != "" {
			r.t.Fatalf("bubblewrap does not work here: %s", s.Sandbox)
		}
		r.t.Skipf("bubblewrap does not work here: %s", s.Sandbox)
	}
}

func output(t *testing.T, m session.Message) (o bash.Output) {
	t.Helper()
	if err := json.Unmarshal([]byte(m.Text), &o); err != nil {
		t.Fatalf("%v: %s", err, m.Text)
	}
	return o
}

// Decision 19, G1: what a command can reach comes from the person's answer to
// the question about that one call, and from nothing else.
func TestReachIsThePersons(t *testing.T) {
	r := inBwrap(t, `
== a
> bash {"command":"bash where","reach":"host","network":true}
== b
> bash {"command":"bash where"}
== c
> bash {"command":"bash where"}
== d
done
`)
	answers := []bash.Reach{bash.Sandboxed, bash.Host, bash.Network}
	asked := 0
	r.answer = func(q app.Asked) (app.Answer, bool) {
		if q.Lack != nil { // the first one fails, and is left at that
			if q.Lack.Reach != bash.Network || fmt.Sprint(q.Wider) != "[network host]" || q.Request.Raw != "bash where" {
				t.Errorf("asked %+v", q)
			}
			return app.Answer{}, true
		}
		a := app.Answer{Allow: true, Reach: answers[asked]}
		if fmt.Sprint(q.Reach, q.Wider) != "sandboxed [network host]" {
			t.Errorf("asked %+v", q)
		}
		asked++
		return a, true
	}
	r.turn("go")
	for i, want := range []struct {
		output, reach string
		code          int
	}{{"inside\ncurl: (6)", "", 6}, {"host\nnet\n", "host", 0}, {"inside\nnet\n", "network", 0}} {
		if o := output(t, r.result(i)); !strings.HasPrefix(o.Output, want.output) || o.Reach != want.reach || o.ExitCode != want.code {
			t.Errorf("%d: %+v", i, o)
		}
	}
}

// An answer that allows always, and one that widens what may not be, widen nothing.
func TestReachIsNotRemembered(t *testing.T) {
	r := inBwrap(t, `
== a
> bash {"command":"bash where"}
== b
> bash {"command":"bash where"}
== c
> write {"file_path":"f","content":"x"}
== d
> bash {"command":"bash where"}
== e
done
`)
	reruns := 0
	r.answer = func(q app.Asked) (app.Answer, bool) {
		if q.Lack != nil {
			reruns++
			return app.Answer{Allow: true, Reach: bash.Reach(7)}, true // no such offer
		}
		if q.Request.Tool == "write" && q.Wider != nil {
			t.Errorf("a write is offered %v", q.Wider)
		}
		a := app.Answer{Allow: true, Reach: bash.Network, Scope: app.SessionScope}
		for _, o := range q.Offers {
			a.Always = append(a.Always, o.Always)
		}
		return a, true
	}
	r.turn("go")
	first, second, fourth := output(t, r.result(0)), output(t, r.result(1)), output(t, r.result(3))
	if first.Reach != "network" || second.Reach != "" || fourth.Reach != "" || reruns != 2 {
		t.Errorf("%+v\n%+v\n%+v\nreruns %d", first, second, fourth, reruns)
	}
}

// sandbox.network_for: a line has the network when every command of it matches a rule.
func TestNetworkFor(t *testing.T) {
	commands := []string{"bash where", "bash where; true", "bash where; echo $(id)", "cd . && bash where", "X=1 bash where", "bash where; bash where"}
	networked := []bool{true, false, false, true, false, true}
	var text strings.Builder
	for i, c := range commands {
		fmt.Fprintf(&text, "== c%d\n> bash {\"command\":%q}\n", i, c)
	}
	text.WriteString("== end\ndone\n")
	r := inBwrap(t, text.String(), func(o *app.Options) { o.NetworkFor = []string{"bash where", "cd *"} })
	at := 0
	r.answer = func(q app.Asked) (app.Answer, bool) {
		if q.Lack != nil {
			return app.Answer{}, true
		}
		if (q.Reach == bash.Network) != networked[at] {
			t.Errorf("%s is asked with %v", q.Request.Raw, q.Reach)
		}
		at++
		return app.Answer{Allow: true}, true
	}
	r.turn("go")
	for i, c := range commands {
		o := output(t, r.result(i))
		if got := strings.Contains(o.Output, "\nnet\n"); got != networked[i] || (o.Reach == "network") != got {
			t.Errorf("%s: %+v", c, o)
		}
	}
	for _, bad := range []string{"", "bash(npm *)", "np\x00m"} {
		_, err := app.New(app.Options{Workspace: t.TempDir(), StateDir: t.TempDir(), Sandbox: "none", NetworkFor: []string{bad}, Emit: func(app.Event) {}})
		if err == nil || !strings.Contains(err.Error(), "network_for") && !strings.Contains(err.Error(), "npm") && !strings.Contains(err.Error(), "rule") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// SAFE-09: with --network the sandbox has the network, the status line says so, and auto is not there.
func TestNetworkOn(t *testing.T) {
	r := inBwrap(t, "== a\n> bash {\"command\":\"bash where\"}\n== b\ndone\n", func(o *app.Options) { o.Network = true })
	r.answer = func(q app.Asked) (app.Answer, bool) {
		if fmt.Sprint(q.Wider) != "[host]" {
			t.Errorf("offered %v", q.Wider)
		}
		return app.Answer{Allow: true}, true
	}
	if s, _ := await(r, 0, func(s app.State) bool { return s.Sandbox != "" }); !s.Network || s.Root != (os.Geteuid() == 0) { // S18: root is warned
		t.Errorf("%+v", s)
	}
	r.turn("go")
	if o := output(t, r.result(0)); o.Output != "inside\nnet\n" {
		t.Errorf("%+v", o)
	}
	r.app.SetMode(permissions.ModeAuto)
	if r.app.Mode() == permissions.ModeAuto {
		t.Error("auto, with the network on")
	}
	_, err := app.New(app.Options{Workspace: r.dir, StateDir: t.TempDir(), Sandbox: "auto", Network: true, Mode: permissions.ModeAuto, Emit: func(app.Event) {}})
	if err == nil || !strings.Contains(err.Error(), "--network") {
		t.Errorf("auto and the network: %v", err)
	}
}

// Where nobody can answer a failed command stays one, and nothing widens it.
func TestNoRerunWithoutAPerson(t *testing.T) {
	r := inBwrap(t, "== a\n> bash {\"command\":\"bash where\"}\n== b\ndone\n", func(o *app.Options) { o.Interactive = false })
	r.app.SetMode(permissions.ModeAuto)
	r.turn("go")
	if o := output(t, r.result(0)); o.ExitCode != 6 || o.Reach != "" || !strings.Contains(o.Output, "tell the user what to run]") {
		t.Errorf("%+v", o)
	}
}

// LOOP-09, BASH-48: the model is told what an interrupted command printed.
func TestInterruptedCommandTellsItsOutput(t *testing.T) {
	r := newRig(t, "== a\n> bash {\"command\":\"echo half of it; sleep 600\"}\n== b\nagain\n", nil)
	from := r.seen()
	r.app.Submit("go")
	await(r, from, func(e app.ToolOutput) bool { return strings.Contains(string(e.Chunk), "half of it") })
	r.app.Cancel()
	await[app.TurnEnded](r, from, nil)
	r.turn("and now?")
	if m := r.result(0); m.Status != session.StatusInterrupted || !strings.HasPrefix(m.Text, "interrupted by the user; the output until then:\nhalf of it") {
		t.Errorf("%+v", m)
	}
	checkValid(t, r.last())
}

// Nothing is told of the output of one that printed nothing.
func TestInterruptedSilentCommand(t *testing.T) {
	r := newRig(t, "== a\n> bash {\"command\":\"sleep 600\"}\n== b\nagain\n", nil)
	from := r.seen()
	r.app.Submit("go")
	await[app.ToolStarted](r, from, nil)
	r.app.Cancel()
	await[app.TurnEnded](r, from, nil)
	r.turn("and now?")
	if m := r.result(0); m.Status != session.StatusInterrupted || m.Text != "interrupted by the user" {
		t.Errorf("%+v", m)
	}
}

// Decision 15: of the calls of one reply the last in call order wins, also where
// the question about an earlier one let it start last.
func TestStateFollowsTheCallOrder(t *testing.T) {
	r := newRig(t, `
== a
> bash {"command":"export A=second B=$B."}
== b
Unset it again.
== c
> bash {"command":"export A=first"}
> bash {"command":"export A=second B=$B."}
== d
> bash {"command":"echo $A"}
== e
done
`, nil)
	asked := make(chan app.Asked, 1)
	r.answer = func(q app.Asked) (app.Answer, bool) {
		if q.Request.Raw == "export A=first" {
			asked <- q
			return app.Answer{}, false
		}
		return app.Answer{Allow: true, Always: []app.Always{q.Offers[0].Always}, Scope: app.SessionScope}, true
	}
	r.turn("allow the second")
	from := r.seen()
	r.app.Submit("go")
	q := <-asked
	await(r, from, func(e app.Committed) bool { m := e.Entry.Message; return m != nil && m.Role == session.RoleTool }) // the second is over
	r.app.Answer(q.ID, app.Answer{Allow: true})
	await[app.TurnEnded](r, from, nil)
	if o := output(t, r.result(3)); o.Output != "second\n" {
		t.Errorf("%+v", o)
	}
}

// A directory that --add-dir names is reached by tools, policy and sandbox alike.
func TestRoots(t *testing.T) {
	beside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := inBwrap(t, fmt.Sprintf(`
== a
> write {"file_path":"%[1]s/f","content":"x\n"}
> bash {"command":"cat %[1]s/f; echo y > %[1]s/g"}
> grep {"pattern":"x","path":"%[1]s"}
> write {"file_path":"%[1]s/.git/config","content":"x"}
> read {"file_path":"%[1]s/.phero/sessions/x"}
== b
done
`, beside), func(o *app.Options) { o.Roots = []string{beside} })
	r.turn("go")
	for i, want := range []session.Status{session.StatusOK, session.StatusOK, session.StatusOK, session.StatusDenied, session.StatusDenied} {
		if m := r.result(i); m.Status != want {
			t.Errorf("%d: %+v", i, m)
		}
	}
	if data, err := os.ReadFile(filepath.Join(beside, "g")); string(data) != "y\n" {
		t.Errorf("%q, %v", data, err)
	}
}
