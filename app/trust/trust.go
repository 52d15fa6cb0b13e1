// Package trust keeps what of a repository the person saw and accepted: its
// settings, grants of its skills, servers that it wants to start. An item is
// trusted as long as its content is, to the byte; what changed is asked again
// (threats 11 to 15). The store is outside of the repository.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/phero-agent/agent/tools/file"
)

// Item is something of a repository that loosens what holds without it.
type Item struct {
	Name    string   // what it is, as ".phero/config.toml"
	Content []byte   // all of it; trust holds for exactly this
	Effects []string // what it would do, a line each
}

func (i Item) sum() string {
	sum := sha256.Sum256(i.Content)
	return hex.EncodeToString(sum[:])
}

// Store remembers what a workspace is trusted with.
type Store struct {
	path string
	mu   sync.Mutex
	sums map[string]string // by the items' names
	err  error
}

// Open reads the store in a workspace's state directory. One that cannot be read
// trusts nothing; Err says why.
func Open(stateDir string) *Store {
	s := &Store{path: filepath.Join(stateDir, "trust.json"), sums: map[string]string{}}
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s
	}
	if err == nil {
		err = json.Unmarshal(data, &s.sums)
	}
	if err != nil {
		s.sums, s.err = map[string]string{}, fmt.Errorf("%s: %w; nothing of the repository is trusted until you accept it again", s.path, err)
	}
	return s
}

// Err says why the store could not be read.
func (s *Store) Err() error { return s.err }

// Trusts says whether the person accepted exactly this.
func (s *Store) Trusts(i Item) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sums[i.Name] == i.sum()
}

// Refuses says whether the person refused exactly this for good.
func (s *Store) Refuses(i Item) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sums[i.Name] == refused+i.sum()
}

const refused = "refused "

// Accept trusts the items from now on.
func (s *Store) Accept(items ...Item) error { return s.keep("", items) }

// Refuse keeps that the person does not want to be asked about the items.
func (s *Store) Refuse(items ...Item) error { return s.keep(refused, items) }

func (s *Store) keep(prefix string, items []Item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range items {
		s.sums[i.Name] = prefix + i.sum()
	}
	return s.save()
}

// Forget drops every answer, and says how many there were.
func (s *Store) Forget() (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.sums)
	clear(s.sums)
	return n, s.save()
}

// save writes the store in one piece, readable for its owner alone.
func (s *Store) save() error {
	data, err := json.MarshalIndent(s.sums, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	return file.WriteFileAtomic(s.path, append(data, '\n'), 0o600)
}
