package session

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

const (
	blobsDir = "blobs"

	// maxBlob is the largest content that is kept, in bytes.
	maxBlob = 1 << 30
)

// ErrNoBlob says that a content is not kept, or not any more.
var ErrNoBlob = errors.New("the content is not kept")

// Blobs keeps contents by their SHA-256, compressed with gzip (UNDO-12).
// Its methods may be called at the same time, by many processes.
type Blobs struct {
	store *Store // nil: in memory

	mu      sync.Mutex
	memory  map[string][]byte // what is on no disk
	trouble error             // of the disk, not told yet
}

// UnsavedBlobs makes a store of contents in memory, for a log that is [Unsaved]:
// changes can be undone as long as the program runs.
func UnsavedBlobs() *Blobs { return &Blobs{memory: map[string][]byte{}} }

// Hash is the name of a content: its SHA-256 in hexadecimal.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Put keeps a content and returns its hash. The content is on the disk when Put
// returns. A content that is there and whole is not written again. Where the disk
// does not take it, it is kept in memory until the disk does, and [Blobs.Trouble]
// tells: the work goes on, and can be undone as long as the program runs.
func (b *Blobs) Put(data []byte) (hash string, err error) { return b.put(data, true) }

// PutSoon is Put without the wait for the disk: the content outlives the program,
// but perhaps not the power. Get tells when it did not.
func (b *Blobs) PutSoon(data []byte) (hash string, err error) { return b.put(data, false) }

func (b *Blobs) put(data []byte, wait bool) (hash string, err error) {
	hash = Hash(data)
	if len(data) > maxBlob {
		return hash, fmt.Errorf("a content of %d MB is too large to be kept: at most %d MB", len(data)>>20, maxBlob>>20)
	}
	if b.store != nil {
		if err = b.write(hash, data, wait); err == nil {
			b.empty()
			return hash, nil
		}
		err = fmt.Errorf("contents cannot be kept in %s: %w", b.store.Dir(), err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.memory == nil {
		b.memory = map[string][]byte{}
	}
	b.memory[hash] = bytes.Clone(data)
	b.trouble = cmp.Or(b.trouble, err)
	return hash, nil
}

func (b *Blobs) write(hash string, data []byte, wait bool) error {
	root, err := b.store.prepare()
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := readBlob(root, hash); err == nil {
		now := time.Now()
		_ = root.Chtimes(blobPath(hash), now, now) // so that nobody drops it who removes another session now
		return nil
	}
	return writeBlob(root, hash, data, wait)
}

// empty writes what is in memory, once the disk takes contents again.
func (b *Blobs) empty() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for hash, data := range b.memory {
		if b.write(hash, data, true) != nil {
			return
		}
		delete(b.memory, hash)
	}
}

// Trouble is why contents are kept in memory, if that is news since the last call.
func (b *Blobs) Trouble() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.trouble
	b.trouble = nil
	return err
}

// Get returns the content of a hash, checked. [ErrNoBlob] says that it is gone or damaged.
func (b *Blobs) Get(hash string) ([]byte, error) {
	if raw, err := hex.DecodeString(hash); err != nil || len(raw) != sha256.Size {
		return nil, fmt.Errorf("%w: %q is no hash", ErrNoBlob, hash)
	}
	b.mu.Lock()
	data, ok := b.memory[hash]
	b.mu.Unlock()
	if ok {
		return bytes.Clone(data), nil
	}
	if b.store == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoBlob, hash)
	}
	root, err := b.store.root()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoBlob, err)
	}
	defer root.Close()
	return readBlob(root, hash)
}

func blobPath(hash string) string { return filepath.Join(blobsDir, hash[:2], hash) }

func readBlob(root *os.Root, hash string) ([]byte, error) {
	f, err := root.Open(blobPath(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoBlob, hash)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var data []byte
	z, err := gzip.NewReader(f)
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(z, maxBlob+1))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s is damaged: %w", ErrNoBlob, hash, err)
	}
	if Hash(data) != hash {
		return nil, fmt.Errorf("%w: %s is damaged", ErrNoBlob, hash)
	}
	return data, nil
}

// writeBlob writes beside the place and renames, so that nobody ever sees half a content.
func writeBlob(root *os.Root, hash string, data []byte, wait bool) error {
	name := blobPath(hash)
	if err := root.MkdirAll(filepath.Dir(name), dirPerm); err != nil {
		return err
	}
	part := filepath.Join(filepath.Dir(name), "."+ulid.Make().String())
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return err
	}
	err = compress(f, data)
	if err == nil && wait {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(part, name)
	}
	if err != nil {
		_ = root.Remove(part)
		return err
	}
	if !wait {
		return nil
	}
	if d, err := root.Open(filepath.Dir(name)); err == nil {
		_ = d.Sync()
		d.Close()
	}
	return nil
}

func compress(w io.Writer, data []byte) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	return z.Close()
}
