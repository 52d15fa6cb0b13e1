package session

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestLayout(t *testing.T) { // SESS-04
	s := newStore(t)
	if _, err := os.Lstat(s.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("opening a store made %s: %v", s.Dir(), err)
	}
	l := create(t, s)
	put(t, l, say("a"))
	hash := must[string](t)(s.Blobs().Put([]byte("content")))
	for path, want := range map[string]fs.FileMode{
		".":                                 0o700 | fs.ModeDir,
		".gitignore":                        0o600,
		"sessions":                          0o700 | fs.ModeDir,
		"sessions/" + l.ID():                0o700 | fs.ModeDir,
		"sessions/" + l.ID() + "/log.jsonl": 0o600,
		"sessions/" + l.ID() + "/lock":      0o600,
		"blobs":                             0o700 | fs.ModeDir,
		"blobs/" + hash[:2]:                 0o700 | fs.ModeDir,
		"blobs/" + hash[:2] + "/" + hash:    0o600,
	} {
		info, err := os.Lstat(filepath.Join(s.Dir(), path))
		if err != nil || runtime.GOOS != "windows" && info.Mode() != want {
			t.Errorf("%s: mode %v, want %v (%v)", path, info.Mode(), want, err)
		}
	}
	if got := string(must[[]byte](t)(os.ReadFile(filepath.Join(s.Dir(), ".gitignore")))); got != "*\n!config.toml\n" {
		t.Errorf(".gitignore holds %q", got)
	}
}

func TestGitSeesNothing(t *testing.T) { // SESS-04
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("git is missing")
		}
		t.Skip("git is missing")
	}
	s := newStore(t)
	create(t, s)
	must[string](t)(s.Blobs().Put([]byte("content")))
	home := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = s.workspace
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	if got := git("status", "--porcelain", "--untracked-files=all"); got != "" {
		t.Errorf("git status: %s", got)
	}
	ok(t, os.WriteFile(filepath.Join(s.Dir(), "config.toml"), nil, 0o600))
	if got := git("status", "--porcelain", "--untracked-files=all"); got != "?? .phero/config.toml\n" {
		t.Errorf("git status: %q", got) // a project's settings can be committed
	}
}

func TestNoWayOutOfTheWorkspace(t *testing.T) { // SESS-12
	link := func(t *testing.T, target, name string) {
		t.Helper()
		ok(t, os.MkdirAll(filepath.Dir(name), 0o700))
		if err := os.Symlink(target, name); err != nil {
			t.Skip("no symlinks here:", err)
		}
	}
	empty := func(t *testing.T, dir string) {
		t.Helper()
		if got := must[[]os.DirEntry](t)(os.ReadDir(dir)); len(got) != 0 {
			t.Errorf("%s was written outside", got)
		}
	}
	t.Run("phero", func(t *testing.T) {
		out, ws := t.TempDir(), t.TempDir()
		link(t, out, filepath.Join(ws, ".phero"))
		if _, err := OpenStore(ws); err == nil || !strings.Contains(err.Error(), ".phero is a link") {
			t.Errorf("error %v", err)
		}
		empty(t, out)
	})
	t.Run("dangling", func(t *testing.T) {
		out, ws := t.TempDir(), t.TempDir()
		link(t, filepath.Join(out, "new"), filepath.Join(ws, ".phero"))
		if _, err := OpenStore(ws); err == nil {
			t.Error("no error")
		}
		empty(t, out)
	})
	t.Run("inside", func(t *testing.T) {
		ws := t.TempDir()
		link(t, "state", filepath.Join(ws, ".phero"))
		ok(t, os.Mkdir(filepath.Join(ws, "state"), 0o700))
		s := must[*Store](t)(OpenStore(ws))
		l := create(t, s)
		put(t, l, say("a"))
		if got := texts(t, s, l.ID()); got != "a" {
			t.Errorf("the log holds %q", got)
		}
	})
	t.Run("made later", func(t *testing.T) {
		s, out := newStore(t), t.TempDir()
		link(t, out, s.Dir())
		if _, err := s.Create("v"); err == nil {
			t.Error("no error")
		}
		must[string](t)(s.Blobs().Put(nil))
		if s.Blobs().Trouble() == nil {
			t.Error("no trouble")
		}
		empty(t, out)
	})
	for _, part := range []string{"sessions", "blobs"} {
		t.Run(part, func(t *testing.T) {
			s, out := newStore(t), t.TempDir()
			link(t, out, filepath.Join(s.Dir(), part))
			_, err := s.Create("v")
			must[string](t)(s.Blobs().Put(nil))
			err2 := s.Blobs().Trouble()
			if (part == "sessions" && err == nil) || (part == "blobs" && err2 == nil) {
				t.Error("no error")
			}
			empty(t, out)
		})
	}
	t.Run("log", func(t *testing.T) {
		s, out := newStore(t), t.TempDir()
		l := create(t, s)
		ok(t, l.Close())
		target := filepath.Join(out, "authorized_keys")
		ok(t, os.WriteFile(target, []byte("key"), 0o600))
		ok(t, os.Remove(s.logPath(l.ID())))
		link(t, target, s.logPath(l.ID()))
		if _, _, _, err := s.Open(l.ID()); err == nil {
			t.Error("no error")
		}
		if list := must[[]Info](t)(s.List()); len(list) != 0 {
			t.Errorf("listed %v", list)
		}
		if got := must[[]byte](t)(os.ReadFile(target)); string(got) != "key" {
			t.Errorf("the target holds %q", got)
		}
	})
	t.Run("ids", func(t *testing.T) {
		s := newStore(t)
		create(t, s)
		for _, id := range []string{"", ".", "..", "../../x", "/etc", "../sessions", "01J", strings.Repeat("!", 26), "..\\..\\x", strings.Repeat("0", 27), strings.Repeat("\x00", 26)} {
			if _, _, _, err := s.Open(id); !errors.Is(err, ErrNoSession) {
				t.Errorf("open %q: %v", id, err)
			}
			if _, _, err := s.Read(id); !errors.Is(err, ErrNoSession) {
				t.Errorf("read %q: %v", id, err)
			}
		}
	})
}

func TestOpenStoreErrors(t *testing.T) {
	if _, err := OpenStore("relative"); err == nil {
		t.Error("a relative path was taken")
	}
	if _, err := OpenStore(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no workspace: %v", err)
	}
	ws := t.TempDir()
	ok(t, os.WriteFile(filepath.Join(ws, ".phero"), nil, 0o600))
	if _, err := OpenStore(ws); err == nil || !strings.Contains(err.Error(), "is no directory") {
		t.Errorf("a file: %v", err)
	}
}

func TestNoSession(t *testing.T) {
	s := newStore(t)
	const id = "01J00000000000000000000000"
	check := func() {
		t.Helper()
		if _, _, _, err := s.Open(id); !errors.Is(err, ErrNoSession) {
			t.Errorf("open: %v", err)
		}
		if _, _, err := s.Read(id); !errors.Is(err, ErrNoSession) {
			t.Errorf("read: %v", err)
		}
		if _, err := s.Latest(nil); !errors.Is(err, ErrNoSession) {
			t.Errorf("latest: %v", err)
		}
		if list, err := s.List(); err != nil || len(list) != 0 {
			t.Errorf("list: %v %v", list, err)
		}
	}
	check()
	create(t, s) // in which nothing is said
	check()
	ok(t, os.Mkdir(filepath.Join(s.Dir(), "sessions", id), 0o700)) // without a log
	check()
}

func TestUnwritable(t *testing.T) { // SESS-11
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("no directory is unwritable for root")
	}
	s := newStore(t)
	old := create(t, s)
	put(t, old, say("a"))
	ok(t, old.Close())
	lock := filepath.Join(s.Dir(), "sessions", old.ID(), "lock")
	ok(t, os.Remove(lock))
	dirs := []string{s.workspace, s.Dir(), filepath.Join(s.Dir(), "sessions"), filepath.Dir(lock)}
	for _, d := range dirs {
		ok(t, os.Chmod(d, 0o555))
		t.Cleanup(func() { os.Chmod(d, 0o755) })
	}
	if _, err := s.Create("v"); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), s.Dir()) {
		t.Errorf("create: %v", err)
	}
	blobs := s.Blobs() // what cannot be kept on the disk is kept in memory
	hash, err := blobs.Put([]byte("x"))
	if data, gone := blobs.Get(hash); err != nil || gone != nil || string(data) != "x" {
		t.Errorf("put: %v, %q, %v", err, data, gone)
	}
	if _, _, _, err := s.Open(old.ID()); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("open: %v", err)
	}
	if got, _, err := s.Read(old.ID()); err != nil || len(got) != 2 {
		t.Errorf("read: %d entries, %v", len(got), err)
	}
	fresh := must[*Store](t)(OpenStore(filepath.Dir(s.Dir())))
	if list, err := fresh.List(); err != nil || len(list) != 1 {
		t.Errorf("list: %v %v", list, err)
	}
}

// A sandbox reserves the place of .phero with an empty directory and takes it away
// after a command. A session that begins meanwhile is saved all the same.
func TestDirectoryThatGoesAgain(t *testing.T) {
	for range 100 {
		s := newStore(t)
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
					_ = os.Mkdir(s.Dir(), 0o755)
					_ = os.Remove(s.Dir())
				}
			}
		}()
		l, err := s.Create("test")
		close(stop)
		<-done
		if err != nil {
			t.Fatal(err)
		}
		ok(t, l.Close())
		if _, _, err := s.Read(l.ID()); err != nil {
			t.Fatal(err)
		}
	}
}
