package openai

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
)

// stepping is a server whose every reply has the same kind of calls, and which
// takes the time from the last byte of a reply to the next request.
type stepping struct {
	calls func(step int) string // the deltas of a reply's calls
	steps int
	gaps  []time.Duration
	ended time.Time // when the last reply was
}

func (s *stepping) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if now := time.Now(); !s.ended.IsZero() {
		s.gaps = append(s.gaps, now.Sub(s.ended))
	}
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	body := sse(textChunk("done"), stopChunk)
	if n := len(s.gaps); n < s.steps {
		body = sse(callChunk(s.calls(n)), stopChunk)
	}
	_, _ = io.WriteString(w, body)
	w.(http.Flusher).Flush()
	s.ended = time.Now()
	_, _ = io.WriteString(w, sse(doneChunk))
}

func oneCall(index int, name, arguments string) string {
	return fmt.Sprintf(`{"index":%d,"id":"","function":{"name":%q,"arguments":%q}}`, index, name, arguments)
}

// The calls of a step. No two steps are the same, so that nobody is asked about a loop.
var stepKinds = map[string]struct {
	sandbox string
	calls   func(step int) string
}{
	"read": {"none", func(n int) string {
		return oneCall(0, "read", fmt.Sprintf(`{"file_path":"small.go","limit":%d}`, 1000+n))
	}},
	"sandboxed true": {"bwrap", func(n int) string { return oneCall(0, "bash", fmt.Sprintf(`{"command":"true %d"}`, n)) }},
	"8 slow calls":   {"none", eightSlow},
	"8 sandboxed":    {"bwrap", eightSlow},
}

func eightSlow(n int) string {
	calls := make([]string, 8)
	for i := range calls {
		calls[i] = oneCall(i, "bash", fmt.Sprintf(`{"command":"sleep 0.20%d"}`, 10*n+i))
	}
	return strings.Join(calls, ",")
}

// takeSteps runs a turn of so many steps, and returns the time that each took
// between the server's last byte and its next request.
func takeSteps(tb testing.TB, kind string, steps int) []time.Duration {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "small.go"), []byte(strings.Repeat("package small // a line\n", 40)), 0o600); err != nil {
		tb.Fatal(err)
	}
	k := stepKinds[kind]
	s := &stepping{calls: k.calls, steps: steps}
	srv := httptest.NewServer(s)
	defer srv.Close()
	c, _ := newTestClient(tb, Config{BaseURL: srv.URL, Info: app.ModelInfo{Window: 100e6}})
	ended := make(chan app.TurnEnded, 1)
	opts := app.Options{
		Workspace: dir, Dir: dir, Version: "test", StateDir: tb.TempDir(), Sandbox: k.sandbox,
		NewProvider: func(context.Context, string) (app.Provider, error) { return c, nil },
		Allow:       []permissions.Rule{{Text: "bash(sleep *)"}, {Text: "bash(true *)"}},
		Emit: func(e app.Event) {
			if e, ok := e.(app.TurnEnded); ok {
				ended <- e
			}
		},
	}
	if k.sandbox == "bwrap" {
		if name, err := app.CheckSandbox(context.Background(), opts); err != nil || name != "bwrap" {
			tb.Skipf("no bubblewrap: %v", err)
		}
	}
	a, err := app.New(opts)
	if err != nil {
		tb.Fatal(err)
	}
	defer a.Close()
	a.Start()
	a.Prepare()
	a.Submit("go")
	if e := <-ended; e.Outcome != "done" || len(s.gaps) != steps {
		tb.Fatalf("%+v after %d steps", e, len(s.gaps))
	}
	return s.gaps
}

// report tells the median, and the best tenth, which the work of others on the
// machine hardly touches.
func report(b *testing.B, what string, gaps []time.Duration) {
	gaps = slices.Sorted(slices.Values(gaps))
	b.ReportMetric(gaps[len(gaps)/2].Seconds()*1000, "ms-"+what)
	b.ReportMetric(gaps[len(gaps)/10].Seconds()*1000, "best-"+what)
}

// BenchmarkStep is what the agent adds between two requests: the time from the
// last byte of a reply to the first byte of the next request, after ten steps and
// after a thousand.
func BenchmarkStep(b *testing.B) {
	for _, kind := range []string{"read", "sandboxed true"} {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				gaps := takeSteps(b, kind, 1010)
				report(b, "after-10", gaps[10:60])
				report(b, "after-1000", gaps[960:1010])
			}
		})
	}
	for _, kind := range []string{"8 slow calls", "8 sandboxed"} {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				report(b, "step", takeSteps(b, kind, 10))
			}
		})
	}
}

// LOOP-05: the calls of a benchmark's step run and are answered.
func TestSteps(t *testing.T) {
	for kind := range stepKinds {
		t.Run(kind, func(t *testing.T) { takeSteps(t, kind, 1) })
	}
}
