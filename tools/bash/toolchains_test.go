package bash

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goModule writes a module with a test that uses a dependency which the host's
// module cache holds.
func goModule(t *testing.T, dir string) {
	t.Helper()
	needs(t, "go")
	_ = exec.Command("go", "mod", "download", "golang.org/x/sync").Run() // when it is not there yet
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", "golang.org/x/sync").Output()
	version, source, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || source == "" {
		missing(t, "golang.org/x/sync in the module cache")
	}
	var sums []string
	data, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "golang.org/x/sync ") {
			sums = append(sums, line)
		}
	}
	write(t, filepath.Join(dir, "go.sum"), strings.Join(sums, ""))
	write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.26.0\n\nrequire golang.org/x/sync "+version+"\n")
	write(t, filepath.Join(dir, "m_test.go"), `package m

import (
	"testing"

	"golang.org/x/sync/errgroup"
)

func TestGroup(t *testing.T) {
	t.Parallel()
	var g errgroup.Group
	g.Go(func() error { return nil })
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}
`)
}

func TestGoTestWithoutNetwork(t *testing.T) { // IMP-35, decision 18
	t.Setenv("XDG_CACHE_HOME", workspace(t))
	dir := workspace(t)
	goModule(t, dir)
	sandbox(t, dir)
	r, err := NewWorkspaceRunner(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(r), WithDefaultTimeout(MaxTimeout))
	out, err := b.foreground(t.Context(), "go test -vet=off ./... 2>&1; grep -c : /proc/net/dev", MaxTimeout)
	if err != nil || !strings.Contains(out.Output, "ok  \texample.com/m") || !strings.HasSuffix(out.Output, "\n1\n") {
		t.Fatalf("%+v, %v", out, err)
	}
	cache := CacheDir(dir)
	if !exists(filepath.Join(cache, "gomod/golang.org")) || !exists(filepath.Join(cache, "go-build")) {
		t.Error("the caches are not the workspace's")
	}
	host, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	hostCache := strings.TrimSpace(string(host))
	refused(t, b, "touch "+hostCache+"/x", "touch "+hostCache+"/cache/download/x") // S22
	if !slices.Contains(r.ReadOnlyRoots(), hostCache) || !slices.Contains(r.ReadOnlyRoots(), filepath.Join(cache, "gomod")) {
		t.Errorf("%q", r.ReadOnlyRoots())
	}
	if err := os.RemoveAll(cache); err != nil { // -modcacherw
		t.Error(err)
	}
}

// A home directory as people have it.
func fakeHome(t *testing.T) string {
	t.Helper()
	home := workspace(t)
	t.Setenv("HOME", home)
	for _, name := range []string{
		"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "GOMODCACHE", "GOPATH", "GOCACHE", "GOFLAGS", "GOPROXY", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT",
	} {
		t.Setenv(name, "")
	}
	return home
}

func tool(t *testing.T, path string) {
	t.Helper()
	write(t, path, "#!/bin/sh\necho ran $(basename $0)\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestToolchainsAreFound(t *testing.T) { // IMP-35, decision 18: nvm, rustup, pyenv, uv
	home := fakeHome(t)
	opt := filepath.Join(workspace(t), "opt")
	path := os.Getenv("PATH")
	for name, at := range map[string]string{
		"my-node": home + "/.nvm/versions/node/v22/bin", "my-cargo": home + "/.cargo/bin", "my-python": home + "/.pyenv/shims",
		"my-uv": home + "/.local/bin", "my-opt": opt + "/bin", "my-own": home + "/somewhere/tools",
	} {
		tool(t, filepath.Join(at, name))
		path = at + ":" + path
	}
	write(t, opt+"/lib/data", "data\n")
	write(t, home+"/somewhere/secret", "s")
	write(t, home+"/.cargo/credentials.toml", "token")
	write(t, home+"/.npmrc", "token")
	write(t, home+"/.ssh/id_rsa", "key")
	write(t, home+"/.git-credentials", "token")
	write(t, home+"/.config/git/credentials", "token")
	write(t, home+"/.config/git/ignore", "*.o\n")
	write(t, home+"/.gitconfig", "[user]\n\tname = Me\n\temail = me@x\n")
	t.Setenv("PATH", path)

	dir := filepath.Join(home, "src/project")
	write(t, filepath.Join(dir, "file"), "x")
	sandbox(t, dir)
	r, err := NewWorkspaceRunner(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(r))
	for _, name := range []string{"my-node", "my-cargo", "my-python", "my-uv", "my-opt", "my-own"} {
		if out := run(t, b, name); out.Output != "ran "+name+"\n" {
			t.Errorf("%s: %+v", name, out)
		}
	}
	if out := run(t, b, "cat "+opt+"/lib/data; git config user.email; cat ~/.config/git/ignore"); out.Output != "data\nme@x\n*.o\n" {
		t.Errorf("%+v", out)
	}
	refused(t, b,
		"touch ~/.nvm/x", "touch ~/.local/bin/x", "echo x >>~/.gitconfig", "touch "+opt+"/x",
		"cat ~/.cargo/credentials.toml", "cat ~/.npmrc", "cat ~/.ssh/id_rsa", "cat ~/.git-credentials",
		"cat ~/.config/git/credentials | grep .", "cat ~/somewhere/secret",
	)
	for _, root := range []string{home + "/.nvm", home + "/.cargo/bin", opt} {
		if !slices.Contains(r.ReadOnlyRoots(), root) {
			t.Errorf("%s is no root in %q", root, r.ReadOnlyRoots())
		}
	}
	if slices.Contains(r.ReadOnlyRoots(), home+"/.config/git") {
		t.Error("git's directory, which holds credentials, is a root")
	}
	mounts, err := r.Mounts()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mounts {
		if m.Why == "" || m.Path == "" {
			t.Errorf("unexplained: %+v", m)
		}
	}
}

func TestCachesArePrivate(t *testing.T) { // decision 18, S22
	home := fakeHome(t)
	write(t, home+"/go/pkg/mod/cache/download/x/@v/list", "")
	write(t, home+"/.cargo/registry/index/x", "host\n")
	write(t, home+"/.npm/_cacache/index-v5/x", "host\n")
	write(t, home+"/.config/go/env", "GOFLAGS=-buildvcs=false\nGOPROXY=https://user:password@proxy.example\n")
	dir := filepath.Join(home, "project")
	write(t, filepath.Join(dir, "file"), "")
	sandbox(t, dir)
	r, err := NewWorkspaceRunner(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(r))
	cache := CacheDir(dir)
	if !strings.HasPrefix(cache, home+"/.cache/phero/") || CacheDir(dir+"2") == cache {
		t.Error(cache)
	}
	env := environment(t, b)
	for name, want := range map[string]string{
		"GOCACHE": cache + "/go-build", "GOMODCACHE": cache + "/gomod", "npm_config_cache": cache + "/npm",
		"CARGO_HOME": cache + "/cargo", "XDG_CACHE_HOME": cache + "/xdg", "GOFLAGS": "-buildvcs=false -modcacherw",
		"GOPROXY": "file://" + home + "/go/pkg/mod/cache/download,direct",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	if out := run(t, b, "cat $CARGO_HOME/registry/index/x $npm_config_cache/_cacache/index-v5/x; mkdir -p $GOCACHE && echo kept >$GOCACHE/x"); out.Output != "host\nhost\n" {
		t.Errorf("%+v", out)
	}
	if out := run(t, b, "cat $GOCACHE/x"); out.Output != "kept\n" { // from one command to the next
		t.Errorf("%+v", out)
	}
	refused(t, b, "touch $CARGO_HOME/registry/x", "touch ~/go/pkg/mod/x", "touch $npm_config_cache/_cacache/x")
	if out := run(t, b, "mkdir $npm_config_cache/_logs"); out.ExitCode != 0 {
		t.Errorf("%+v", out)
	}

	// With the network the private registry is filled, and used from then on.
	networked := newTool(t, WithWorkingDirectory(dir), WithRunner(r), WithReach(func(context.Context, string) Reach { return Network }))
	if out := run(t, networked, "mkdir -p $CARGO_HOME/registry/index && echo mine >$CARGO_HOME/registry/index/x"); out.ExitCode != 0 {
		t.Errorf("%+v", out)
	}
	if out := run(t, b, "cat $CARGO_HOME/registry/index/x && touch $CARGO_HOME/registry/y"); out.Output != "mine\n" {
		t.Errorf("%+v", out)
	}

	shared, err := NewWorkspaceRunner(dir, WithSharedCaches())
	if err != nil {
		t.Fatal(err)
	}
	b = newTool(t, WithWorkingDirectory(dir), WithRunner(shared))
	if out := run(t, b, "touch ~/go/pkg/mod/x && echo \"$GOCACHE$CARGO_HOME\""); out.Output != "\n" || !exists(home+"/go/pkg/mod/x") {
		t.Errorf("%+v", out)
	}
}

func TestNoHome(t *testing.T) {
	dir := workspace(t)
	home := filepath.Join(workspace(t), "nonexistent")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	sandbox(t, dir)
	r, err := NewWorkspaceRunner(dir)
	if err != nil {
		t.Fatal(err)
	}
	if out := run(t, newTool(t, WithWorkingDirectory(dir), WithRunner(r)), "echo x >~/f; cat ~/f"); out.Output != "x\n" || exists(home) {
		t.Errorf("%+v", out)
	}
}

// The tools that this machine has work without a network, each with a dependency
// that the host has.
func TestToolsOfThisMachine(t *testing.T) { // decision 18
	cache := workspace(t)
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("CARGO_HOME", "") // a build needs none of the host's
	dir := workspace(t)
	write(t, dir+"/node/package.json", `{"name": "x", "version": "1.0.0", "scripts": {"test": "node test.js"}, "dependencies": {"answer": "file:../answer"}}`)
	write(t, dir+"/node/test.js", "console.log(require('answer'))\n")
	write(t, dir+"/answer/package.json", `{"name": "answer", "version": "1.0.0"}`)
	write(t, dir+"/answer/index.js", "module.exports = 6*7\n")
	write(t, dir+"/rust/Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nanswer = { path = \"../crate\" }\n")
	write(t, dir+"/rust/src/lib.rs", "#[test]\nfn works() { assert_eq!(6 * 7, answer::ANSWER); }\n")
	write(t, dir+"/crate/Cargo.toml", "[package]\nname = \"answer\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
	write(t, dir+"/crate/src/lib.rs", "pub const ANSWER: i32 = 42;\n")
	sandbox(t, dir)
	r, err := NewWorkspaceRunner(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(r), WithDefaultTimeout(MaxTimeout))
	for program, tt := range map[string]struct{ command, want string }{
		"npm":     {"cd node && npm install --offline --no-audit --no-fund && npm test", "42\n"},
		"cargo":   {"cd rust && cargo test --offline 2>&1", "1 passed"},
		"python3": {"python3 -c 'print(6*7)'", "42\n"},
		"git":     {"git --version", "git version"},
	} {
		t.Run(program, func(t *testing.T) {
			if out, err := exec.Command(program, "--version").CombinedOutput(); err != nil {
				missing(t, fmt.Sprintf("%s (%v %s)", program, err, out))
			}
			out, err := b.foreground(t.Context(), tt.command, MaxTimeout)
			if err != nil || out.ExitCode != 0 || !strings.Contains(out.Output, tt.want) {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}
