package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/tools/file"
)

// Store keeps what was learned of servers: a file of a directory for each base
// URL. A nil Store keeps nothing. What cannot be written is learned again.
type Store struct{ dir string }

// NewStore makes a store in a directory, which is made when something is kept.
func NewStore(dir string) *Store { return &Store{dir} }

// record is a file of the store.
type record struct {
	BaseURL string            `json:"base_url"`
	Server  json.RawMessage   `json:"server,omitempty"` // a Profile
	Models  map[string]Traits `json:"models,omitempty"`
}

// Traits are what was found out of one model, not of its server.
type Traits struct {
	NoImages bool `json:"no_images,omitempty"`
	NoEffort bool `json:"no_effort,omitempty"`

	// As agent doctor found them.
	Tools     app.Ability `json:"tools,omitempty"`
	Parallel  app.Ability `json:"parallel_calls,omitempty"`
	Vision    app.Ability `json:"vision,omitempty"`
	Reasoning app.Ability `json:"reasoning,omitempty"`
	Usage     app.Ability `json:"usage,omitempty"`
	Streams   app.Ability `json:"streams,omitempty"`
}

// over puts what was found out over what was known.
func (t Traits) over(info app.ModelInfo) app.ModelInfo {
	if t.Vision != app.Unknown {
		info.Vision = t.Vision
	}
	if t.NoImages {
		info.Vision = app.No
	}
	if t.Reasoning != app.Unknown {
		info.Reasoning = t.Reasoning
	}
	return info
}

// Path is the file for a base URL.
func (s *Store) Path(baseURL string) string {
	sum := sha256.Sum256([]byte(baseURL))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:8])+".json")
}

// load puts what is kept over what is known. A file that cannot be read is
// ignored, and the person is told.
func (s *Store) load(baseURL, model string, known Profile, notice func(string)) (Profile, Traits) {
	if s == nil {
		return known, Traits{}
	}
	rec, err := s.read(baseURL)
	p := known
	if err == nil && rec.Server != nil {
		err = json.Unmarshal(rec.Server, &p)
	}
	if err != nil {
		notice(fmt.Sprintf("what was learned of %s is ignored, %s cannot be read: %v", baseURL, s.Path(baseURL), err))
		return known, Traits{}
	}
	t := rec.Models[model]
	p.NoImages, p.NoEffort = p.NoImages || t.NoImages, p.NoEffort || t.NoEffort
	return p, t
}

// read reads a file of the store; one that is not there is empty.
func (s *Store) read(baseURL string) (record, error) {
	rec := record{BaseURL: baseURL}
	text, err := os.ReadFile(s.Path(baseURL))
	if errors.Is(err, fs.ErrNotExist) {
		return rec, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &rec)
	}
	if err == nil && rec.BaseURL != baseURL {
		err = fmt.Errorf("it is of %q", rec.BaseURL)
	}
	return rec, err
}

// save keeps a profile. What is true of the model alone is kept with the model.
func (s *Store) save(baseURL, model string, p Profile, change func(*Traits)) error {
	rec, err := s.read(baseURL)
	if err != nil { // it is written anew
		rec = record{BaseURL: baseURL}
	}
	t := rec.Models[model]
	t.NoImages, t.NoEffort = p.NoImages, p.NoEffort
	change(&t)
	if rec.Models == nil {
		rec.Models = map[string]Traits{}
	}
	rec.Models[model] = t
	p.NoImages, p.NoEffort = false, false
	if rec.Server, err = json.Marshal(p); err != nil {
		return err
	}
	text, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	return file.WriteFileAtomic(s.Path(baseURL), append(text, '\n'), 0o600)
}

// remember keeps what the client has learned.
func (c *Client) remember() {
	if err := c.Keep(func(*Traits) {}); err != nil {
		c.cfg.Notice(fmt.Sprintf("what was learned of %s is not kept: %v", c.base.Host, err))
	}
}

// Keep writes what is known of the server and the model into the store, with a
// change of the model's traits.
func (c *Client) Keep(change func(*Traits)) error {
	if c.cfg.Store == nil {
		return nil
	}
	return c.cfg.Store.save(c.base.String(), c.cfg.Model, c.Profile(), change)
}
