//go:build unix

package openai

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
)

// serve answers every request with a piece n times, and an end.
func serve(b *testing.B, piece string, n int, end string) *Client {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		block := strings.Repeat(piece, min(n, 1000))
		for rest := n; rest > 0; rest -= 1000 {
			_, _ = io.WriteString(w, block[:len(piece)*min(rest, 1000)])
		}
		_, _ = io.WriteString(w, end)
	}))
	b.Cleanup(srv.Close)
	c, _ := newTestClient(b, Config{BaseURL: srv.URL})
	return c
}

// cpuTime is what the process has used, the server of the benchmark included.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTokens measures a token of four bytes from socket to delta. Time and
// allocations per token are flat from 1 kB to 10 MB of text.
func BenchmarkTokens(b *testing.B) {
	token := `{"id":"chatcmpl-x","object":"chat.completion.chunk","created":1764489600,"model":"m","choices":[{"index":0,"delta":{"content":"abc "},"finish_reason":null}]}`
	for _, size := range []int{1e3, 1e4, 1e5, 1e6, 1e7} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			tokens := size / 4
			c := serve(b, sse(token), tokens, sse(stopChunk, doneChunk))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			cpu := cpuTime(b)
			for b.Loop() {
				got, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
				if err != nil || len(got.Message.Text) != tokens*4 {
					b.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			n := float64(tokens * b.N)
			b.ReportMetric(float64((cpuTime(b)-cpu).Nanoseconds())/n, "cpu-ns/token")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/token")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/n, "B/token")
		})
	}
}

// BenchmarkCallOnOneLine reads a call of 140 kB that comes as one line.
func BenchmarkCallOnOneLine(b *testing.B) {
	arguments := fmt.Sprintf(`{\"path\":\"big.txt\",\"content\":\"%s\"}`, strings.Repeat("x", 140_000))
	c := serve(b, sse(callChunk(`{"index":0,"id":"c","function":{"name":"write","arguments":"`+arguments+`"}}`)), 1, sse(stopChunk, doneChunk))
	b.ReportAllocs()
	for b.Loop() {
		got, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
		if err != nil || len(got.Message.Calls) != 1 || len(got.Message.Calls[0].Arguments) < 140_000 {
			b.Fatal(err)
		}
	}
}

// BenchmarkCallInPieces reads a call whose id and name come with each of its 35,000 pieces.
func BenchmarkCallInPieces(b *testing.B) {
	c := serve(b, sse(callChunk(`{"index":0,"id":"c","function":{"name":"write","arguments":" "}}`)), 35_000, sse(stopChunk, doneChunk))
	b.ReportAllocs()
	for b.Loop() {
		got, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
		if err != nil || len(got.Message.Calls) != 1 {
			b.Fatal(err)
		}
	}
}

// longHistory is a session of n messages: a call, its result of 2 kB, and so on.
func longHistory(n int) app.Request {
	req := app.Request{System: strings.Repeat("rule ", 800), Messages: []session.Message{user("go")}}
	for i := 0; len(req.Messages) < n; i++ {
		id := fmt.Sprint("call_", i)
		req.Messages = append(req.Messages,
			assistant("Now I read the file that the error names.", tools.ToolCall{ID: id, Name: "read", Arguments: `{"file_path":"/home/x/project/main.go"}`}),
			result(id, strings.Repeat("if err != nil { return fmt.Errorf(\"x: %w\", err) }\n", 40)))
	}
	for i := range 20 {
		req.Tools = append(req.Tools, app.ToolSpec{Name: fmt.Sprint("tool", i), Description: strings.Repeat("word ", 100), Schema: map[string]any{
			"type": "object", "required": []string{"a"}, "properties": map[string]any{
				"a": map[string]any{"type": "string", "description": "What it is."}, "b": map[string]any{"type": "integer"}}}})
	}
	return req
}

// BenchmarkBody builds the request of a session with 2,000 messages: the first
// one after a resume, and the ones after it, to which a step was added.
func BenchmarkBody(b *testing.B) {
	for _, n := range []int{20, 200, 2000} {
		req := longHistory(n)
		b.Run(fmt.Sprint("first/", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c, _ := newTestClient(b, Config{})
				if _, err := c.body(c.profile, req); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint("next/", n), func(b *testing.B) {
			c, _ := newTestClient(b, Config{})
			b.ReportAllocs()
			even := false
			for b.Loop() {
				r := req
				if even = !even; even {
					r.Messages = req.Messages[:len(req.Messages)-2]
				}
				if _, err := c.body(c.profile, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
