package session

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
)

// Info is what a list of sessions shows of one.
type Info struct {
	ID       string
	Title    string // the newest given to it, else the first line of the first prompt; "" where that is damaged
	Created  time.Time
	Changed  time.Time // when something was last written
	Messages int       // by the person and by the model
	Changes  int       // of files, those that were taken back left out
	Size     int64     // of the log, in bytes
	Open     bool      // in a process, possibly this one
}

// Latest is the session that was written last, of those that are preferred where
// there are some; nil prefers all. [ErrNoSession] says that there is none.
func (s *Store) Latest(prefers func(id string) bool) (Info, error) {
	list, err := s.List()
	if err != nil {
		return Info{}, err
	}
	if len(list) == 0 {
		return Info{}, fmt.Errorf("%w: nothing was said in %s yet", ErrNoSession, s.workspace)
	}
	if prefers != nil {
		for _, info := range list {
			if prefers(info.ID) {
				return info, nil
			}
		}
	}
	return list[0], nil
}

// List is all sessions in which something was said, the one written last
// first. It reads the two ends of each log. A damaged session is listed too.
func (s *Store) List() ([]Info, error) {
	root, err := s.root()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	sessions, err := root.OpenRoot(sessionsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the sessions in %s cannot be listed: %w", s.Dir(), err)
	}
	defer sessions.Close()
	ids, err := sessionIDs(root)
	if err != nil {
		return nil, fmt.Errorf("the sessions in %s cannot be listed: %w", s.Dir(), err)
	}
	var (
		infos = make([]Info, len(ids))
		next  atomic.Int64
		group sync.WaitGroup
	)
	for range min(runtime.GOMAXPROCS(0), 8) {
		group.Go(func() {
			head := bufio.NewReaderSize(nil, headSize)
			for i := next.Add(1) - 1; i < int64(len(ids)); i = next.Add(1) - 1 {
				if info, ok := readInfo(sessions, ids[i], head); ok {
					infos[i] = info
				}
			}
		})
	}
	group.Wait()
	list := slices.DeleteFunc(infos, func(i Info) bool { return i.ID == "" })
	slices.SortFunc(list, func(a, b Info) int {
		return cmp.Or(b.Changed.Compare(a.Changed), strings.Compare(b.ID, a.ID))
	})
	return list, nil
}

const (
	headSize = 8 << 10 // bytes read at once at the head of a log
	headMost = 1 << 20 // bytes in which the first prompt is looked for
	tailSize = 256     // bytes, more than the end of a line with its tally
)

// readInfo reads what a list shows of a session; false where there is none, or
// nothing was said in it.
func readInfo(sessions *os.Root, id string, head *bufio.Reader) (Info, bool) {
	parsed, err := ulid.ParseStrict(id)
	if err != nil {
		return Info{}, false
	}
	f, err := sessions.Open(filepath.Join(id, logName))
	if err != nil {
		return Info{}, false
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil || !stat.Mode().IsRegular() {
		return Info{}, false
	}
	info := Info{
		ID: id, Created: ulid.Time(parsed.Time()), Changed: stat.ModTime(), Size: stat.Size(),
		Open: isLocked(sessions, filepath.Join(id, lockName)),
	}
	head.Reset(io.NewSectionReader(f, 0, headMost))
	prompt, whole := firstPrompt(head)
	t, ok := readTally(f, info.Size)
	if !ok {
		// The end is damaged, so the log is read as a whole.
		got, err := readLog(io.NewSectionReader(f, 0, info.Size))
		if err != nil {
			return Info{}, false
		}
		t, whole = got.tally, len(got.notices) == 0
	}
	info.Messages, info.Changes, info.Title = t.Messages, max(0, t.Changes), titleLine(prompt)
	if title := readTitle(f, t.TitleAt); title != "" {
		info.Title = title
	}
	return info, info.Messages > 0 || !whole
}

// firstPrompt reads the text of the first message of the person. It also tells
// whether every line that it read was whole.
func firstPrompt(r *bufio.Reader) (text string, whole bool) {
	whole = true
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			var rest []byte
			line = bytes.Clone(line)
			rest, err = r.ReadBytes('\n')
			line = append(line, rest...)
		}
		if err != nil && len(line) == 0 {
			return "", whole
		}
		l := newLineRead(line)
		if l.err == errDamaged || l.lost > 0 {
			whole = false
		}
		if l.err == nil && !l.empty && l.entry.Kind == KindMessage && l.entry.Message.Role == RoleUser && l.entry.Message.Parent == "" {
			return l.entry.Message.Text, whole
		}
		if err != nil {
			return "", whole
		}
	}
}

func readTally(f io.ReaderAt, size int64) (tally, bool) {
	at := max(0, size-tailSize)
	tail := make([]byte, size-at)
	if _, err := f.ReadAt(tail, at); err != nil {
		return tally{}, false
	}
	return tailTally(tail)
}

// readTitle reads the title whose line begins at the given byte; "" where there is none.
func readTitle(f io.ReaderAt, at int64) string {
	if at <= 0 {
		return ""
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f, at, headMost), 512)
	line, err := r.ReadBytes('\n')
	if err != nil {
		return ""
	}
	l := newLineRead(line)
	if l.err != nil || l.entry.Kind != KindTitle {
		return ""
	}
	return titleLine(l.entry.Title)
}

// titleLine is the first line of a text that has something to show, at most
// titleMost characters of it.
func titleLine(text string) string {
	const titleMost = 200
	for line := range strings.Lines(text) {
		line = strings.Join(strings.FieldsFunc(line, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r)
		}), " ")
		if line == "" {
			continue
		}
		if utf8.RuneCountInString(line) > titleMost {
			line = string([]rune(line)[:titleMost-1]) + "…"
		}
		return line
	}
	return ""
}
