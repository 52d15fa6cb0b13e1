package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
)

// A line of a log is an entry as JSON, with two more fields at its end:
//
//	{"seq":7,"time":…,"kind":"message",…,"log":{"messages":4},"sum":"9a3c01ff"}
//
// The sum is the CRC-32C of everything before its comma.

const (
	formatVersion = 1

	// maxLine is the longest line in bytes that is written or read, so that a
	// log which somebody else made cannot eat the memory.
	maxLine = 256 << 20

	sumStart  = `,"sum":"`
	sumLen    = len(sumStart) + 8 + len(`"}`)
	seqStart  = `{"seq":`
	tallyMark = `,"log":{`
)

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// tally is what the log holds up to a line's end. It stands in each line, so
// that a list of sessions needs only the two ends of their logs.
type tally struct {
	Messages int   `json:"messages"`           // by the person and by the model, sub-agents' left out
	Changes  int   `json:"changes,omitempty"`  // of files, those that were taken back left out
	TitleAt  int64 `json:"title_at,omitempty"` // where the line of the newest title begins, in bytes
}

// add counts an entry whose line begins at offset.
func (t tally) add(e Entry, offset int64) tally {
	switch e.Kind {
	case KindMessage:
		if e.Message.Parent == "" && e.Message.Role != RoleTool {
			t.Messages++
		}
	case KindDone:
		t.Changes++
	case KindFound:
		t.Changes += len(e.Found.Changes)
	case KindUndo:
		if e.Undo.Redo {
			t.Changes += len(e.Undo.Changes)
		} else {
			t.Changes -= len(e.Undo.Changes)
		}
	case KindTitle:
		t.TitleAt = offset
	}
	return t
}

// encodeLine makes the line of a whole entry, with its line end.
func encodeLine(e Entry, t tally) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("the entry cannot be written as JSON: %w", err)
	}
	b.Truncate(b.Len() - len("}\n"))
	line := seal(b.Bytes(), t)
	if len(line) > maxLine {
		return nil, fmt.Errorf("an entry of %d MB is too large for the log: at most %d MB", len(line)>>20, maxLine>>20)
	}
	return line, nil
}

// seal ends a line that has its entry: with the tally, the sum and the line end.
func seal(line []byte, t tally) []byte {
	text, _ := json.Marshal(t) // of numbers it cannot fail
	line = append(line, `,"log":`...)
	line = append(line, text...)
	return fmt.Appendf(line, sumStart+`%08x"}`+"\n", crc32.Checksum(line, castagnoli()))
}

// Why a line gives no entry.
var (
	errDamaged  = errors.New("damaged")
	errNewer    = errors.New("of a kind that this version does not know")
	errNotWhole = errors.New("not understood")
)

// decodeLine reads a line without its line end. An entry of an unknown kind
// comes back beside errNewer, with its kind.
func decodeLine(line []byte) (Entry, error) {
	var e Entry
	if !sumHolds(line) {
		return e, errDamaged
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return e, errNotWhole
	}
	if !e.Kind.known() {
		return e, errNewer
	}
	if !e.whole() {
		return e, errNotWhole
	}
	if e.Change != nil {
		e.Change.restorePath()
	}
	if e.Found != nil {
		for i := range e.Found.Changes {
			e.Found.Changes[i].restorePath()
		}
	}
	return e, nil
}

func (c *Change) restorePath() {
	if c.RawPath != nil {
		c.Path = string(c.RawPath)
	}
}

func sumHolds(line []byte) bool {
	n := len(line) - sumLen
	if n < 0 || !bytes.HasPrefix(line[n:], []byte(sumStart)) {
		return false
	}
	sum := fmt.Appendf(nil, `%08x"}`, crc32.Checksum(line[:n], castagnoli()))
	return bytes.Equal(line[n+len(sumStart):], sum)
}

// rescueLine looks for a good entry at the end of a bad line: behind the NULs of
// a power loss, or behind the torn line of another writer. It also tells how
// many bytes before the entry are lost.
func rescueLine(line []byte) (e Entry, lost int, err error) {
	// A bound, because each try reads the rest of the line.
	const tries = 8
	line = bytes.TrimRight(line, "\x00\r")
	end := len(line)
	for range tries {
		at := bytes.LastIndex(line[:end], []byte(seqStart))
		if at < 0 {
			break
		}
		if e, err := decodeLine(line[at:]); err != errDamaged {
			return e, at, err
		}
		end = at
	}
	return Entry{}, len(line), errDamaged
}

// tailTally reads the tally of the last line from the last bytes of a log.
func tailTally(tail []byte) (tally, bool) {
	at := bytes.LastIndex(tail, []byte(tallyMark))
	if at < 0 || !bytes.HasSuffix(tail, []byte("\"}\n")) {
		return tally{}, false
	}
	var l struct {
		Log tally  `json:"log"`
		Sum string `json:"sum"`
	}
	text := append([]byte("{"), tail[at+1:]...)
	if err := json.Unmarshal(text, &l); err != nil || len(l.Sum) != 8 {
		return tally{}, false
	}
	return l.Log, true
}

func (k Kind) known() bool {
	switch k {
	case KindHead, KindMessage, KindNote, KindTodo, KindChange, KindDone, KindFound, KindUndo, KindTurn, KindTitle, KindModel, KindCompact, KindRewind, KindRepair:
		return true
	}
	return false
}

// whole tells whether the field that the kind names is there. A list, a note or
// a title may be empty.
func (e Entry) whole() bool {
	switch e.Kind {
	case KindHead:
		return e.Head != nil
	case KindMessage:
		return e.Message != nil
	case KindChange:
		return e.Change != nil
	case KindDone:
		return e.Done != ""
	case KindFound:
		return e.Found != nil
	case KindUndo:
		return e.Undo != nil
	case KindTurn:
		return e.Turn != nil
	case KindRepair:
		return e.Repair != nil
	case KindRewind:
		return e.Rewind != nil && e.Rewind.To > 0
	case KindCompact:
		return e.Compact != nil && (e.Compact.Text == "" || e.Compact.Keep > 0)
	}
	return e.Kind != ""
}
