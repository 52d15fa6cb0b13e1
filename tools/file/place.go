package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// maxReadWait is how long a read may wait for a file that has nothing to give.
const maxReadWait = 500 * time.Millisecond

// place is a name in a directory that is held open. The way there was walked by
// descriptor, one name at a time, and every name was a real directory: a link
// that is swapped in after the path was resolved is refused, never followed.
type place struct {
	dir     *os.Root // the parent, or its nearest ancestor that exists
	name    string   // the file's name in the parent
	path    string   // resolved and absolute
	missing []string // names of the directories between dir and the file
}

// openPlace walks from root, or without one from the nearest directory that
// exists, to the parent of a resolved path.
func openPlace(root, path string) (*place, error) {
	start := root
	if start == "" {
		start = filepath.Dir(path)
		for !isDir(start) && filepath.Dir(start) != start {
			start = filepath.Dir(start)
		}
	}
	rel, err := filepath.Rel(start, path)
	if err != nil {
		return nil, err
	}
	if rel == "." {
		return nil, notRegular(path, fs.ModeDir)
	}
	dir, err := openDir(start)
	if err != nil {
		return nil, err
	}
	names := strings.Split(rel, string(filepath.Separator))
	p := &place{dir: dir, path: path, name: names[len(names)-1]}
	for i, name := range names[:len(names)-1] {
		err := p.step(name)
		if errors.Is(err, fs.ErrNotExist) {
			p.missing = names[i : len(names)-1]
			break
		}
		if err != nil {
			p.close()
			return nil, err
		}
	}
	return p, nil
}

// openFile opens the place of a resolved path where there must be a regular file.
func openFile(root, path string) (*place, fs.FileInfo, error) {
	p, err := openPlace(root, path)
	if err != nil {
		return nil, nil, err
	}
	info, err := p.lstat()
	if err == nil && info == nil {
		err = p.notExist()
	}
	if err != nil {
		p.close()
		return nil, nil, err
	}
	return p, info, nil
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// openDir opens a resolved directory, and refuses a link in its place.
func openDir(path string) (*os.Root, error) {
	if real, err := resolveLinks(path); err != nil {
		return nil, err
	} else if real != path {
		return nil, fmt.Errorf("%s was replaced by a link to %s", path, real)
	}
	dir, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	is, err1 := dir.Stat(".")
	at, err2 := os.Lstat(path)
	if err1 != nil || err2 != nil || !os.SameFile(is, at) {
		dir.Close()
		return nil, fmt.Errorf("%s was replaced while it was opened", path)
	}
	return dir, nil
}

// step goes down into a directory of p.dir, which must be a real one.
func (p *place) step(name string) error {
	at := filepath.Join(p.dir.Name(), name)
	sub, err := p.dir.OpenRoot(name)
	if err != nil {
		if info, lerr := p.dir.Lstat(name); lerr == nil && !info.IsDir() {
			return fmt.Errorf("%s is not a directory", at)
		}
		return fmt.Errorf("%s: %w", at, unwrapPath(err))
	}
	entry, err1 := p.dir.Lstat(name)
	is, err2 := sub.Stat(".")
	if err1 != nil || err2 != nil || !entry.IsDir() || !os.SameFile(entry, is) {
		sub.Close()
		return fmt.Errorf("%s was replaced while it was opened", at)
	}
	p.dir.Close()
	p.dir = sub
	return nil
}

func (p *place) close() { p.dir.Close() }

// lstat returns what is at the place: nil when nothing is, an error when it is
// not a regular file.
func (p *place) lstat() (fs.FileInfo, error) {
	if len(p.missing) > 0 {
		return nil, nil
	}
	info, err := p.dir.Lstat(p.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, unwrapPath(err))
	}
	if !info.Mode().IsRegular() {
		return nil, notRegular(p.path, info.Mode())
	}
	return info, nil
}

// notExist is the error of a file that must exist. It names one that was meant, maybe.
func (p *place) notExist() error {
	if len(p.missing) > 0 {
		return missing(fmt.Sprintf("%s does not exist, nor does the directory %s", p.path, filepath.Join(p.dir.Name(), p.missing[0])))
	}
	hint := ""
	if f, err := p.dir.Open("."); err == nil {
		defer f.Close()
		best, want := 0.6, likenessTo(strings.ToLower(p.name)) // less alike is no help
		names, _ := f.Readdirnames(2000)
		for _, name := range names {
			if score := want.of(strings.ToLower(name)); score > best {
				best, hint = score, "; did you mean "+filepath.Join(p.dir.Name(), name)+"?"
			}
		}
	}
	return missing(fmt.Sprintf("%s does not exist%s", p.path, hint))
}

// open opens the regular file of the given lstat, and never blocks.
func (p *place) open(at fs.FileInfo, flag int) (*os.File, fs.FileInfo, error) {
	f, err := p.dir.OpenFile(p.name, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.path, unwrapPath(err))
	}
	// Some files below /proc wait for news. This has no effect on others.
	_ = f.SetReadDeadline(time.Now().Add(maxReadWait))
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !os.SameFile(at, info) {
		f.Close()
		return nil, nil, fmt.Errorf("%s was replaced while it was opened; try again", p.path)
	}
	return f, info, nil
}

// read returns the content of the file, at most limit bytes; 0 is no limit.
func (p *place) read(at fs.FileInfo, limit int64) ([]byte, fs.FileInfo, error) {
	if limit > 0 && at.Size() > limit {
		return nil, nil, &TooLargeError{Path: p.path, Size: at.Size(), Limit: limit}
	}
	f, info, err := p.open(at, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := readUpTo(f, info.Size(), limit)
	switch {
	case errors.Is(err, ErrFileTooLarge):
		return nil, nil, &TooLargeError{Path: p.path, Size: max(int64(len(data)), info.Size()), Limit: limit}
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", p.path, unwrapPath(err))
	}
	return data, info, nil
}

// holds tells whether the file holds exactly the given content.
func (p *place) holds(at fs.FileInfo, content []byte) (bool, error) {
	f, info, err := p.open(at, os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if info.Size() != int64(len(content)) {
		return false, nil
	}
	block := make([]byte, 64<<10)
	for {
		n, err := f.Read(block)
		if n > len(content) || !bytes.Equal(block[:n], content[:n]) {
			return false, nil
		}
		content = content[n:]
		if err == io.EOF {
			return len(content) == 0, nil
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", p.path, unwrapPath(err))
		}
	}
}

// readUpTo reads all of r. Files below /proc say that they have no bytes, and
// others grow meanwhile: the size is only a hint.
func readUpTo(r io.Reader, size, limit int64) ([]byte, error) {
	data := make([]byte, 0, max(size, 0)+512)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if limit > 0 && int64(len(data)) > limit {
			return data, ErrFileTooLarge
		}
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// unwrapPath takes away the inner name of a path error; callers name the whole path.
func unwrapPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
