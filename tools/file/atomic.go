package file

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// tempPrefix begins the names of temporary files. They are hidden, and a run that
// was killed leaves one that says whose it was.
const tempPrefix = ".phero-tmp-"

// keptMode are the bits of a mode that a file keeps when it is replaced.
const keptMode = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// WriteFileAtomic writes a file as the tools do: a temporary file beside it, then
// a rename. The mode is exactly perm, whatever the umask; owner, ACL and extended
// attributes of an existing file stay. Given a symlink it writes the link's
// target. The parent must exist (FILE-43).
func WriteFileAtomic(path string, data []byte, perm fs.FileMode) error {
	abs, err := absolute(path, "")
	if err != nil {
		return err
	}
	resolved, err := resolveLinks(abs)
	if err != nil {
		return err
	}
	p, err := openPlace("", resolved)
	if err != nil {
		return err
	}
	defer p.close()
	if len(p.missing) > 0 {
		return fmt.Errorf("%s: the directory does not exist: %w", filepath.Dir(resolved), fs.ErrNotExist)
	}
	was, err := p.lstat()
	if err != nil {
		return err
	}
	return p.write(data, perm&keptMode, was, func() error { return nil })
}

// write puts data at the place. was is the file that it replaces, nil for a new
// one; check runs in the last moment, and its error leaves all as it was.
func (p *place) write(data []byte, perm fs.FileMode, was fs.FileInfo, check func() error) (err error) {
	undo, err := p.mkdirs()
	defer func() { undo(err != nil) }()
	if err != nil {
		return err
	}
	temp, whole, err := p.temp(data, perm, was)
	if err != nil {
		return fmt.Errorf("%s was not written: %w", p.path, unwrapPath(err))
	}
	defer func() {
		if temp != "" {
			p.dir.Remove(temp)
		}
	}()
	if err := check(); err != nil {
		return err
	}
	if was == nil {
		err = p.dir.Link(temp, p.name) // unlike a rename it refuses a file that came up meanwhile
		if err == nil {
			return nil
		}
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s came up meanwhile: %w", p.path, fs.ErrExist)
		}
	}
	if !whole {
		return p.overwrite(data, perm, was)
	}
	err = p.dir.Rename(temp, p.name)
	switch {
	case err == nil:
		temp = ""
	case was != nil && mountPoint(err):
		return p.overwrite(data, perm, was)
	default:
		err = fmt.Errorf("%s was not written: %w", p.path, unwrapLink(err))
	}
	return err
}

// mkdirs makes the missing parents, and returns what must be called in the end:
// with true it takes them away again.
func (p *place) mkdirs() (done func(failed bool), err error) {
	if len(p.missing) == 0 {
		return func(bool) {}, nil
	}
	from, err := p.dir.OpenRoot(".")
	if err != nil {
		return func(bool) {}, err
	}
	made, names := 0, p.missing
	done = func(failed bool) {
		for ; failed && made > 0; made-- {
			from.Remove(filepath.Join(names[:made]...))
		}
		from.Close()
	}
	for _, name := range names {
		err := p.dir.Mkdir(name, 0o755)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return done, fmt.Errorf("%s: the directory %s cannot be made: %w", p.path, name, unwrapPath(err))
		}
		if err == nil {
			made++
		}
		if err := p.step(name); err != nil {
			return done, err
		}
	}
	p.missing = nil
	return done, nil
}

// temp writes a temporary file beside the place, with the mode and what else the
// old file has. whole is false when the new file could not be given all of that.
func (p *place) temp(data []byte, perm fs.FileMode, was fs.FileInfo) (name string, whole bool, err error) {
	name = tempPrefix + strings.ToLower(rand.Text())
	f, err := p.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", false, err
	}
	whole = was == nil || p.keep(f, was)
	if _, err = f.Write(data); err == nil {
		err = f.Chmod(perm) // after the write, which takes the setuid bit away
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		p.dir.Remove(name)
	}
	return name, whole, err
}

// overwrite writes into the file itself, where a rename would lose its owner or
// its ACL, or is not possible because the file is a mount of its own. The data
// was written beside it before, so that there is most likely room for it; when it
// fails all the same, the old content is put back.
func (p *place) overwrite(data []byte, perm fs.FileMode, was fs.FileInfo) error {
	f, _, err := p.open(was, os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	before, err := io.ReadAll(f)
	if err != nil {
		return fmt.Errorf("%s: %w", p.path, unwrapPath(err))
	}
	if err := fill(f, data); err != nil {
		if back := fill(f, before); back != nil {
			err = errors.Join(err, fmt.Errorf("the old content could not be put back: %w", back))
		}
		return fmt.Errorf("%s was not written: %w", p.path, err)
	}
	if perm == was.Mode()&keptMode {
		return nil
	}
	return f.Chmod(perm)
}

func fill(f *os.File, data []byte) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	return f.Sync()
}

// mountPoint tells whether a rename failed because the target is a mount.
func mountPoint(err error) bool {
	return errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV)
}

func unwrapLink(err error) error {
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return unwrapPath(err)
}

// writable refuses a file that says it is not to be written, although a rename
// could replace it.
func (p *place) writable(was fs.FileInfo) error {
	if was.Mode()&0o222 == 0 {
		return fmt.Errorf("%s is read-only (mode %04o): %w; make it writable first", p.path, was.Mode().Perm(), fs.ErrPermission)
	}
	if err := access(p.path); err != nil {
		return fmt.Errorf("%s is not writable: %w", p.path, err)
	}
	return nil
}
