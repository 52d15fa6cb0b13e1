package file

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io/fs"
	"sync"
	"time"
)

// What a tracker keeps of the contents, for the diff of a [ChangedError].
const (
	keptFile  = 1 << 20  // bytes of the largest content that is kept
	keptTotal = 16 << 20 // bytes of all contents
)

// ReadTracker knows which contents the model has seen. It compares contents, not
// times: a file that was only touched is not changed, and other bytes of the same
// size and time are (FILE-62). Files are known by their resolved path. It is safe
// for concurrent use.
type ReadTracker struct {
	mu    sync.Mutex
	seed  maphash.Seed
	files map[string]*sight
	kept  []string // paths with content, oldest first
	bytes int      // of all contents
}

// sight is what was seen of one file. A file beyond the size limit is read in
// parts only, and known by size and time.
type sight struct {
	sum     uint64
	content []byte // nil when it was not kept
	partial bool
	size    int64
	time    time.Time
}

// NewReadTracker returns a tracker that has seen nothing.
func NewReadTracker() *ReadTracker {
	return &ReadTracker{seed: maphash.MakeSeed(), files: map[string]*sight{}}
}

// Reset forgets every read, for a new session with the same tools.
func (t *ReadTracker) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files, t.kept, t.bytes = map[string]*sight{}, nil, 0
}

// Seen says that the model knows the content of the file at a resolved path:
// from a read, or because the agent itself wrote it.
func (t *ReadTracker) Seen(path string, content []byte) {
	if t == nil {
		return
	}
	s := &sight{sum: maphash.Bytes(t.seed, content), size: int64(len(content))}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(path)
	if len(content) <= keptFile {
		s.content = bytes.Clone(content)
		if s.content == nil {
			s.content = []byte{}
		}
		t.kept = append(t.kept, path)
		t.bytes += len(content)
	}
	t.files[path] = s
	for t.bytes > keptTotal {
		oldest := t.kept[0]
		sum := *t.files[oldest]
		t.drop(oldest)
		sum.content = nil
		t.files[oldest] = &sum
	}
}

// seenPart says that a part of a file was read that is too large to be read whole.
func (t *ReadTracker) seenPart(path string, info fs.FileInfo) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(path)
	t.files[path] = &sight{partial: true, size: info.Size(), time: info.ModTime()}
}

// drop forgets one file; the mutex is held.
func (t *ReadTracker) drop(path string) {
	s := t.files[path]
	if s == nil {
		return
	}
	delete(t.files, path)
	if s.content == nil {
		return
	}
	t.bytes -= len(s.content)
	for i, p := range t.kept {
		if p == path {
			t.kept = append(t.kept[:i], t.kept[i+1:]...)
			break
		}
	}
}

// check compares an existing file with what was seen of it.
func (t *ReadTracker) check(path string, content []byte, info fs.FileInfo) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	s := t.files[path]
	t.mu.Unlock()
	switch {
	case s == nil:
		return fmt.Errorf("%s: %w", path, ErrFileNotRead)
	case s.partial:
		if s.size == info.Size() && s.time.Equal(info.ModTime()) {
			return nil
		}
		return &ChangedError{Path: path}
	case s.size == int64(len(content)) && s.sum == maphash.Bytes(t.seed, content):
		return nil
	case s.content == nil:
		return &ChangedError{Path: path}
	}
	return &ChangedError{Path: path, Hunks: Hunks(s.content, content, 1)}
}
