package bash

import (
	"strings"
	"testing"
)

func TestHints(t *testing.T) { // decision 19, decision 17
	t.Parallel()
	b := newTool(t)
	for _, tt := range []struct {
		output string
		want   Reach
	}{
		{"curl: (6) Could not resolve host: example.com", Network},
		{"  0     0    0     0    0     0 --:--:--     0\rcurl: (7) Failed to connect to 1.1.1.1 port 443 after 0 ms: Couldn't connect to server", Network},
		{"curl: (7) Failed to connect to 1.1.1.1 port 443 after 0 ms: Couldn't connect to server", Network},
		{"wget: unable to resolve host address 'example.com'", Network},
		{"Cloning into 'y'...\nfatal: unable to access 'https://github.com/x/y/': Could not resolve host: github.com", Network},
		{"ssh: Could not resolve hostname github.com: Temporary failure in name resolution\nfatal: Could not read from remote repository.", Network},
		{`go: golang.org/x/sync@v0.25.0: Get "https://modules.example/golang.org/x/sync/@v/v0.25.0.info": dial tcp: lookup modules.example on 10.0.0.1:53: dial udp 10.0.0.1:53: connect: network is unreachable`, Network},
		{"go: downloading x v1\nverifying module: dial tcp: lookup sums.example: Temporary failure in name resolution", Network},
		{"npm error code EAI_AGAIN\nnpm error syscall getaddrinfo\nnpm error errno EAI_AGAIN", Network},
		{"npm error request to https://packages.example/left-pad failed, reason: getaddrinfo EAI_AGAIN packages.example", Network},
		{"ERROR: Could not find a version that satisfies the requirement leftpadx (from versions: none)\nERROR: No matching distribution found for leftpadx", Network},
		{"Caused by:\n  [6] Could not resolve hostname (Could not resolve host: crates.example)", Network},
		{"urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>", Network},
		{"Error: getaddrinfo EAI_AGAIN example.com\n    at GetAddrInfoReqWrap", Network},
		{"W: Failed to fetch http://archive.example/debian/dists/bookworm/InRelease  Temporary failure resolving 'archive.example'", Network},
		{"bash: connect: Network is unreachable\nbash: line 1: /dev/tcp/1.1.1.1/80: Network is unreachable", Network},

		{"error: could not write config file .git/config: Device or resource busy\nfatal: could not set 'remote.o.url' to 'x'", Host},
		{"fatal: cannot copy '/usr/share/git-core/templates/description' to '/ws/.git/description': Read-only file system", Host},
		{"bash: line 1: .git/hooks/pre-commit: Read-only file system", Host},
		{"mv: cannot move '.git' to '.git2': Device or resource busy", Sandboxed},
		{"error: gpg failed to sign the data\nfatal: failed to write commit object", Host},
		{"git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.", Host},
		{"Host key verification failed.", Host},
		{"fatal: could not read Username for 'https://github.com': terminal prompts disabled", Host},

		// Look-alikes: text about such a failure, and other failures.
		{"--- FAIL: TestRetry (0.00s)\n    net_test.go:12: got \"network is unreachable\", want nil\nFAIL", Sandboxed},
		{"docs/faq.md:12: If you see \"Could not resolve host: github.com\", check your DNS.", Sandboxed},
		{"main.go:3: // curl: (6) Could not resolve host means that DNS failed", Sandboxed},
		{"README.md:4:npm error code EAI_AGAIN is printed when the registry cannot be reached", Sandboxed},
		{"error: pathspec 'network' did not match any file(s) known to git", Sandboxed},
		{"curl: (22) The requested URL returned error: 404", Sandboxed},
		{"npm error code E404\nnpm error 404 Not Found - GET https://packages.example/leftpadx", Sandboxed},
		{"ERROR: Could not find a version that satisfies the requirement flask==99 (from versions: 0.1, 0.2)", Sandboxed},
		{"dial tcp 127.0.0.1:5432: connect: connection refused", Sandboxed},
		{"fatal: not a git repository (or any of the parent directories): .git", Sandboxed},
		{"touch: cannot touch '/usr/x': Read-only file system", Sandboxed},
		{"error: failed to push some refs to 'origin'", Sandboxed},
		{"grep -rn 'network is unreachable' .", Sandboxed},
		{"all tests passed", Sandboxed},
		{"", Sandboxed},
	} {
		got := b.lack(Sandboxed, tt.output+"\n")
		if got.Reach != tt.want || (got.Why == "") != (tt.want == Sandboxed) || strings.Contains(got.Why, "\n") {
			t.Errorf("%.100q: %+v", tt.output, got)
		}
		if got := b.lack(Host, tt.output); got.Reach != Sandboxed {
			t.Errorf("on the host: %.100q: %+v", tt.output, got)
		}
		if got := b.lack(Network, tt.output); got.Reach == Network {
			t.Errorf("with the network: %.100q: %+v", tt.output, got)
		}
	}
}

func TestDescriptionTellsOfTheSandbox(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	host, offline, online := newTool(t).Tool().Description(), inside(t, dir).Tool().Description(), inside(t, dir, WithNetwork(true)).Tool().Description()
	if strings.Contains(host, "sandbox") || !strings.Contains(offline, "no network") || !strings.Contains(online, "sandbox") || strings.Contains(online, "no network") {
		t.Errorf("%s\n%s\n%s", host, offline, online)
	}
}

func TestHintOfARealCommand(t *testing.T) { // decision 19
	t.Parallel()
	dir := workspace(t)
	command := "exec 3<>/dev/tcp/1.1.1.1/80"
	out := run(t, inside(t, dir), command)
	if out.Wants != Network || !strings.Contains(out.Output, "the network is off in the sandbox") || !strings.HasSuffix(out.Output, "exit code: 1") {
		t.Errorf("%+v", out)
	}
	if out := run(t, inside(t, dir), command+"; true"); out.Wants != Sandboxed { // it did not fail
		t.Errorf("%+v", out)
	}
	if out := run(t, newTool(t), "echo 'ssh: Could not resolve hostname x'; false"); out.Wants != Sandboxed { // there is no sandbox
		t.Errorf("%+v", out)
	}
}

// A pipe ends with the exit code of its last command, and hides that its first failed.
func TestHintOfAPipe(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"curl -sS https://x.example | head -3": true, "go mod download 2>&1 | tail -5": true, "cd a && npm ci 2>&1 | grep -v warn | tail": true,
		"curl https://x.example || true": false, "cat log | grep curl": false, "grep curl log": false, "echo hi | go vet": false, "": false,
	} {
		if got := hidesFailure(command); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
	b := inside(t, workspace(t))
	if out := run(t, b, "git ls-remote https://x.invalid/r 2>&1 | tail -1"); out.Wants != Network || out.ExitCode != 0 {
		t.Errorf("%+v", out)
	}
	if out := run(t, b, "echo 'curl: (6) Could not resolve host: x' | tail -1"); out.Wants != Sandboxed {
		t.Errorf("%+v", out)
	}
}
