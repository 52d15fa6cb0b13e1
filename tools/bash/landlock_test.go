package bash

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func landlocked(t *testing.T, dir string, opts ...BubblewrapOption) *LandlockRunner {
	t.Helper()
	r, err := NewLandlockRunner(dir, opts...)
	if errors.Is(err, ErrLandlockNotFound) {
		missing(t, "Landlock")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if err := r.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLandlock(t *testing.T) { // decision 20
	home := fakeHome(t)
	t.Setenv("SECRET_API_KEY", "sk-1")
	write(t, home+"/.ssh/id_rsa", "key")
	write(t, home+"/.gitconfig", "[user]\n\temail = me@x\n")
	dir, extra := workspace(t), workspace(t)
	outside := write(t, filepath.Join(workspace(t), "file"), "x")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	tcp := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", listener.Addr().(*net.TCPAddr).Port)

	r := landlocked(t, dir, WithToolchains(), WithWritablePaths(extra))
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(r), WithPersistentShell())
	refused(t, b,
		"cat "+home+"/.ssh/id_rsa", "ls "+home, "cat "+outside, "echo x >"+outside, "rm "+outside, "touch /tmp/phero-x", "touch /usr/x", "mkdir /var/tmp/x",
		"cat /etc/shadow", "ls /var/log", "cat /proc/"+itoa(os.Getpid())+"/environ", "head -c1 /dev/mem", "ln -s / l && cat l"+outside,
		"ln "+outside+" hard", "mv "+outside+" .",
	)
	play(t, b, []step{
		{"echo x >f; mkdir d; mv f d/f; cat d/f; touch " + extra + "/x; echo $?", "x\n0\n"},
		{"echo t >$TMPDIR/t; cat ~/t; git config user.email; echo ${SECRET_API_KEY-none}", "t\nme@x\nnone\n"},
		{"cd d; export A=1", "(no output)"},
		{"pwd; echo $A; echo x >/dev/null", dir + "/d\n1\n"},
		{"unset A; cd ..; foo", "bash: line 1: foo: command not found\nexit code: 127"},
	})
	if landlockVersion() >= 4 {
		if out := run(t, b, tcp); out.ExitCode == 0 {
			t.Errorf("%+v", out)
		}
	}
	if landlockVersion() >= 6 {
		refused(t, b, "kill -0 "+itoa(os.Getpid()))
	}
	networked := newTool(t, WithWorkingDirectory(dir), WithRunner(landlocked(t, dir, WithNetwork(true))))
	if out := run(t, networked, tcp); out.ExitCode != 0 {
		t.Errorf("%+v", out)
	}
	m := mark()
	if out := run(t, b, "sleep "+m+" & echo hi"); !strings.HasPrefix(out.Output, "hi\n[killed what the command left running: sleep "+m) {
		t.Errorf("%+v", out)
	}
	if _, err := r.Command(t.Context(), "true", RunOptions{Reach: Host}); !errors.Is(err, ErrReachUnsupported) {
		t.Errorf("%v", err)
	}
	private := strings.TrimSpace(run(t, b, "cd; pwd").Output)
	if err := r.Close(); err != nil || exists(private) || !strings.Contains(private, "phero-") {
		t.Errorf("%s: %v", private, err)
	}
}

func TestLandlockPutsTheRepositoryBack(t *testing.T) { // decision 17, where nothing can be mounted
	t.Parallel()
	dir := workspace(t)
	repository(t, dir)
	hook := write(t, filepath.Join(dir, ".git/hooks/pre-push"), "#!/bin/sh\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(dir, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(landlocked(t, dir, WithGitProtection())),
		WithEnv("GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x"))
	commits(t, b, dir)
	out := run(t, b, "git config core.fsmonitor x; rm .git/hooks/pre-push; echo x >.git/hooks/pre-commit; echo ../x >.git/commondir")
	if strings.Count(out.Output, "[put ") != 2 || strings.Count(out.Output, "[moved ") != 2 {
		t.Errorf("%s", out.Output)
	}
	if now, err := os.ReadFile(filepath.Join(dir, ".git/config")); err != nil || string(now) != string(config) {
		t.Errorf("%s", now)
	}
	if info, err := os.Stat(hook); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the hook is not as it was: %v", err)
	}
	if exists(filepath.Join(dir, ".git/hooks/pre-commit")) || exists(filepath.Join(dir, ".git/commondir")) {
		t.Error("what was planted is there")
	}
	if out := run(t, b, "git status --short"); strings.Contains(out.Output, "[") {
		t.Errorf("%+v", out)
	}
}
