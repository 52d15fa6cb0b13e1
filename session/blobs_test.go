package session

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestBlobsKeepBytes(t *testing.T) { // UNDO-12
	random := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{}).Read(random)
	for name, b := range map[string]*Blobs{"disk": newStore(t).Blobs(), "memory": UnsavedBlobs()} {
		t.Run(name, func(t *testing.T) {
			for _, data := range [][]byte{nil, []byte("text\r\n"), {0xff, 0, 0xfe}, random, bytes.Repeat([]byte("a"), 5<<20)} {
				hash := must[string](t)(b.Put(data))
				if again := must[string](t)(b.Put(data)); again != hash || hash != Hash(data) {
					t.Errorf("hashes %s and %s", hash, again)
				}
				if got := must[[]byte](t)(b.Get(hash)); !bytes.Equal(got, data) {
					t.Errorf("%d bytes came back as %d", len(data), len(got))
				}
			}
			for _, hash := range []string{Hash([]byte("none")), "", "ab", "../../../etc/passwd", strings.Repeat("/", 64)} {
				if _, err := b.Get(hash); !errors.Is(err, ErrNoBlob) {
					t.Errorf("get %q: %v", hash, err)
				}
			}
		})
	}
}

func TestBlobsAreSmallAndReadable(t *testing.T) {
	s := newStore(t)
	data := bytes.Repeat([]byte("package session\n"), 10000)
	path := filepath.Join(s.Dir(), blobPath(must[string](t)(s.Blobs().Put(data))))
	f := must[*os.File](t)(os.Open(path))
	defer f.Close()
	if info := must[os.FileInfo](t)(f.Stat()); info.Size() > int64(len(data)/20) {
		t.Errorf("%d bytes take %d", len(data), info.Size())
	}
	z := must[*gzip.Reader](t)(gzip.NewReader(f))
	if got := must[[]byte](t)(io.ReadAll(z)); !bytes.Equal(got, data) {
		t.Error("zcat would show something else")
	}
}

func TestDamagedBlob(t *testing.T) {
	s := newStore(t)
	data := bytes.Repeat([]byte("content"), 100)
	hash := must[string](t)(s.Blobs().Put(data))
	path := filepath.Join(s.Dir(), blobPath(hash))
	whole := must[[]byte](t)(os.ReadFile(path))
	var other bytes.Buffer
	ok(t, compress(&other, []byte("other")))
	for name, bad := range map[string][]byte{
		"empty": nil, "torn": whole[:len(whole)-4], "NULs": make([]byte, len(whole)), "other content": other.Bytes(),
	} {
		t.Run(name, func(t *testing.T) {
			ok(t, os.WriteFile(path, bad, 0o600))
			if got, err := s.Blobs().Get(hash); !errors.Is(err, ErrNoBlob) || got != nil {
				t.Errorf("got %q, %v", got, err)
			}
			must[string](t)(s.Blobs().Put(data)) // heals
			if got := must[[]byte](t)(s.Blobs().Get(hash)); !bytes.Equal(got, data) {
				t.Error("not healed")
			}
		})
	}
}

func TestBlobsTogether(t *testing.T) {
	s := newStore(t)
	other := must[*Store](t)(OpenStore(s.workspace))
	var wg sync.WaitGroup
	for i := range 8 {
		b := []*Blobs{s.Blobs(), other.Blobs()}[i%2]
		wg.Go(func() {
			for _, text := range []string{"a", "b", "c"} {
				hash, err := b.Put([]byte(text))
				if err != nil {
					t.Error(err)
				}
				if got, err := b.Get(hash); err != nil || string(got) != text {
					t.Errorf("%q, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
	parts, err := filepath.Glob(filepath.Join(s.Dir(), blobsDir, "*", ".*"))
	if err != nil || len(parts) != 0 {
		t.Errorf("left behind: %q %v", parts, err)
	}
}
