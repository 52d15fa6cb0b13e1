package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Report says what is damaged of a session, in words for a person.
type Report struct {
	ID       string   `json:"id"`
	Log      []string `json:"log,omitempty"`      // what is wrong with the log: Repair mends it
	Contents []string `json:"contents,omitempty"` // what is gone, or damaged: nothing brings it back
}

// Sound tells whether nothing is damaged.
func (r Report) Sound() bool { return len(r.Log) == 0 && len(r.Contents) == 0 }

// Check looks for damage: in the log, and in the contents that it names.
func (s *Store) Check(id string) (Report, error) {
	id, root, err := s.find(id)
	if err != nil {
		return Report{}, err
	}
	defer root.Close()
	raw, err := root.ReadFile(filepath.Join(sessionPath(id), logName))
	if err != nil {
		return Report{}, openError(id, err)
	}
	entries, notices, err := s.Read(id)
	if err != nil {
		return Report{}, err
	}
	r := Report{ID: id}
	if len(notices) > 0 {
		r.Log = notices[:len(notices)-1] // that nothing was removed is said where a session opens
	}
	paths := map[string]string{}
	for _, e := range entries {
		for _, c := range e.changes() {
			paths[strings.TrimPrefix(c.Before, linkPrefix)], paths[strings.TrimPrefix(c.After, linkPrefix)] = c.Path, c.Path
		}
	}
	for _, hash := range namedContents(raw) {
		_, err := s.blobs.Get(hash)
		if err == nil {
			continue
		}
		what := "a content " + hash[:12]
		if path := paths[hash]; path != "" {
			what = "a content of " + path
		}
		state := "is gone"
		if _, err := root.Lstat(blobPath(hash)); err == nil {
			state = "is damaged"
		} else if !errors.Is(err, os.ErrNotExist) {
			state = "cannot be read"
		}
		r.Contents = append(r.Contents, fmt.Sprintf("%s %s", what, state))
	}
	return r, nil
}

// contentName finds where a line names a content: a field that holds a hash and
// nothing else. A text that is one counts too: better a content too many is kept.
var contentName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"([a-z_]+)":"(?:link:)?([0-9a-f]{64})"`)
})

// namedContents lists the contents that a log names, each once. It reads bytes
// and not entries, so that what this version does not know counts as well.
func namedContents(log []byte) (hashes []string) {
	seen := map[string]bool{}
	for _, m := range contentName().FindAllSubmatch(log, -1) {
		field, hash := string(m[1]), string(m[2])
		if field != "text" && field != "note" && field != "title" && !seen[hash] {
			seen[hash] = true
			hashes = append(hashes, hash)
		}
	}
	slices.Sort(hashes)
	return hashes
}
