package session

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
	"testing"
)

// lines makes the lines of a head and of messages with the given texts.
func lines(t testing.TB, texts ...string) [][]byte {
	t.Helper()
	var (
		out [][]byte
		sum tally
	)
	add := func(e Entry) {
		e.Seq = int64(len(out) + 1)
		sum = sum.add(e, 0)
		out = append(out, must[[]byte](t)(encodeLine(e, sum)))
	}
	add(Entry{Kind: KindHead, Head: &Head{Version: formatVersion}})
	for _, text := range texts {
		add(say(text))
	}
	return out
}

func numbered(t testing.TB, seq int64, text string) []byte {
	e := say(text)
	e.Seq = seq
	return must[[]byte](t)(encodeLine(e, tally{}))
}

func join(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case []byte:
			b = append(b, p...)
		case string:
			b = append(b, p...)
		}
	}
	return b
}

func TestDamage(t *testing.T) { // SESS-05
	l := lines(t, "one", "two", "three")
	head, one, two, three := l[0], l[1], l[2], l[3]
	newer := must[[]byte](t)(encodeLine(Entry{Seq: 1, Kind: KindHead, Head: &Head{Version: 7}}, tally{}))
	fork := must[[]byte](t)(encodeLine(Entry{Seq: 3, Kind: "fork"}, tally{}))
	chop := func(b []byte, n int) []byte { return b[:len(b)-n] }
	flip := func(b []byte) []byte {
		b = bytes.Clone(b)
		b[len(b)/2] ^= 1
		return b
	}
	nul := strings.Repeat("\x00", 4096)
	for _, c := range []struct {
		name    string
		log     []byte
		texts   string
		notices []string
	}{
		{"whole", join(head, one, two, three), "one two three", nil},
		{"empty", nil, "", nil},
		{"no line end", chop(join(head, one, two), 1), "one two", nil},
		{"torn last line", join(head, one, chop(two, 9)), "one", []string{"the last line of the log was cut off"}},
		{"torn to one byte", join(head, one, two[:1]), "one", []string{"cut off (1 byte)"}},
		{"torn first line", chop(head, 5), "", []string{"cut off"}},
		{"torn line in the middle", join(head, one, chop(two, 9), "\n", three), "one three", []string{"line 3 of the log is damaged"}},
		{"bad line in the middle", join(head, one, "rubbish\n", two), "one two", []string{"line 3 of the log is damaged (8 bytes) and passed over"}},
		{"flipped bit", join(head, one, flip(two), three), "one three", []string{"line 3 of the log is damaged"}},
		{"several bad lines", join(head, one, "rub\nbi\nsh\n", two), "one two", []string{"lines 3 to 5 of the log are damaged (10 bytes)"}},
		{"NULs at the end", join(head, one, two, nul), "one two", []string{"the last line of the log was cut off (4096 bytes)"}},
		{"NULs in place of a line", join(head, one, nul, three), "one three", []string{"line 3 of the log is damaged (4096 bytes) and passed over up to the entry at the end"}},
		{"NULs behind a line", join(head, one, chop(two, 1), nul, "\n", three), "one two three", nil},
		{"only NULs", []byte(nul), "", []string{"cut off"}},
		{"two writers", join(head, one, numbered(t, 3, "a"), two, numbered(t, 4, "b"), three), "one a two b three", []string{"two programs wrote to the log at the same time, from line 4 on"}},
		{"two writers in one line", join(head, one, two[:20], three), "one three", []string{"line 3 of the log is damaged (20 bytes) and passed over up to the entry"}},
		{"NULs before an entry that holds another", join(head, one, nul, sealed(`{"seq":3,"kind":"message","message":{"role":"user","text":"two","echo":{"seq":1}}`)), "one two", []string{"line 3"}},
		{"CRLF", bytes.ReplaceAll(join(head, one, two), []byte("\n"), []byte("\r\n")), "one two", nil},
		{"empty lines", join(head, "\n\n", one, "\n", two), "one two", nil},
		{"head lost", join(one, two), "one two", []string{"does not begin with its head", "1 entry of the log are missing"}},
		{"head damaged", join(flip(head), one), "one", []string{"does not begin with its head", "line 1"}},
		{"lines missing", join(head, three), "three", []string{"2 entries of the log are missing"}},
		{"newer version", join(newer, one), "one", []string{"written by a newer version (format 7"}},
		{"unknown kind", join(head, one, fork, three), "one three", []string{`1 entry of a kind that this version does not know were passed over: ["fork"]`}},
		{"not understood", join(head, one, sealed(`{"seq":3,"kind":"message","message":5`), three), "one three", []string{"1 entry of the log could not be understood"}},
		{"message missing", join(head, one, sealed(`{"seq":3,"kind":"message"`), three), "one three", []string{"1 entry of the log could not be understood"}},
		{"U+2028", join(lines(t, "a\u2028b\u0085c", "two")[0], lines(t, "a\u2028b\u0085c", "two")[1]), "a\u2028b\u0085c", nil},
		{"raw U+2028", join(head, one, sealed("{\"seq\":3,\"kind\":\"message\",\"message\":{\"role\":\"user\",\"text\":\"a\u2028b\"}")), "one a\u2028b", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStore(t)
			l := create(t, s)
			ok(t, l.Close())
			path := s.logPath(l.ID())
			ok(t, os.WriteFile(path, c.log, 0o600))

			l, entries, notices, err := s.Open(l.ID())
			ok(t, err)
			defer l.Close()
			if got := textsOf(entries); got != c.texts {
				t.Errorf("read %q, want %q", got, c.texts)
			}
			all := strings.Join(notices, "\n")
			for _, n := range c.notices {
				if !strings.Contains(all, n) {
					t.Errorf("no notice %q in:\n%s", n, all)
				}
			}
			if len(c.notices) > 0 != (len(notices) > 0) || len(notices) > 0 && !strings.Contains(all, path) {
				t.Errorf("notices:\n%s", all)
			}

			// Going on works, and what was there stays there.
			put(t, l, say("more"))
			ok(t, l.Close())
			if data := must[[]byte](t)(os.ReadFile(path)); !bytes.HasPrefix(data, c.log) {
				t.Error("the log was changed")
			}
			again, _, err := s.Read(l.ID())
			ok(t, err)
			if got := textsOf(again); got != strings.TrimSpace(c.texts+" more") {
				t.Errorf("after going on: %q", got)
			}
			rising(t, again)
			if len(entries) > 0 {
				if _, err := s.List(); err != nil {
					t.Error(err)
				}
				if info := must[Info](t)(s.Latest(nil)); info.ID != l.ID() {
					t.Errorf("the latest is %v", info)
				}
			}
		})
	}
}

// sealed ends a line that was written by hand.
func sealed(text string) []byte {
	return []byte(fmt.Sprintf("%s%s%08x\"}\n", text, sumStart, sum32(text)))
}

func textsOf(entries []Entry) string {
	var words []string
	for _, e := range entries {
		if e.Kind == KindMessage {
			words = append(words, e.Message.Text)
		}
	}
	return strings.Join(words, " ")
}

func rising(t testing.TB, entries []Entry) {
	t.Helper()
	last := int64(0)
	for _, e := range entries {
		if e.Seq <= last {
			t.Fatalf("number %d comes after %d", e.Seq, last)
		}
		last = e.Seq
	}
}

func TestEveryFlippedBitIsSeen(t *testing.T) {
	line := bytes.TrimSuffix(lines(t, "some text")[1], []byte("\n"))
	for i := range len(line) * 8 {
		bad := bytes.Clone(line)
		bad[i/8] ^= 1 << (i % 8)
		if l := newLineRead(bad); l.err == nil {
			t.Fatalf("bit %d was not seen: %s", i, bad)
		}
	}
}

func TestEveryTornLengthIsSeen(t *testing.T) {
	l := lines(t, "one", "two")
	whole := join(l[0], l[1])
	for n := range len(l[2]) - 1 {
		got, err := readLog(bytes.NewReader(join(whole, l[2][:n])))
		ok(t, err)
		if textsOf(got.entries) != "one" || got.torn != (n > 0) || len(got.notices) > 0 != (n > 0) {
			t.Fatalf("cut at %d: %q torn %v notices %q", n, textsOf(got.entries), got.torn, got.notices)
		}
	}
}

var rubbish = strings.Repeat("x", 64<<10)

func TestLongLines(t *testing.T) {
	long := strings.Repeat("0123456789", 1<<20) // more than many batches
	l := lines(t, "one", long, "three")
	got, err := readLog(bytes.NewReader(join(l[0], l[1], l[2], l[3])))
	ok(t, err)
	if textsOf(got.entries) != "one "+long+" three" || got.notices != nil {
		t.Errorf("%d entries, %q", len(got.entries), got.notices)
	}

	// 100 MB that are no entry, between good lines.
	bad := io.LimitReader(endless(rubbish), 100<<20)
	got, err = readLog(io.MultiReader(bytes.NewReader(join(l[0], l[1])), bad, strings.NewReader("\n"), bytes.NewReader(l[3])))
	ok(t, err)
	if textsOf(got.entries) != "one three" || len(got.notices) != 1 || !strings.Contains(got.notices[0], "line 3 of the log is damaged (104857601 bytes)") {
		t.Errorf("%q, %q", textsOf(got.entries), got.notices)
	}
}

func TestTooLongLinesAreNotRead(t *testing.T) {
	l := lines(t, "one", "two")
	const most = 1 << 20
	for _, n := range []int64{most - 1, most, most + 1, 3 * most, 3*most + 12345} {
		for _, end := range []string{"\n", ""} {
			log := io.MultiReader(bytes.NewReader(join(l[0], l[1])), io.LimitReader(endless(rubbish), n), strings.NewReader(end))
			if end != "" {
				log = io.MultiReader(log, bytes.NewReader(l[2]))
			}
			var (
				texts []string
				size  int64
				ended bool
			)
			ok(t, decodeLines(log, most, func(r lineRead) {
				size += r.size
				ended = r.ended
				if r.err == nil && r.entry.Message != nil {
					texts = append(texts, r.entry.Message.Text)
				}
			}))
			want, bytes := "one", int64(len(l[0])+len(l[1]))+n
			if end != "" {
				want, bytes = "one two", bytes+1+int64(len(l[2]))
			}
			if got := strings.Join(texts, " "); got != want || size != bytes || ended != (end != "") {
				t.Errorf("%d bytes: %q, %d bytes of %d, ended %v", n, got, size, bytes, ended)
			}
		}
	}
}

// endless gives a text again and again.
type endless string

func (e endless) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		n += copy(p[n:], e)
	}
	return len(p), nil
}

func TestReadErrorIsTold(t *testing.T) {
	l := lines(t, "one")
	got, err := readLog(io.MultiReader(bytes.NewReader(join(l[0], l[1])), broken{}))
	if err != io.ErrClosedPipe || textsOf(got.entries) != "one" {
		t.Errorf("%q, %v", textsOf(got.entries), err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func FuzzReadLog(f *testing.F) {
	l := lines(f, "one", "two\u2028", "three")
	f.Add(join(l[0], l[1], l[2], l[3]))
	f.Add(join(l[0], l[1], l[2][:30], l[3]))
	f.Add(join(l[0], "\x00\x00\x00", l[1], "\r\n\n", l[2][:9]))
	f.Add(join(l[0], l[2], l[1], sealed(`{"seq":9,"kind":"fork"`)))
	f.Add([]byte(`{"seq":1,"sum":"00000000"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readLog(bytes.NewReader(data))
		ok(t, err)
		rising(t, got.entries)
		if got.size != int64(len(data)) {
			t.Fatalf("read %d bytes of %d", got.size, len(data))
		}
		for _, e := range got.entries {
			if !e.Kind.known() || !e.whole() {
				t.Fatalf("a half entry: %+v", e)
			}
		}
		validHistory(t, History(got.entries))

		// Whatever is there, the next entry is written so that it is read.
		next := numbered(t, got.seq+1, "next")
		if got.torn {
			next = join("\n", next)
		}
		again, err := readLog(bytes.NewReader(join(data, next)))
		ok(t, err)
		if len(again.entries) != len(got.entries)+1 || again.entries[len(got.entries)].Message.Text != "next" || again.torn {
			t.Fatalf("%d entries after %d", len(again.entries), len(got.entries))
		}
	})
}

func sum32(text string) uint32 { return crc32.Checksum([]byte(text), castagnoli()) }
