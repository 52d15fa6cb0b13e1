package session

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestList(t *testing.T) { // SESS-02
	s := newStore(t)
	reply := Entry{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleAssistant, Text: "yes"}}
	tool := Entry{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleTool, CallID: "1"}}
	sub := Entry{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleUser, Text: "task", Parent: "1"}}
	title := func(text string) Entry { return Entry{Kind: KindTitle, Title: text} }
	long := strings.Repeat("long ", 100<<10)

	for i, c := range []struct {
		entries  []Entry
		messages int
		title    string
	}{
		{nil, 0, ""},
		{[]Entry{say("fix the\nbug")}, 1, "fix the"},
		{[]Entry{say("\n \t\n  two   words\x1b[31m\r\nmore"), reply, tool, sub}, 2, "two words [31m"},
		{[]Entry{say("first"), reply, title("given"), reply, say("x")}, 4, "given"},
		{[]Entry{say("first"), title("given"), title("new"), reply}, 2, "new"},
		{[]Entry{title("before"), say("first")}, 1, "before"},
		{[]Entry{say("first"), title("given"), title("")}, 1, "first"},
		{[]Entry{{Kind: KindNote, Note: long}, sub, say(long), reply}, 2, strings.Repeat("long ", 39) + "long…"},
		{[]Entry{say("ä" + strings.Repeat("ö", 300))}, 1, "ä" + strings.Repeat("ö", 198) + "…"},
		{[]Entry{say("a"), {Kind: KindMessage, Message: &Message{Role: RoleAssistant, Text: `{"seq":1,"log":{"messages":77},"sum":"12345678"}` + "\n"}}}, 2, "a"},
	} {
		l := create(t, s)
		put(t, l, c.entries...)
		if i == 1 {
			// A title's place is counted right behind a torn line, too.
			ok(t, l.Close())
			f := must[*os.File](t)(os.OpenFile(s.logPath(l.ID()), os.O_WRONLY|os.O_APPEND, 0))
			must[int](t)(f.WriteString(`{"seq":3,"ki`))
			ok(t, f.Close())
			l = first(t)(s.Open(l.ID()))
			put(t, l, reply)
			c.messages++
		}
		ok(t, l.Close())
		list := must[[]Info](t)(s.List())
		if c.entries == nil {
			if len(list) != 0 {
				t.Errorf("listed, though nothing was said: %+v", list)
			}
			continue
		}
		stat := must[os.FileInfo](t)(os.Stat(s.logPath(l.ID())))
		at := -1
		for k := range list {
			if list[k].ID == l.ID() {
				at = k
			}
		}
		if at < 0 {
			t.Fatalf("%d is not listed", i)
		}
		got := list[at]
		if time.Since(got.Created) > time.Minute || got.Created.After(time.Now()) {
			t.Errorf("created %v", got.Created)
		}
		want := Info{ID: l.ID(), Title: c.title, Created: got.Created, Changed: stat.ModTime(), Messages: c.messages, Size: stat.Size()}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d: %s", i, d)
		}
	}
}

func first(t testing.TB) func(*Log, []Entry, []string, error) *Log {
	return func(l *Log, _ []Entry, _ []string, err error) *Log {
		t.Helper()
		ok(t, err)
		return l
	}
}

func TestListOrder(t *testing.T) { // SESS-02
	s := newStore(t)
	now := time.Now()
	var want []string
	for i := range 5 {
		l := create(t, s)
		put(t, l, say("a"))
		ok(t, l.Close())
		// The oldest session was used last.
		when := now.Add(-time.Duration(i) * time.Hour)
		ok(t, os.Chtimes(s.logPath(l.ID()), when, when))
		want = append(want, l.ID())
	}
	var got []string
	for _, info := range must[[]Info](t)(s.List()) {
		got = append(got, info.ID)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if info := must[Info](t)(s.Latest(nil)); info.ID != want[0] {
		t.Errorf("the latest is %s", info.ID)
	}
}

// Nothing is deleted by itself, however old it is.
func TestOldSessionsStay(t *testing.T) {
	d := newDesk(t)
	put(t, d.log, say("long ago"))
	d.write(1, "f", "x")
	d.write(1, "f", "y")
	ok(t, d.log.Close())
	old := time.Now().AddDate(-5, 0, 0)
	ok(t, filepath.WalkDir(d.store.Dir(), func(path string, _ os.DirEntry, err error) error {
		ok(t, err)
		return os.Chtimes(path, old, old)
	}))
	s := must[*Store](t)(OpenStore(d.dir))
	l := create(t, s)
	put(t, l, say("now"))
	ok(t, l.Close())
	if list := must[[]Info](t)(s.List()); len(list) != 2 || list[1].Title != "long ago" {
		t.Fatalf("listed: %+v", list)
	}
	d.resume()
	must[Undone](t)(d.journal.Undo(Scope{}, nil))
	d.is("f", "x")
}

func TestListShowsWhatIsOpen(t *testing.T) { // SESS-10
	s := newStore(t)
	l := create(t, s)
	put(t, l, say("a"))
	if info := must[Info](t)(s.Latest(nil)); !info.Open {
		t.Error("not open")
	}
	ok(t, l.Close())
	if info := must[Info](t)(s.Latest(nil)); info.Open {
		t.Error("still open")
	}
}

func TestListOfDamagedSessions(t *testing.T) { // SESS-05
	l := lines(t, "first", "second")
	whole := join(l[0], l[1], l[2])
	bad := bytes.Clone(l[1])
	bad[30] ^= 1
	for name, c := range map[string]struct {
		log      []byte
		messages int
		title    string
	}{
		"torn":         {join(whole, "{\"se"), 2, "first"},
		"NULs":         {join(whole, make([]byte, 5000)), 2, "first"},
		"no line end":  {whole[:len(whole)-1], 2, "first"},
		"bad prompt":   {join(l[0], bad, l[2]), 2, "second"},
		"all is bad":   {[]byte("rubbish"), 0, ""},
		"only NULs":    {make([]byte, 5000), 0, ""},
		"bad and head": {join(l[0], bad), 1, ""},
		"title is off": {join(l[0], sealed(`{"seq":2,"kind":"note","log":{"messages":1,"title_at":3}`)), 1, ""},
		"title beyond": {join(l[0], sealed(`{"seq":2,"kind":"note","log":{"messages":1,"title_at":999999}`)), 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			x := create(t, s)
			ok(t, x.Close())
			ok(t, os.WriteFile(s.logPath(x.ID()), c.log, 0o600))
			list := must[[]Info](t)(s.List())
			if len(list) != 1 || list[0].Messages != c.messages || list[0].Title != c.title {
				t.Errorf("listed as %+v", list)
			}
		})
	}
}
