package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// ErrSound says that a log needs no repair.
var ErrSound = errors.New("the log is not damaged")

// Repair says that a log is what was good of a damaged one, which was kept.
type Repair struct {
	Damage []string `json:"damage"` // in words
	Kept   string   `json:"kept"`   // the file's name, beside the log
}

// Repaired is what a repair did.
type Repaired struct {
	Kept    int    // lines that are in the new log
	Damaged string // where the log is that was damaged, as it was
}

// Repair writes the good lines of a damaged log into a new one in its place. The
// damaged log stays beside it, whole. A session that is open is refused with a
// *[LockedError], one whose log is sound with [ErrSound].
func (s *Store) Repair(id string) (Repaired, error) {
	id, root, err := s.find(id)
	if err != nil {
		return Repaired{}, err
	}
	defer root.Close()
	dir := sessionPath(id)
	old, err := root.Open(filepath.Join(dir, logName))
	if err != nil {
		return Repaired{}, openError(id, err)
	}
	defer old.Close()
	lk, err := takeLock(root, filepath.Join(dir, lockName), id)
	if err != nil {
		return Repaired{}, openError(id, err)
	}
	defer lk.release()
	got, err := readLog(old)
	if err != nil {
		return Repaired{}, openError(id, err)
	}
	if !got.harmed {
		return Repaired{}, ErrSound
	}
	fail := func(err error) (Repaired, error) {
		return Repaired{}, fmt.Errorf("session %s was not repaired: %w", id, err)
	}
	damaged, err := putAside(root, dir)
	if err != nil {
		return fail(err)
	}
	kept, text, err := s.goodLines(id, old, got, filepath.Base(damaged))
	if err != nil {
		return fail(err)
	}
	if err := replaceLog(root, dir, text); err != nil {
		return fail(err)
	}
	s.syncDirs(id)
	return Repaired{Kept: kept, Damaged: filepath.Join(s.Dir(), damaged)}, nil
}

// goodLines are the lines of a log that can be read, numbered as [Store.Open]
// numbers them, behind a head where that was lost, and what the repair was at the
// end. What a newer version wrote is good as well.
func (s *Store) goodLines(id string, old io.ReadSeeker, got reading, aside string) (kept int, text []byte, err error) {
	if _, err := old.Seek(0, io.SeekStart); err != nil {
		return 0, nil, err
	}
	var (
		out  bytes.Buffer
		t    tally
		last int64
	)
	add := func(e Entry) error {
		e.Time = time.Now().UTC()
		t, last = t.add(e, int64(out.Len())), e.Seq
		line, err := encodeLine(e, t)
		out.Write(line)
		return err
	}
	if len(got.entries) == 0 || got.entries[0].Kind != KindHead {
		head := Entry{Seq: 1, Kind: KindHead, Head: &Head{Version: formatVersion, ID: id, Workspace: s.workspace}}
		if len(got.entries) > 0 {
			head.Seq = max(1, got.entries[0].Seq-1)
		}
		if err := add(head); err != nil {
			return 0, nil, err
		}
	}
	err = splitBatches(old, maxLine, func(b *batch) {
		for line := range bytes.Lines(b.text) {
			line = bytes.TrimRight(line, "\n\x00\r")
			l := newLineRead(line)
			if l.empty || l.err != nil && l.err != errNewer {
				continue
			}
			seq := l.entry.Seq
			if l.err == nil {
				seq = max(seq, last+1)
				last = seq
				t = t.add(l.entry, int64(out.Len()))
			}
			out.Write(renumbered(line[l.lost:], seq, t))
			kept++
		}
	})
	if err != nil {
		return 0, nil, err
	}
	err = add(Entry{Seq: last + 1, Kind: KindRepair, Repair: &Repair{Damage: got.notices, Kept: aside}})
	return kept, out.Bytes(), err
}

// renumbered is a good line with another number and tally; its entry stays to the
// byte, also what this version does not know of it.
func renumbered(line []byte, seq int64, t tally) []byte {
	line = line[:len(line)-sumLen]
	if at := bytes.LastIndex(line, []byte(tallyMark)); at >= 0 {
		line = line[:at]
	}
	number := len(seqStart)
	for number < len(line) && '0' <= line[number] && line[number] <= '9' {
		number++
	}
	out := append([]byte(seqStart), strconv.FormatInt(seq, 10)...)
	out = append(out, line[number:]...)
	return seal(out, t)
}

// putAside keeps the damaged log under another name, beside itself.
func putAside(root *os.Root, dir string) (name string, err error) {
	for n := 1; ; n++ {
		name = filepath.Join(dir, fmt.Sprintf("damaged-%d.jsonl", n))
		err = root.Link(filepath.Join(dir, logName), name)
		if !errors.Is(err, os.ErrExist) {
			break
		}
	}
	if err == nil {
		return name, nil
	}
	// A file system without links.
	log, err := root.ReadFile(filepath.Join(dir, logName))
	if err != nil {
		return "", err
	}
	return name, writeNew(root, name, log)
}

func replaceLog(root *os.Root, dir string, text []byte) error {
	part := filepath.Join(dir, "repaired.part")
	if err := root.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := writeNew(root, part, text); err != nil {
		return err
	}
	return root.Rename(part, filepath.Join(dir, logName))
}

func writeNew(root *os.Root, name string, text []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
