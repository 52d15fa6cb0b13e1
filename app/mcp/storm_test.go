//go:build unix

package mcp_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/mcp"
	"github.com/phero-agent/agent/tools/human"
)

// heaviest watches the heap and the goroutines until stop, which says the most of
// each above where it began.
func heaviest() (stop func() (megabytes, goroutines int)) {
	runtime.GC()
	look := func() (heap, routines int64) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) >> 20, int64(runtime.NumGoroutine())
	}
	heap, routines := look()
	var most, many atomic.Int64
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			h, r := look()
			most.Store(max(most.Load(), h-heap))
			many.Store(max(many.Load(), r-routines))
			select {
			case <-over:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() (int, int) {
		close(over)
		<-done
		return int(most.Load()), int(many.Load())
	}
}

// A server that lists without end, or too much, is cut; memory stays bounded.
func TestEndlessLists(t *testing.T) {
	stop := heaviest()
	r := newRig(t, nil, mcp.Limits{Begin: time.Millisecond}, server("endless", "endless"), server("many", "many"))
	r.ready()
	megabytes, goroutines := stop()
	t.Logf("%d MB, %d goroutines", megabytes, goroutines)
	if megabytes > 500 || goroutines > 100 {
		t.Errorf("%d MB, %d goroutines", megabytes, goroutines)
	}
	if s := r.status("many"); s.State != mcp.Ready || len(s.Tools) != 1000 || !strings.Contains(strings.Join(s.Said, "\n"), "listing its tools: it is too long, and cut") {
		t.Errorf("%s, %d tools, %q", s.State, len(s.Tools), s.Said)
	}
	s := r.status("endless")
	if said := strings.Join(s.Said, "\n"); s.State != mcp.Ready || len(s.Resources) != 1000 || len(s.Prompts) != 50 || strings.Count(said, "too long") != 3 {
		t.Errorf("%s, %d prompts, %d resources, %q", s.State, len(s.Prompts), len(s.Resources), s.Said)
	}
	if details := s.Details(time.Now()); len(details) > 20_000 {
		t.Errorf("%d bytes of details", len(details))
	}
}

// A server that asks without end and takes no answer loses its connection; the
// person sees one question of it at most, and none again after declining.
func TestStormOfQuestions(t *testing.T) {
	var asked atomic.Int64
	stop := heaviest()
	r := newRig(t, func(human.Input) (map[string]human.Answer, error) {
		asked.Add(1)
		return nil, human.ErrDeclined
	}, quick, server("storm", "storm"))
	r.ready()
	_, err := r.call(t.Context(), "mcp_storm_go", "{}")
	if err == nil || !strings.Contains(err.Error(), "ended in the middle of the call") {
		t.Errorf("%v", err)
	}
	r.until("its end", func() bool { // it fills the pipe of our answers too, and that may end it before
		told := strings.Join(r.told, "\n")
		return strings.Contains(told, "it sent more than 500 requests in 10s") || strings.Contains(told, "it does not take what it is sent")
	})
	megabytes, goroutines := stop()
	t.Logf("%d MB, %d goroutines", megabytes, goroutines)
	if megabytes > 200 || goroutines > 5000 || asked.Load() > 1 {
		t.Errorf("%d MB, %d goroutines, %d questions", megabytes, goroutines, asked.Load())
	}
}

// A server that sends without end what nobody wants still works, slowed down at its
// own pipe.
func TestSpam(t *testing.T) {
	stop := heaviest()
	r := newRig(t, nil, mcp.Limits{Begin: time.Millisecond, Goodbye: time.Millisecond}, server("spam", "spam"))
	r.ready()
	for range 3 {
		if got, err := r.call(t.Context(), "mcp_spam_go", "{}"); err != nil || got.Text != "done" {
			t.Fatalf("%+v, %v: %+v", got, err, r.Status())
		}
	}
	megabytes, goroutines := stop()
	t.Logf("%d MB, %d goroutines", megabytes, goroutines)
	if megabytes > 200 || goroutines > 500 {
		t.Errorf("%d MB, %d goroutines", megabytes, goroutines)
	}
	if said := r.status("spam").Said; len(said) > 100 || strings.ContainsAny(strings.Join(said, ""), "\x1b\n") {
		t.Errorf("%q", said)
	}
}

// A server may die at any message: it is started again, or given up, and nothing of
// it stays.
func TestDiesAnywhere(t *testing.T) {
	for n := 1; n <= 9; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil, quick, server("bad", fmt.Sprint("die-", n)))
			r.ready()
			if len(r.Tools()) > 0 {
				_, err := r.call(t.Context(), "mcp_bad_go", "{}")
				t.Log(err) // it died in this one, or another time
			}
			r.Close()
			if s := r.status("bad"); s.State != mcp.Off {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Answers to what nobody asked, twice and with odd ids, and requests that there are
// not, change nothing.
func TestOddMessages(t *testing.T) {
	r := newRig(t, nil, mcp.Limits{}, server("ids", "wrong-ids"), server("unknown", "unknown"))
	r.ready()
	for _, name := range []string{"mcp_ids_go", "mcp_unknown_go"} {
		if got, err := r.call(t.Context(), name, "{}"); err != nil || got.Text != "done" {
			t.Errorf("%s: %+v, %v: %+v", name, got, err, r.Status())
		}
	}
}

// Schemas that are made to hurt are cut; their patterns and references are nobody's
// to follow here.
func TestSchemaBombs(t *testing.T) {
	r := newRig(t, nil, mcp.Limits{}, server("x", "bombs"))
	r.ready()
	s := r.status("x")
	if len(s.Tools) != 4 || len(s.LeftOut) != 0 {
		t.Fatalf("%+v", s)
	}
	r.definition("mcp_x_bash")
	for _, d := range s.Tools {
		if _, err := r.call(t.Context(), d.Name, "{}"); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
	if data, err := json.Marshal(s.Tools); err != nil || len(data) > 10_000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// A program that ignores signals and the end of its input is ended, and its children
// with it.
func TestStubbornProgram(t *testing.T) {
	r := newRig(t, nil, mcp.Limits{Begin: time.Millisecond, Goodbye: 10 * time.Millisecond}, server("x", "stubborn"))
	r.ready()
	r.until("its child", func() bool { return len(r.status("x").Said) > 0 })
	child, err := strconv.Atoi(regexp.MustCompile(`\d+`).FindString(r.status("x").Said[0]))
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	r.Close()
	for range 1000 { // the system needs a moment to bury it
		if syscall.Kill(child, 0) != nil && runtime.NumGoroutine() < before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the child %d lives, or %d goroutines of %d do", child, runtime.NumGoroutine(), before)
}

// What a server names cannot drive the terminal, nor pose as something else.
func TestOddNames(t *testing.T) {
	r := newRig(t, nil, mcp.Limits{}, server("odd", "odd"), config.Server{Name: "none", Command: "/nonexistent/\u202e", Sandbox: new(bool)})
	r.ready()
	s := r.status("odd")
	if len(s.Prompts) != 1 || len(s.Resources) != 1 || s.Resources[0].Name != "r\uFFFD" {
		t.Errorf("%+v, %+v", s.Prompts, s.Resources)
	}
}
