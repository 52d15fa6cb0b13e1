package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// plan is a change that passed every check and is not written yet. Preview and
// call make it with the same code, so that they fail alike (FILE-55).
type plan struct {
	place    *place
	change   Change
	was      fs.FileInfo // of the file that is replaced; nil for a new one
	replaced int         // how many places an edit replaced
	at       places      // where
}

// output is the result of an edit.
func (p *plan) output() *EditOutput {
	return &EditOutput{Replacements: p.replaced, Lines: p.at.lines(p.change.After)}
}

// plan runs every check of a change to a file of at most limit bytes; 0 is no limit.
// edit makes the content after from the one before. The caller closes the plan's place.
func (o *options) plan(path string, limit int64, mustExist bool, edit func(p *plan) error) (*plan, error) {
	if n := len(path); n > 0 && os.IsPathSeparator(path[n-1]) {
		return nil, fmt.Errorf("%s names a directory, not a file: it ends in a separator", path)
	}
	root, resolved, err := o.resolve(path, false)
	if err != nil {
		return nil, err
	}
	pl, err := openPlace(root, resolved)
	if err != nil {
		return nil, err
	}
	p, err := o.planAt(pl, limit, mustExist, edit)
	if err != nil {
		pl.close()
		return nil, err
	}
	return p, nil
}

func (o *options) planAt(pl *place, limit int64, mustExist bool, edit func(p *plan) error) (*plan, error) {
	p := &plan{place: pl, change: Change{Path: pl.path, Perm: 0o644 &^ umask()}}
	info, err := pl.lstat()
	if err != nil {
		return nil, err
	}
	if info == nil && mustExist {
		return nil, pl.notExist()
	}
	if info != nil {
		if p.change.Before, p.was, err = pl.read(info, limit); err != nil {
			return nil, err
		}
		if err := o.tracker.check(pl.path, p.change.Before, p.was); err != nil {
			return nil, err
		}
		if err := pl.writable(p.was); err != nil {
			return nil, err
		}
		p.change.Existed = true
		p.change.Perm = p.was.Mode() & keptMode
	}
	if err := edit(p); err != nil {
		return nil, fmt.Errorf("%s: %w", pl.path, err)
	}
	at := pl.dir.Name()
	for _, name := range pl.missing {
		at = filepath.Join(at, name)
		p.change.Dirs = append(p.change.Dirs, at)
	}
	return p, nil
}

// preview is the end of every Preview.
func preview(p *plan, err error) (*Change, error) {
	if err != nil {
		return nil, err
	}
	p.place.close()
	return &p.change, nil
}

// finish is the end of every call: it writes what was planned.
func (o *options) finish(ctx context.Context, p *plan, err error) error {
	if err != nil {
		return err
	}
	defer p.place.close()
	return o.commit(ctx, p)
}

// commit writes a plan: the hook before, the file, the tracker, the hook after.
func (o *options) commit(ctx context.Context, p *plan) error {
	c := p.change
	if c.Existed && bytes.Equal(c.Before, c.After) {
		o.tracker.Seen(c.Path, c.After)
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.beforeWrite != nil {
		if err := o.beforeWrite(ctx, c); err != nil {
			return err
		}
	}
	if err := p.place.write(c.After, c.Perm, p.was, p.unchanged); err != nil {
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if o.noOverwrite {
			return fmt.Errorf("%s: %w", c.Path, ErrFileExists)
		}
		return &ChangedError{Path: c.Path, Since: sinceChecked}
	}
	o.tracker.Seen(c.Path, c.After)
	return o.written(ctx, c)
}

// written runs the hook. The change is on disk: a hook that panics cannot take
// that back, so the call's result says both.
func (o *options) written(ctx context.Context, c Change) (err error) {
	if o.onWrite == nil {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s was written, but the program failed afterwards: %v", c.Path, r)
		}
	}()
	o.onWrite(ctx, c)
	return nil
}

// sinceChecked says that a file changed while its change was being written.
const sinceChecked = "the change was checked"

// unchanged compares the file with what the plan was made from, in the last moment (FILE-69).
func (p *plan) unchanged() error {
	info, err := p.place.lstat()
	if err != nil {
		return err
	}
	if info == nil {
		if p.was == nil {
			return nil
		}
		return &ChangedError{Path: p.change.Path, Since: sinceChecked, Gone: true}
	}
	if p.was == nil {
		return fs.ErrExist
	}
	same, err := p.place.holds(info, p.change.Before)
	if err != nil || same {
		return err
	}
	changed := &ChangedError{Path: p.change.Path, Since: sinceChecked}
	if now, _, err := p.place.read(info, int64(len(p.change.Before))+keptFile); err == nil {
		changed.Hunks = Hunks(p.change.Before, now, 1)
	}
	return changed
}
