package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The file of keys stands below the environment, and counts only while nobody else
// can read it (IMP-02).
func TestKeys(t *testing.T) {
	dir := t.TempDir()
	s := Settings{ConfigDir: filepath.Join(dir, "phero")}
	if err := s.Keep([2]string{"A_KEY", "one"}, [2]string{"B_KEY", "two"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.KeysFile(), []byte("# mine\nexport C_KEY='three'\nA_KEY=one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Keep([2]string{"A_KEY", "new"}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.KeysFile())
	if err != nil || string(data) != "# mine\nexport C_KEY='three'\nA_KEY=new\n" {
		t.Fatalf("%q, %v", data, err)
	}
	getenv := s.withKeys(func(name string) string { return map[string]string{"A_KEY": "of the environment"}[name] })
	if getenv("A_KEY") != "of the environment" || getenv("C_KEY") != "three" || getenv("D_KEY") != "" || s.Notices != nil {
		t.Errorf("%q, %q, %v", getenv("A_KEY"), getenv("C_KEY"), s.Notices)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(s.KeysFile(), 0o640); err != nil {
		t.Fatal(err)
	}
	if getenv := s.withKeys(func(string) string { return "" }); getenv("C_KEY") != "" || len(s.Notices) != 1 || !strings.Contains(s.Notices[0], "chmod 600") {
		t.Errorf("%q, %v", getenv("C_KEY"), s.Notices)
	}
}

// The model goes above what the person's file says, and replaces what it says of it.
func TestKeepModel(t *testing.T) {
	s := Settings{ConfigDir: t.TempDir()}
	path := s.Paths()[0]
	if err := os.WriteFile(path, []byte("# mine\nmodel = \"old\"\ntimeout = \"5m\"\n[ui]\nvim = true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.KeepModel("openai/new"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if want := "model = \"openai/new\"\n# mine\ntimeout = \"5m\"\n[ui]\nvim = true\n"; err != nil || string(data) != want {
		t.Errorf("%q, %v", data, err)
	}
	if err := Check(path); err != nil {
		t.Error(err)
	}
}
