package session

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
)

// ErrNoMessage says that a session has no such message of the person.
var ErrNoMessage = errors.New("the session has no such message of yours")

// Fork copies a session, also one that is open elsewhere, and returns the copy's
// id. before is the number of the entry of the person's message that the copy
// ends before; 0 copies everything. Notices name what of the log was damaged.
func (s *Store) Fork(id string, before int64, agentVersion string) (fork string, notices []string, err error) {
	entries, notices, err := s.Read(id)
	if err != nil {
		return "", nil, err
	}
	if before > 0 {
		r := Rewind{To: before}
		at := slices.IndexFunc(entries, r.goesTo)
		if at < 0 {
			return "", nil, ErrNoMessage
		}
		entries = entries[:at]
	}
	fork = ulid.Make().String()
	entries = forked(entries, Head{
		Version: formatVersion, ID: fork, Workspace: s.workspace, Agent: agentVersion,
		Fork: &Fork{ID: id, Before: before},
	})
	if err := s.writeLog(fork, entries); err != nil {
		return "", nil, fmt.Errorf("the session cannot be copied: %w", err)
	}
	return fork, notices, nil
}

// forked are the entries of a copy. Its numbers stay, because entries name each
// other by them. A turn that runs goes on in the other session alone.
func forked(entries []Entry, head Head) []Entry {
	out := []Entry{{Seq: 1, Time: time.Now().UTC(), Kind: KindHead, Head: &head}}
	if len(entries) > 0 && entries[0].Kind == KindHead {
		head.Workspace = entries[0].Head.Workspace // paths are of there
		out[0].Seq = entries[0].Seq
		entries = entries[1:]
	}
	var last, ended int
	for _, e := range entries {
		if e.Kind == KindTurn {
			ended = max(ended, e.Step)
		}
		last = max(last, e.Step)
		out = append(out, e)
	}
	add := func(e Entry) {
		e.Seq, e.Time = out[len(out)-1].Seq+1, time.Now().UTC()
		out = append(out, e)
	}
	if last > ended {
		add(Entry{Kind: KindTurn, Step: last, Turn: &Turn{Outcome: OutcomeInterrupted}})
	}
	if title := TitleOf(entries); title != "" {
		add(Entry{Kind: KindTitle, Title: title + " (fork)"})
	}
	return out
}

// writeLog makes a session of numbered entries. On an error nothing is left of it.
func (s *Store) writeLog(id string, entries []Entry) (err error) {
	root, err := s.prepare()
	if err != nil {
		return err
	}
	defer root.Close()
	f, lk, err := makeLog(root, id)
	if err != nil {
		return err
	}
	defer func() {
		lk.release()
		if err = errors.Join(err, f.Close()); err != nil {
			_ = root.RemoveAll(sessionPath(id))
		}
	}()
	if err := writeEntries(f, entries); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	s.syncDirs(id)
	return nil
}

func writeEntries(f *os.File, entries []Entry) error {
	var (
		t    tally
		size int64
	)
	for _, e := range entries {
		t = t.add(e, size)
		line, err := encodeLine(e, t)
		if err != nil {
			return err
		}
		if _, err := f.Write(line); err != nil {
			return err
		}
		size += int64(len(line))
	}
	return nil
}
