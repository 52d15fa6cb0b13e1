package session

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/session/tree"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/file"
)

// prose is text of n bytes as models and tools write it.
func prose(random *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "\tif err := s.%c%d(ctx, \"%x\"); err != nil {\n", 'a'+random.IntN(26), random.IntN(100), random.Uint32())
	}
	return b.String()[:n]
}

// longSession writes a session of n messages: a prompt, then replies with a call, and results.
func longSession(tb testing.TB, s *Store, n int) *Log {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	l := must[*Log](tb)(s.Create("v"))
	put(tb, l, say("fix the bug"))
	for i := 1; i < n; i += 2 {
		call := tools.ToolCall{ID: fmt.Sprint(i), Name: "bash", Arguments: fmt.Sprintf(`{"command":%q}`, prose(random, 100))}
		put(tb, l,
			Entry{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleAssistant, Text: prose(random, 400), Calls: []tools.ToolCall{call}, Usage: &Usage{Input: i, Output: 100}}},
			Entry{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleTool, CallID: call.ID, Text: prose(random, 2500), Status: StatusOK, Elapsed: time.Second}})
	}
	ok(tb, l.Close())
	return l
}

func BenchmarkAppend(b *testing.B) {
	for _, sync := range []bool{false, true} {
		b.Run(fmt.Sprintf("sync=%v", sync), func(b *testing.B) {
			l := must[*Log](b)(newStore(b).Create("v"))
			defer l.Close()
			e := say(prose(rand.New(rand.NewPCG(1, 2)), 2000))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Append(e); err != nil {
					b.Fatal(err)
				}
				if sync {
					if err := l.Sync(); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkResume(b *testing.B) {
	for _, n := range []int{2000, 10000} {
		s := newStore(b)
		l := longSession(b, s, n)
		size := must[os.FileInfo](b)(os.Stat(s.logPath(l.ID()))).Size()
		b.Run(fmt.Sprintf("open/%d", n), func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				l := first(b)(s.Open(l.ID()))
				ok(b, l.Close())
			}
		})
		b.Run(fmt.Sprintf("history/%d", n), func(b *testing.B) {
			entries, _, err := s.Read(l.ID())
			ok(b, err)
			for b.Loop() {
				if len(History(entries)) < n {
					b.Fatal("messages are lost")
				}
			}
			runtime.KeepAlive(entries)
		})
		b.Run(fmt.Sprintf("memory/%d", n), func(b *testing.B) {
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				entries, _, err := s.Read(l.ID())
				ok(b, err)
				runtime.GC()
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(entries)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(size), "held/log")
		})
	}
}

func BenchmarkList(b *testing.B) {
	s := newStore(b)
	for range 1000 {
		longSession(b, s, 11)
	}
	b.ResetTimer()
	for b.Loop() {
		if len(must[[]Info](b)(s.List())) != 1000 {
			b.Fatal("sessions are lost")
		}
	}
}

// A word that is nowhere is the worst case: all logs are read to their ends.
func BenchmarkSearch(b *testing.B) {
	s := newStore(b)
	for range 1000 {
		longSession(b, s, 11)
	}
	var size int64
	for _, info := range must[[]Info](b)(s.List()) {
		size += info.Size
	}
	b.SetBytes(size)
	b.ResetTimer()
	for b.Loop() {
		if len(must[[]Hit](b)(s.Search(b.Context(), "nowhere at all"))) > 0 {
			b.Fatal("it is somewhere")
		}
	}
}

func BenchmarkBlobs(b *testing.B) {
	text := []byte(prose(rand.New(rand.NewPCG(1, 2)), 20_000))
	blobs := newStore(b).Blobs()
	b.Run("put", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			must[string](b)(blobs.Put(append(fmt.Appendf(nil, "%d ", i), text...)))
		}
	})
	b.Run("put again", func(b *testing.B) {
		for b.Loop() {
			must[string](b)(blobs.Put(text))
		}
	})
}

func BenchmarkJournal(b *testing.B) {
	s := newStore(b)
	l := must[*Log](b)(s.Create("v"))
	defer l.Close()
	j := NewJournal(s.Blobs(), s.workspace, l.Append)
	text := []byte(prose(rand.New(rand.NewPCG(1, 2)), 20_000))
	version := func(i, v int) []byte {
		return bytes.Replace(text, []byte("\n"), fmt.Appendf(nil, " // %d %d\n", i, v), 1)
	}
	for i := range 100 {
		ok(b, os.WriteFile(filepath.Join(s.workspace, fmt.Sprint("f", i)), version(i, 0), 0o644))
	}
	edits := func(v int) {
		for i := range 100 {
			c := file.Change{Path: filepath.Join(s.workspace, fmt.Sprint("f", i)), Existed: true, Perm: 0o644, Before: version(i, v-1), After: version(i, v)}
			call := tools.ToolCall{ID: fmt.Sprint(i), Name: "edit"}
			ok(b, j.Intent(call, v, c))
			ok(b, file.WriteFileAtomic(c.Path, c.After, c.Perm))
			ok(b, j.Done(call, c))
		}
	}
	b.Run("100 edits", func(b *testing.B) {
		v := 0
		for b.Loop() {
			v++
			edits(v)
		}
	})
	b.Run("undo and redo of 100", func(b *testing.B) {
		for b.Loop() {
			must[Undone](b)(j.Undo(Scope{Turn: true}, nil))
			must[Undone](b)(j.Redo(Scope{Turn: true}, nil))
		}
	})
}

// BenchmarkFound is what a command costs that changes 500 files of 2 KB, beside the
// scans of what did not change: to find and journal it, and to undo it.
func BenchmarkFound(b *testing.B) {
	s := newStore(b)
	l := must[*Log](b)(s.Create("v"))
	defer l.Close()
	j := NewJournal(s.Blobs(), s.workspace, l.Append)
	watch := tree.New(s.workspace, s.Blobs().PutSoon)
	text := prose(rand.New(rand.NewPCG(1, 2)), 2000)
	version := 0
	write := func() {
		version++
		for i := range 500 {
			ok(b, os.WriteFile(filepath.Join(s.workspace, fmt.Sprint("f", i)), fmt.Appendf(nil, "%d %d\n%s", i, version, text), 0o644))
		}
	}
	write()
	find := func() {
		found := must[tree.Found](b)(watch.Scan(b.Context(), true))
		ok(b, j.Found(Found{CallIDs: []string{"c"}, Commands: []string{"sed"}}, version, found))
	}
	find()
	b.Run("500 changes", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			write()
			b.StartTimer()
			find()
		}
	})
	b.Run("undo and redo of 500", func(b *testing.B) {
		for b.Loop() {
			must[Undone](b)(j.Undo(Scope{}, nil))
			must[Undone](b)(j.Redo(Scope{}, nil))
		}
	})
}
