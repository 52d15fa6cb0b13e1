package bash

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// git runs git on the host, without the person's settings.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(needs(t, "git"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func repository(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, filepath.Join(dir, "file"), "one\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "one")
}

// gitTool is a sandboxed shell in a workspace whose repository is protected.
func gitTool(t *testing.T, dir string) *Tool {
	t.Helper()
	return newTool(t, WithWorkingDirectory(dir), WithRunner(sandbox(t, dir, WithGitProtection())),
		WithEnv("GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x"))
}

func commits(t *testing.T, b *Tool, dir string) {
	t.Helper()
	out := run(t, b, "echo two >file && git add file && git commit -qm two && git log --format=%s -1 && git checkout -qb branch && git stash list && git gc -q")
	if out.Output != "two\n" || out.ExitCode != 0 {
		t.Errorf("commit in %s: %+v", dir, out)
	}
	if got := git(t, dir, "log", "--format=%s", "-1"); got != "two\n" {
		t.Errorf("the commit is not on the host: %q", got)
	}
	git(t, dir, "fsck", "--strict")
}

// refused runs commands that must fail and change nothing.
func refused(t *testing.T, b *Tool, commands ...string) {
	t.Helper()
	for _, c := range commands {
		if out := run(t, b, c); out.ExitCode == 0 {
			t.Errorf("%s: %q", c, out.Output)
		}
	}
}

func TestGitInAClone(t *testing.T) { // SAFE-11, V6, W1, decision 17
	t.Parallel()
	dir := workspace(t)
	repository(t, dir)
	before, err := os.ReadFile(filepath.Join(dir, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	b := gitTool(t, dir)
	commits(t, b, dir)
	refused(t, b,
		"mv .git .git2", "mv .git/hooks .git/h", "mv .git/config .git/c", "rm .git/config",
		"echo x >.git/hooks/pre-commit", "echo x >>.git/config", "git config user.name x", "git remote add o x",
		"ln -sf /tmp/x .git/config", "rmdir .git/hooks", "mkdir -p .git/hooks/x",
		"cp -r .git .g && rm -rf .git && mv .g .git", // the data can go, the rest stays
	)
	if after, err := os.ReadFile(filepath.Join(dir, ".git/config")); err != nil || string(after) != string(before) {
		t.Errorf("the config changed:\n%s%v", after, err)
	}
	if hooks := activeHooks(filepath.Join(dir, ".git/hooks")); len(hooks) != 0 {
		t.Errorf("hooks: %v", hooks)
	}
}

func TestGitPlantedCommondir(t *testing.T) { // SAFE-11, decision 17: it made a host `git status` run a program
	t.Parallel()
	dir := workspace(t)
	repository(t, dir)
	b := gitTool(t, dir)
	plant := "cp -r .git evil && printf '[core]\\n\\tfsmonitor = touch " + dir + "/PWNED; false\\n' >evil/config && echo ../evil >.git/commondir"
	out := run(t, b, plant)
	if !strings.Contains(out.Output, "[moved "+dir+"/.git/commondir to "+dir+"/.git/commondir.refused") {
		t.Errorf("%+v", out)
	}
	git(t, dir, "status")
	if exists(filepath.Join(dir, "PWNED")) {
		t.Error("git on the host ran a program of the command")
	}
	if out := run(t, b, "git status --short"); strings.Contains(out.Output, "moved") || out.ExitCode != 0 {
		t.Errorf("the next command: %+v", out)
	}

	// By a background shell, while it runs.
	r := sandbox(t, dir, WithGitProtection())
	b = newTool(t, WithWorkingDirectory(dir), WithRunner(r))
	background(t, b, "echo ../evil >.git/commondir; echo x >.git/config.worktree; touch ready; sleep "+mark())
	eventually(t, "it is planted", func() bool { return exists(filepath.Join(dir, "ready")) })
	if notes := r.RestoreGit(); len(notes) != 2 {
		t.Errorf("%q", notes)
	}
	git(t, dir, "status")
	if exists(filepath.Join(dir, "PWNED")) {
		t.Error("git on the host ran a program of the command")
	}
}

func TestGitKeepsWhatWasThere(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	repository(t, dir)
	git(t, dir, "config", "extensions.worktreeConfig", "true")
	git(t, dir, "config", "--worktree", "core.pager", "cat")
	b := gitTool(t, dir)
	refused(t, b, "echo x >>.git/config.worktree")
	if out := run(t, b, "git config core.pager"); out.Output != "cat\n" {
		t.Errorf("%+v", out)
	}
}

func TestGitInAWorktree(t *testing.T) { // SAFE-11, IMP-37, W8
	t.Parallel()
	main := workspace(t)
	repository(t, main)
	dir := filepath.Join(workspace(t), "tree")
	git(t, main, "worktree", "add", "-q", "-b", "tree", dir)
	b := gitTool(t, dir)
	commits(t, b, dir)
	private := filepath.Join(main, ".git/worktrees/tree")
	refused(t, b,
		"echo gitdir: /tmp/x >.git", "rm .git", "mv .git .git2",
		"echo x >>"+main+"/.git/config", "echo x >"+main+"/.git/hooks/pre-commit",
		"mv "+main+"/.git "+main+"/g", "mv "+private+" "+private+"2", "mv "+main+"/.git/worktrees "+main+"/.git/w",
		"echo /tmp/x >"+private+"/commondir", "cat "+main+"/file",
	)
	out := run(t, b, "echo x >"+private+"/config.worktree; echo x >"+main+"/.git/commondir")
	if strings.Count(out.Output, "[moved ") != 2 {
		t.Errorf("%+v", out)
	}
	git(t, dir, "status")
}

func TestGitInASubmodule(t *testing.T) { // SAFE-11
	t.Parallel()
	other := workspace(t)
	repository(t, other)
	super := workspace(t)
	repository(t, super)
	git(t, super, "-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "libs/sub")
	git(t, super, "commit", "-qm", "sub")
	sub := filepath.Join(super, "libs/sub")
	module := filepath.Join(super, ".git/modules/libs/sub")

	b := gitTool(t, super) // the workspace is the whole
	if out := run(t, b, "cd libs/sub && echo x >file && git commit -qam x && cd ../.. && git commit -qam bump"); out.ExitCode != 0 {
		t.Errorf("%+v", out)
	}
	refused(t, b,
		"echo x >>"+module+"/config", "echo x >"+module+"/hooks/post-checkout", "mv "+module+" "+module+"2",
		"mv .git/modules .git/m", "mv .git/modules/libs .git/modules/l", "git -C libs/sub config a.b c",
	)
	if out := run(t, b, "echo ../../x >"+module+"/commondir"); !strings.Contains(out.Output, "[moved "+module+"/commondir") {
		t.Errorf("%+v", out)
	}
	// A git directory that a command makes up.
	out := run(t, b, "cp -r "+module+" .git/modules/new; printf '[core]\\n\\tsshCommand = x\\n' >.git/modules/new/config; echo x >.git/modules/new/hooks/pre-push; ls .git/modules")
	for _, want := range []string{"modules/new/config", "modules/new/hooks/pre-push"} {
		if !strings.Contains(out.Output, "[moved "+filepath.Join(super, ".git", want)) {
			t.Errorf("%s: %+v", want, out)
		}
	}

	b = gitTool(t, sub) // the workspace is the submodule
	commits(t, b, sub)
	refused(t, b, "echo x >>"+module+"/config", "echo x >.git", "ls "+super+"/.git/config")
}

func TestGitFileThatPointsElsewhere(t *testing.T) { // SAFE-11: it could come with the workspace
	t.Parallel()
	victim := workspace(t)
	repository(t, victim)
	for _, target := range []string{filepath.Join(victim, ".git"), victim, "/", filepath.Join(victim, "missing")} {
		dir := workspace(t)
		write(t, filepath.Join(dir, ".git"), "gitdir: "+target+"\n")
		b := gitTool(t, dir)
		if out := run(t, b, "ls -a "+victim+"; true"); !strings.Contains(out.Output, "No such file") {
			t.Errorf("%s: %+v", target, out)
		}
		refused(t, b, "echo x >.git", "rm .git")
	}
}

func TestGitReserved(t *testing.T) { // V7, W2: no command makes a repository where there is none
	t.Parallel()
	dir := workspace(t)
	b := gitTool(t, dir)
	refused(t, b, "git init -q .", "mkdir .git/x", "rmdir .git", "mv .git g", "echo x >.git/config")
	if exists(filepath.Join(dir, ".git")) {
		t.Error("the mount point is left")
	}
	background(t, b, "touch ready; sleep "+mark())
	eventually(t, "it runs", func() bool { return exists(filepath.Join(dir, "ready")) })
	run(t, b, "true") // must not take the reservation from the one that runs
	if !exists(filepath.Join(dir, ".git")) {
		t.Error("the reservation is gone while a command runs")
	}
	b.Close()
	if exists(filepath.Join(dir, ".git")) {
		t.Error("the mount point is left")
	}
}

// Two programs at work in one workspace do not take each other's mount points away,
// and the last one leaves none.
func TestReservedByTwo(t *testing.T) { // V7
	t.Parallel()
	dir := workspace(t)
	opts := []BubblewrapOption{WithGitProtection(), WithReadOnlyPaths(dir + "/.phero"), WithHidden(dir+"/.phero/sessions", dir+"/.phero/blobs")}
	first := inside(t, dir, opts...)
	background(t, first, "touch ready; sleep "+mark())
	eventually(t, "it runs", func() bool { return exists(filepath.Join(dir, "ready")) })
	refused(t, inside(t, dir, opts...), "git init -q .", "mkdir -p .phero/sessions/x", "touch .phero/config.toml")
	if !exists(filepath.Join(dir, ".phero")) || !exists(filepath.Join(dir, ".git")) {
		t.Error("the mount points are gone while the other one's command runs")
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			b := inside(t, dir, opts...)
			for range 5 {
				if out, err := call(t, t.Context(), b, Input{Command: "echo well"}); err != nil || out.Output != "well\n" {
					t.Errorf("%+v, %v", out, err)
				}
			}
		})
	}
	group.Wait()
	first.Close()
	run(t, inside(t, dir, opts...), "true") // takes away what others had to leave
	for _, path := range []string{".phero", ".git"} {
		if exists(filepath.Join(dir, path)) {
			t.Errorf("%s is left", path)
		}
	}
}

func TestGitWithoutHooks(t *testing.T) { // V7
	t.Parallel()
	dir := workspace(t)
	git(t, dir, "init", "-q", "--template=")
	b := gitTool(t, dir)
	refused(t, b, "mkdir .git/hooks && echo x >.git/hooks/pre-commit", "echo x >.git/hooks/pre-commit")
	if exists(filepath.Join(dir, ".git/hooks")) {
		t.Error("the mount point is left")
	}
}

func TestGitConfigThatIncludes(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	repository(t, dir)
	write(t, filepath.Join(dir, ".gitconfig"), "[user]\n\tname = x\n")
	write(t, filepath.Join(dir, ".githooks/pre-commit"), "")
	git(t, dir, "config", "include.path", "../.gitconfig")
	git(t, dir, "config", "core.hooksPath", ".githooks")
	refused(t, gitTool(t, dir), "echo x >>.gitconfig", "rm .gitconfig", "echo x >.githooks/pre-commit", "mv .githooks h")
}

func TestGitLinks(t *testing.T) { // V8
	t.Parallel()
	dir := workspace(t)
	repository(t, dir)
	write(t, filepath.Join(dir, "shared/hooks/pre-push"), "")
	if err := os.RemoveAll(filepath.Join(dir, ".git/hooks")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../shared/hooks", filepath.Join(dir, ".git/hooks")); err != nil {
		t.Fatal(err)
	}
	b := gitTool(t, dir)
	refused(t, b, "echo x >shared/hooks/pre-push")
	out := run(t, b, "rm .git/hooks; mkdir .git/hooks; echo x >.git/hooks/pre-commit")
	if target, err := os.Readlink(filepath.Join(dir, ".git/hooks")); target != "../shared/hooks" || !strings.Contains(out.Output, "[put ") {
		t.Errorf("%q, %v, %+v", target, err, out)
	}

	dir = workspace(t)
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	b = newTool(t, WithWorkingDirectory(dir), WithRunner(mustRunner(t, dir, WithGitProtection())))
	if _, err := call(t, t.Context(), b, Input{Command: "true"}); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("%v", err)
	}
}

func mustRunner(t *testing.T, dir string, opts ...BubblewrapOption) *BubblewrapRunner {
	t.Helper()
	sandbox(t, dir)
	r, err := NewBubblewrapRunner(dir, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A repository that a command makes, and hangs on the index: git on the host
// looks into it, with its settings.
func TestGitPlantedRepository(t *testing.T) { // SAFE-11
	dir := workspace(t)
	repository(t, dir)
	pwned := filepath.Join(dir, "PWNED")
	b := gitTool(t, dir)
	plant := `rm -rf sub; mkdir sub && git init -q sub && git -C sub commit -q --allow-empty -m x &&
		git -C sub config core.fsmonitor "touch ` + pwned + `; false" &&
		git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub`
	for _, version := range []string{"2", "4"} {
		git(t, dir, "update-index", "--index-version", version)
		out := run(t, b, plant)
		if out.ExitCode != 0 || !strings.Contains(out.Output, "[moved "+dir+"/sub/.git/config to ") {
			t.Errorf("version %s: %+v", version, out)
		}
		git(t, dir, "status")
		if exists(pwned) {
			t.Fatal("git on the host ran a program of the command")
		}
	}
	if out := run(t, b, "mv sub/.git evil; mv evil/config.refused evil/config; echo 'gitdir: ../evil' >sub/.git"); !strings.Contains(out.Output, "[moved "+dir+"/sub/.git to ") {
		t.Errorf("%+v", out)
	}
	git(t, dir, "status", "--ignore-submodules=none")
	if exists(pwned) {
		t.Error("git on the host ran a program of the command")
	}
	if out := run(t, b, "true"); out.Output != "(no output)" {
		t.Errorf("%+v", out)
	}
}

func TestLinkedTrees(t *testing.T) {
	dir := workspace(t)
	for _, format := range []string{"sha1", "sha256"} {
		sub := filepath.Join(dir, format)
		git(t, dir, "init", "-q", "--object-format="+format, sub)
		id := strings.Repeat("1", map[string]int{"sha1": 40, "sha256": 64}[format])
		for _, name := range []string{"a", "a/b", "dir/linked", "dir/other", "z"} {
			if name == "dir/linked" || name == "z" {
				git(t, sub, "update-index", "--add", "--cacheinfo", "160000,"+id+","+name)
				continue
			}
			if name != "a/b" {
				write(t, filepath.Join(sub, name), name)
				git(t, sub, "add", name)
			}
		}
		git(t, sub, "add", "--intent-to-add", write(t, filepath.Join(sub, "later"), "")) // has extended flags
		for _, version := range []string{"3", "4"} {
			git(t, sub, "update-index", "--index-version", version)
			if got := linkedTrees(filepath.Join(sub, ".git")); strings.Join(got, " ") != "dir/linked z" {
				t.Errorf("%s, version %s: %q", format, version, got)
			}
		}
		git(t, sub, "update-index", "--split-index")
		if got := linkedTrees(filepath.Join(sub, ".git")); strings.Join(got, " ") != "dir/linked z" {
			t.Errorf("%s, split: %q", format, got)
		}
		git(t, sub, "update-index", "--no-split-index")
		data, err := os.ReadFile(filepath.Join(sub, ".git/index"))
		if err != nil {
			t.Fatal(err)
		}
		for n := range data { // a torn one
			write(t, filepath.Join(sub, ".git/index"), string(data[:n]))
			linkedTrees(filepath.Join(sub, ".git"))
		}
	}
}

// What a command puts in the place of git's files must not make the program wait.
func TestGitFilesThatBlock(t *testing.T) {
	dir := workspace(t)
	repository(t, dir)
	b := gitTool(t, dir)
	run(t, b, `mkdir sub && git init -q sub && git -C sub commit -q --allow-empty -m x &&
		git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub`)
	for _, c := range []string{
		"rm sub/.git/config; mkfifo sub/.git/config", "rm -f sub/.git/index; mkfifo sub/.git/index", "rm -rf sub/.git; mkfifo sub/.git",
		"mkfifo .git/commondir", "rm .git/index; mkfifo .git/index", "rm .git/index; ln -s /dev/zero .git/index",
		"mkdir -p .git/modules/x/objects .git/modules/x/refs; mkfifo .git/modules/x/HEAD .git/modules/x/config",
		"mkdir -p .git/worktrees/x; mkfifo .git/worktrees/x/commondir",
	} {
		run(t, b, c)
		run(t, b, "true")
	}
}

func TestConfigThatNamesPrograms(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                    false,
		"[core]\n\tbare = false\n":            false,
		"[remote \"tool\"]\n\turl = x/path\n": false,
		"[core]\n\tfsmonitor = x\n":           true,
		"[CORE] FSMONITOR = a]b\n":            true,
		"[core]fsmonitor=x":                   true,
		"[core]\n  fsmonitor\t=\\\n x\n":      true,
		"[filter \"a\\\"]b\"] clean = x":      true,
		"[include]\n\tpath = x\n":             true,
		strings.Repeat("# long\n", 200_000):   true, // not read
	} {
		if got := namesPrograms(write(t, filepath.Join(t.TempDir(), "config"), text)); got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
	if namesPrograms(filepath.Join(t.TempDir(), "missing")) {
		t.Error("a missing config")
	}
}
