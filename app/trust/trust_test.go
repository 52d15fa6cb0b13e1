package trust_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app/trust"
)

// Exactly what was accepted is trusted, in this workspace, until it is forgotten (IMP-03).
func TestTrustIsForTheContent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	item := trust.Item{Name: ".phero/config.toml", Content: []byte("model = \"x\"\n")}
	changed := trust.Item{Name: item.Name, Content: []byte("model = \"y\"\n")}
	renamed := trust.Item{Name: ".phero/local.toml", Content: item.Content}
	if trust.Open(dir).Trusts(item) {
		t.Fatal("trusted before anybody was asked")
	}
	if err := trust.Open(dir).Accept(item); err != nil {
		t.Fatal(err)
	}
	s := trust.Open(dir)
	if !s.Trusts(item) || s.Trusts(changed) || s.Trusts(renamed) || trust.Open(filepath.Join(dir, "other")).Trusts(item) {
		t.Error("trusted is something else than what was accepted")
	}
	if err := s.Refuse(changed); err != nil || !trust.Open(dir).Refuses(changed) || trust.Open(dir).Trusts(changed) || trust.Open(dir).Refuses(item) {
		t.Errorf("a refusal is not kept: %v", err)
	}
	if err := s.Accept(item); err != nil || trust.Open(dir).Refuses(changed) {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "trust.json")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if n, err := s.Forget(); n != 1 || err != nil || trust.Open(dir).Trusts(item) {
		t.Errorf("forgot %d, %v", n, err)
	}
}

func TestDamagedStoreTrustsNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "trust.json"), []byte(`{"a":`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := trust.Open(dir)
	if s.Err() == nil || !strings.Contains(s.Err().Error(), "trust.json") || s.Trusts(trust.Item{Name: "a"}) {
		t.Errorf("%v", s.Err())
	}
	if err := s.Accept(trust.Item{Name: "a"}); err != nil || !trust.Open(dir).Trusts(trust.Item{Name: "a"}) {
		t.Errorf("a damaged store cannot be written again: %v", err)
	}
}
