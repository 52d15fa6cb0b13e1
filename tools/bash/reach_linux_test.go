package bash

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestReach(t *testing.T) { // decision 19, G1
	t.Setenv("SECRET_API_KEY", "sk-1")
	dir := workspace(t)
	r := sandbox(t, dir)
	reach := Sandboxed
	var asked []string
	opts := []Option{WithWorkingDirectory(dir), WithRunner(r), WithPersistentShell(), WithReach(func(_ context.Context, command string) Reach {
		asked = append(asked, command)
		return reach
	})}
	where := "[[ -d /proc/" + itoa(os.Getpid()) + " ]] && echo host || echo inside"
	b := newTool(t, opts...)
	if out := run(t, b, where); out.Output != "inside\n" || asked[0] != where {
		t.Errorf("%+v, %q", out, asked)
	}
	reach = Host
	if _, err := call(t, t.Context(), b, Input{Command: where}); !errors.Is(err, ErrReachUnsupported) {
		t.Errorf("%v", err)
	}
	if _, err := r.Command(t.Context(), "true", RunOptions{Reach: Host}); !errors.Is(err, ErrReachUnsupported) {
		t.Errorf("%v", err)
	}
	reach = Sandboxed
	b = newTool(t, append(opts, WithHostRunner(LocalRunner{}))...)
	run(t, b, "mkdir -p sub; cd sub; export PATH="+dir+"/evil:$PATH LD_PRELOAD= A=inside")
	reach = Host
	if out := run(t, b, where+"; pwd; echo ${A-none} ${SECRET_API_KEY-none} ${LD_PRELOAD-none}; [[ $PATH == *evil* ]] && echo evil"); out.Output != "host\n"+dir+"/sub\nnone none none\nexit code: 1" {
		t.Errorf("%+v", out)
	}
	run(t, b, "cd ..; export B=host")
	reach = Sandboxed
	if out := run(t, b, "pwd; echo $A ${B-none}"); out.Output != dir+"/sub\ninside none\n" { // the host's state does not come back
		t.Errorf("%+v", out)
	}
	if got := b.Directory(); got != dir+"/sub" {
		t.Errorf("the next command starts in %q", got)
	}
	reach = Host
	if out := run(t, newTool(t, WithWorkingDirectory(dir), WithReach(func(context.Context, string) Reach { return reach })), where); out.Output != "host\n" { // there is no sandbox
		t.Errorf("%+v", out)
	}
	if Sandboxed.String() != "sandboxed" || Network.String() != "network" || Host.String() != "host" || Reach(7).String() != "Reach(7)" {
		t.Error("names")
	}
}

// A failure for want of a path that the host has is told from one for want of a
// path that nobody has (decision 19).
func TestWantOfAHiddenPath(t *testing.T) {
	dir := workspace(t)
	home := workspace(t)
	t.Setenv("HOME", home)
	write(t, home+"/.config/tool/settings", "x")
	write(t, home+"/.nvm/bin/node", "x")
	r := sandbox(t, dir, WithReadOnlyPaths(home+"/.nvm"), WithHidden(dir+"/.phero"))
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(r))
	for command, want := range map[string]Reach{
		"cat ~/.config/tool/settings": Host, "cat " + home + "/.config/tool/settings": Host,
		"echo x >~/.nvm/new": Host, "touch ~/.config/tool/new": Host,
		"cat ~/.config/tool/none": Sandboxed, "cat /tmp/none": Sandboxed, "cat none": Sandboxed, "cat /usr/none": Sandboxed,
		"touch /usr/x": Sandboxed, "touch .phero/x": Sandboxed, "cat .phero/none": Sandboxed, "ls /proc/99999": Sandboxed,
	} {
		out := run(t, b, command)
		if out.Wants != want || strings.Contains(out.Output, "out of reach") != (want == Host) || out.ExitCode == 0 {
			t.Errorf("%s: %+v", command, out)
		}
	}
}
