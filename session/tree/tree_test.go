package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// store keeps contents in memory.
type store struct {
	mu   sync.Mutex
	data map[string]string
}

func (s *store) keep(data []byte) (string, error) {
	sum := sha256.Sum256(data)
	h := hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data[h] = string(data)
	return h, nil
}

// field is a workspace with the tree that watches it.
type field struct {
	t    testing.TB
	root string
	store
	tree *Tree
}

func newField(t testing.TB) *field {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		root = filepath.Join(root, "ws")
		err = os.Mkdir(root, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	f := &field{t: t, root: root, store: store{data: map[string]string{}}}
	f.tree = New(root, f.keep)
	return f
}

// repository is a workspace of git with the given files committed.
func repository(t testing.TB, files ...string) *field {
	t.Helper()
	f := newField(t)
	for _, name := range files {
		f.write(name, "of "+name+"\n")
	}
	f.sh("git init -q && git add -A && git commit -qm first")
	return f
}

func (f *field) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// sh runs a command as the agent's would run.
func (f *field) sh(line string) {
	f.t.Helper()
	if _, err := exec.LookPath("git"); err != nil && os.Getenv("CI") != "true" {
		f.t.Skip("git is not installed")
	}
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir = f.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

func (f *field) scan(want bool) Found {
	f.t.Helper()
	found, err := f.tree.Scan(f.t.Context(), want)
	if err != nil {
		f.t.Fatal(err)
	}
	return found
}

// during is what a command line changes, in words: "M path: before -> after".
func (f *field) during(line string) string {
	f.t.Helper()
	f.scan(false)
	f.sh(line)
	return f.words(f.scan(true))
}

func (f *field) words(found Found) string {
	var b strings.Builder
	for _, c := range found.Changes {
		fmt.Fprintf(&b, "%s: %s -> %s\n", c.Path, f.state(c.Before), f.state(c.After))
	}
	for _, l := range found.Lost {
		fmt.Fprintf(&b, "lost %s %s\n", l.Path, l.Why)
	}
	return b.String()
}

func (f *field) state(s State) string {
	switch {
	case s.Gone:
		return "none"
	case s.Mode.IsDir():
		return fmt.Sprintf("dir %o", s.Mode.Perm())
	}
	text, ok := f.data[s.Hash]
	if !ok {
		text = "?" + s.Hash
	}
	if s.Mode.Type() == linkType {
		return fmt.Sprintf("link %q", text)
	}
	if len(text) > 40 {
		text = text[:40]
	}
	return fmt.Sprintf("%o %q", s.Mode.Perm(), text)
}

// What commands do to a repository is found with the bytes from before, also where
// nobody ever read the files. UNDO-09
func TestCommands(t *testing.T) {
	for _, c := range []struct{ name, prepare, command, want string }{
		{"a tracked file", "", "sed -i s/of/OF/ a", `a: 644 "of a\n" -> 644 "OF a\n"` + "\n"},
		{"a removed directory", "", "rm -r d", "d: dir 755 -> none\nd/b: 644 \"of d/b\\n\" -> none\nd/e: dir 755 -> none\nd/e/c: 644 \"of d/e/c\\n\" -> none\n"},
		{"new files", "", "mkdir -p n/m; echo 1 > n/m/f; echo 2 > g", "g: none -> 644 \"2\\n\"\nn: none -> dir 755\nn/m: none -> dir 755\nn/m/f: none -> 644 \"1\\n\"\n"},
		{"a dirty file that is checked out", "echo mine > a", "git checkout -q -- .", `a: 644 "mine\n" -> 644 "of a\n"` + "\n"},
		{"an untracked file", "echo mine > u", "echo more >> u", `u: 644 "mine\n" -> 644 "mine\nmore\n"` + "\n"},
		{"a staged file", "echo mine > a; git add a", "echo more >> a", `a: 644 "mine\n" -> 644 "mine\nmore\n"` + "\n"},
		{"a mode", "", "chmod 755 a", `a: 644 "of a\n" -> 755 "of a\n"` + "\n"},
		{"a mode of a directory", "", "chmod 700 d", "d: dir 755 -> dir 700\n"},
		{"a link", "ln -s a l", "ln -sfn d/b l", `l: link "a" -> link "d/b"` + "\n"},
		{"a file that becomes a link", "", "rm a; ln -s d/b a", `a: 644 "of a\n" -> link "d/b"` + "\n"},
		{"a file that becomes a directory", "", "rm a; mkdir a; echo x > a/x", "a: 644 \"of a\\n\" -> dir 755\na/x: none -> 644 \"x\\n\"\n"},
		{"a directory that becomes a file", "", "rm -r d; echo x > d", "d: dir 755 -> 644 \"x\\n\"\nd/b: 644 \"of d/b\\n\" -> none\nd/e: dir 755 -> none\nd/e/c: 644 \"of d/e/c\\n\" -> none\n"},
		{"a file that is renamed", "", "mv a b", "a: 644 \"of a\\n\" -> none\nb: none -> 644 \"of a\\n\"\n"},
		{"only touched", "", "touch a d/b", ""},
		{"written with the same bytes", "echo mine > u", "echo mine > u; echo of a > a", ""},
		{"nothing", "", "cat a d/b; ls -R", ""},
		{"what is ignored", "echo '*.o' > .gitignore; echo 1 > x.o; mkdir out; echo out/ >> .git/info/exclude", "echo 2 > x.o; echo 3 > out/y", ""},
		{"tracked although it is ignored", "mkdir t; echo 1 > t/x.o; git add -f t/x.o; echo t/ > .gitignore", "echo 2 > t/x.o; echo 3 > t/y.o", `t/x.o: 644 "1\n" -> 644 "2\n"` + "\n"},
		{"a commit", "echo mine > a", "git commit -qam second", ""},
		{"a change after a commit", "echo mine > a; git commit -qam second", "echo more > a", `a: 644 "mine\n" -> 644 "more\n"` + "\n"},
		{"line ends that git changes", "git config core.autocrlf true; printf 'x\\r\\n' > w; git add w; git commit -qm w; touch -d '1 hour ago' w; git status -s", "echo y > w", `w: 644 "x\r\n" -> 644 "y\n"` + "\n"},
		{"a filter", "git config filter.up.clean 'tr a-z A-Z'; git config filter.up.smudge 'tr A-Z a-z'; echo '*.f filter=up' > .gitattributes; echo abc > w.f; git add .; git commit -qm w; touch -d '1 hour ago' w.f; git status -s", "echo y > w.f", `w.f: 644 "abc\n" -> 644 "y\n"` + "\n"},
		{"assumed unchanged", "git update-index --assume-unchanged a; echo mine > a", "echo more > a", `a: 644 "mine\n" -> 644 "more\n"` + "\n"},
		{"an index of version 4", "git update-index --index-version 4", "rm d/e/c", `d/e/c: 644 "of d/e/c\n" -> none` + "\n"},
		{"a split index", "git update-index --split-index", "echo x > a", `a: 644 "of a\n" -> 644 "x\n"` + "\n"},
		{"packed objects", "git gc -q", "echo x > a", `a: 644 "of a\n" -> 644 "x\n"` + "\n"},
		{"deltas", "for i in $(seq 8); do seq 2000 > s; echo $i >> s; git add s; git commit -qm $i; done; git checkout -q HEAD~7; git gc -q --aggressive", "seq 2 > s", `s: 644 "` + "1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n10\\n11\\n12\\n13\\n14\\n15\\n16\\n1" + `" -> 644 "1\n2\n"` + "\n"},
		{"objects of another repository", "mv .git ../a.git; mkdir ../o; mv ../a.git ../o/.git; (cd ../o && git reset -q --hard); git clone -q -s ../o c; mv c/.git .git; rm -r c; git reset -q --hard", "echo x > a", `a: 644 "of a\n" -> 644 "x\n"` + "\n"},
		{"a worktree", "git worktree add -q w", "echo x > w/a", `w/a: 644 "of a\n" -> 644 "x\n"` + "\n"},
		{"SHA-256", "rm -rf .git; git init -q --object-format=sha256 .; git add .; git commit -qm a; git gc -q", "echo x > a", `a: 644 "of a\n" -> 644 "x\n"` + "\n"},
		{"a sparse checkout", "git sparse-checkout init --cone --sparse-index; git sparse-checkout set d/e", "rm -r d/e", "d/e: dir 755 -> none\nd/e/c: 644 \"of d/e/c\\n\" -> none\n"},
		{"what is ignored no longer", "echo '*.o' > .gitignore; echo 1 > x.o", "> .gitignore", `.gitignore: 644 "*.o\n" -> 644 ""` + "\n"},
		{"ignored from now on", "echo 1 > x.o", "echo '*.o' > .gitignore", `.gitignore: none -> 644 "*.o\n"` + "\n"},
		{"a repository inside", "git init -q s; cd s; echo 1 > f; git add f; git commit -qm s", "echo 2 > s/f", `s/f: 644 "1\n" -> 644 "2\n"` + "\n"},
		{"bytes", `printf '\xff\x00\xfe' > a; git commit -qam b`, "echo x > a", `a: 644 "\xff\x00\xfe" -> 644 "x\n"` + "\n"},
		{"FIFOs, also where git has files", "", "mkfifo p; mkdir -p s/.git/info s/.git/objects; mkfifo s/.git/HEAD s/.git/config s/.git/index s/.git/info/exclude s/.gitattributes s/.gitignore; rm s/.git/HEAD; echo x > s/.git/HEAD; touch s/f", "s: none -> dir 755\ns/f: none -> 644 \"\"\n"},
		{"too large", "head -c 1500000 /dev/zero > big", "echo >> big; truncate -s 100M new", "lost big was changed: 1 MB, too large\nlost new was made: 100 MB, too large\n"},
		{"large but tracked", "head -c 1500000 /dev/zero > big; git add big; git commit -qm big", "truncate -s 4 big", `big: 644 "` + strings.Repeat(`\x00`, 40) + `" -> 644 "\x00\x00\x00\x00"` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := repository(t, "a", "d/b", "d/e/c")
			if c.prepare != "" {
				f.sh(c.prepare)
			}
			for _, age := range []string{"fresh", "old"} {
				if age == "fresh" && c.name == "what is ignored no longer" {
					continue // it counts as new, where it is so new
				}
				if age == "old" { // and again, with nothing that changed a moment ago
					f = repository(t, "a", "d/b", "d/e/c")
					if c.prepare != "" {
						f.sh(c.prepare)
					}
					settled(t, f.root)
				}
				before := f.index()
				if got := f.during(c.command); got != c.want {
					t.Errorf("%s:\n%s\nwant\n%s", age, got, c.want)
				}
				if !strings.Contains(c.command, "git") && f.index() != before {
					t.Errorf("the index was written")
				}
				if got := f.during("true"); got != "" {
					t.Errorf("%s, once more:\n%s", age, got)
				}
			}
		})
	}
}

// The workspace can be a directory of a repository: the rules and the index from above hold.
func TestBelowTheTop(t *testing.T) {
	f := repository(t, "d/b", "d/e/c")
	f.sh("echo '/d/x.o' > .gitignore; echo '*.tmp' > d/.gitignore")
	f.root = filepath.Join(f.root, "d")
	f.tree = New(f.root, f.keep)
	want := "e/c: 644 \"of d/e/c\\n\" -> 644 \"1\\n\"\ne/x.o: none -> 644 \"2\\n\"\n"
	if got := f.during("echo 1 > e/c; echo 2 > x.o; echo 2 > e/x.o; echo 3 > e/y.tmp"); got != want {
		t.Errorf("found:\n%s\nwant\n%s", got, want)
	}
}

// Another commit that is checked out is told, a commit of a new repository is not.
func TestMoved(t *testing.T) {
	f := repository(t, "a")
	f.scan(false)
	for _, c := range []struct {
		command string
		moved   bool
	}{{"echo 1 > a", false}, {"git commit -qam second", true}, {"git checkout -q HEAD~1", true}, {"git init -q s", false}} {
		f.sh(c.command)
		if got := f.scan(true); got.Moved != c.moved {
			t.Errorf("%s: moved %v", c.command, got.Moved)
		}
	}
}

// settled waits until no file of a workspace changed a moment ago.
func settled(t *testing.T, root string) {
	t.Helper()
	var newest int64
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if s, err := sigOfFile(path); err == nil {
			newest = max(newest, s.mtime, s.ctime)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for time.Now().UnixNano() <= newest+tick {
		time.Sleep(time.Millisecond)
	}
}

func (f *field) index() string {
	data, err := os.ReadFile(filepath.Join(f.root, ".git/index"))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}
