package ui

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/phero-agent/agent/app"
)

func TestPumpMerges(t *testing.T) {
	p := NewPump()
	for _, e := range []app.Event{
		app.ReplyDelta{Text: "a"}, app.ReplyDelta{Text: "b", Reasoning: "x"}, app.ReplyDelta{Parent: "p", Text: "sub"}, app.ReplyDelta{Text: "c"},
		app.ToolOutput{CallID: "1", Chunk: []byte("A")}, app.ToolOutput{CallID: "2", Chunk: []byte("B")}, app.ToolOutput{CallID: "1", Chunk: []byte("A")},
		app.CallDelta{Index: 1, Bytes: 10}, app.CallDelta{Index: 1, Bytes: 20},
		app.TurnStarted{Turn: 7},
		app.ReplyDelta{Text: "d"},
	} {
		p.Emit(e)
	}
	var got []string
	for _, e := range p.take().events {
		if o, ok := e.(app.ToolOutput); ok {
			got = append(got, fmt.Sprintf("output %s %s", o.CallID, o.Chunk))
			continue
		}
		got = append(got, fmt.Sprintf("%+v", e))
	}
	want := []string{
		"{Parent: Text:abc Reasoning:x}", "{Parent:p Text:sub Reasoning:}",
		"output 1 AA", "output 2 B",
		"{Parent: Index:1 Tool: Bytes:20}",
		"{Turn:7}",
		"{Parent: Text:d Reasoning:}",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	if b := p.take(); len(b.events) != 0 {
		t.Errorf("events came twice: %v", b.events)
	}
}

// The chunk of an event belongs to who emitted it.
func TestPumpCopiesOutput(t *testing.T) {
	p := NewPump()
	chunk := []byte("first")
	p.Emit(app.ToolOutput{CallID: "1", Chunk: chunk})
	copy(chunk, "XXXXX")
	if got := p.take().events[0].(app.ToolOutput); string(got.Chunk) != "first" {
		t.Errorf("got %q", got.Chunk)
	}
}

// UI-22: a flood takes bounded memory, its end is kept and the rest counted.
func TestPumpFlood(t *testing.T) {
	p := NewPump()
	const lines = 400_000
	line := bytes.Repeat([]byte("y"), 63)
	for i := range lines {
		p.Emit(app.ToolOutput{CallID: "1", Chunk: append(line[:63:63], '\n')})
		if i%1000 == 0 {
			if n := len(p.queue[0].chunk); n > maxWaiting+64 {
				t.Fatalf("%d bytes wait", n)
			}
		}
	}
	b := p.take()
	chunk := string(b.events[0].(app.ToolOutput).Chunk)
	if got := strings.Count(chunk, "\n") + b.skipped["1"]; got != lines {
		t.Errorf("%d lines came or were counted, want %d", got, lines)
	}
	if !strings.HasPrefix(chunk, "yyy") || !strings.HasSuffix(chunk, "y\n") {
		t.Errorf("the output does not begin and end with whole lines")
	}
}

// Nothing is lost and order holds, with many goroutines and at most one batch a frame.
func TestPumpPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPump()
		var sources sync.WaitGroup
		const each = 200
		for id := range 8 {
			sources.Go(func() {
				for n := range each {
					p.Emit(app.Notice{Text: fmt.Sprintf("%d %d", id, n)})
					time.Sleep(time.Millisecond)
				}
			})
		}
		next := make([]int, 8)
		begin, batches, got := time.Now(), 0, 0
		for got < 8*each {
			batches++
			for _, e := range p.next().(batch).events {
				var id, n int
				fmt.Sscanf(e.(app.Notice).Text, "%d %d", &id, &n)
				if n != next[id] {
					t.Fatalf("source %d: event %d came instead of %d", id, n, next[id])
				}
				next[id]++
				got++
			}
		}
		if most := int(time.Since(begin)/frame) + 2; batches > most {
			t.Errorf("%d batches in %v, want at most %d", batches, time.Since(begin), most)
		}
		sources.Wait()
		p.Close()
		if msg := p.next(); msg != nil {
			if _, more := msg.(batch); !more {
				t.Errorf("after Close: %v", msg)
			}
		}
	})
}

// A reply that comes faster than it is drawn comes in pieces, one after the other at
// once, whole and in its place among the other events.
func TestPumpShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPump()
		text := strings.Repeat("ä日本x", 20_000) + strings.Repeat("\x80", 2*maxReply)
		p.Emit(app.TurnStarted{Turn: 1})
		p.Emit(app.ReplyDelta{Text: text[:1000], Reasoning: "hm"})
		p.Emit(app.ReplyDelta{Text: text[1000:]})
		p.Emit(app.TurnEnded{Turn: 1})
		p.Emit(app.ReplyDelta{Text: "after"})
		var came, reasoning strings.Builder
		var order []string
		begin, batches := time.Now(), 0
		for len(order) < 2 || came.Len() < len(text)+len("after") {
			batches++
			size := 0
			for _, e := range p.next().(batch).events {
				switch e := e.(type) {
				case app.ReplyDelta:
					size += len(e.Text)
					came.WriteString(e.Text)
					reasoning.WriteString(e.Reasoning)
					if r, _ := utf8.DecodeRuneInString(e.Text); r == utf8.RuneError && came.Len() < 100_000 {
						t.Fatal("a character is torn")
					}
				default:
					order = append(order, fmt.Sprintf("%T at %d", e, came.Len()))
				}
			}
			if size > maxReply {
				t.Errorf("%d bytes in a batch", size)
			}
			if batches == 2 {
				p.Emit(app.ReplyDelta{Text: " and later"})
			}
		}
		if came.String() != text+"after" && came.String() != text+"after and later" || reasoning.String() != "hm" {
			t.Errorf("%d bytes came of %d, reasoning %q", came.Len(), len(text), reasoning.String())
		}
		if want := fmt.Sprintf("[app.TurnStarted at 0 app.TurnEnded at %d]", len(text)); fmt.Sprint(order) != want {
			t.Errorf("order %v, want %v", order, want)
		}
		if took := time.Since(begin); took > frame || batches < len(text)/maxReply {
			t.Errorf("%d batches took %v", batches, took)
		}
	})
}
