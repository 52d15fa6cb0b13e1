package bash

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// BenchmarkTrue is what the tool and the sandboxes add to `bash -c true`.
func BenchmarkTrue(b *testing.B) {
	b.Run("bash", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("bash", "-c", "true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	dir := workspace(b)
	landlocked, err := NewLandlockRunner(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer landlocked.Close()
	for _, bb := range []struct {
		name string
		opts []Option
	}{
		{"local", nil},
		{"local persistent", []Option{WithPersistentShell()}},
		{"landlock", []Option{WithRunner(landlocked)}},
		{"bubblewrap", []Option{WithRunner(sandbox(b, dir))}},
		{"bubblewrap persistent", []Option{WithRunner(sandbox(b, dir)), WithPersistentShell()}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			t := newTool(b, append(bb.opts, WithWorkingDirectory(dir))...)
			for b.Loop() {
				run(b, t, "true")
			}
		})
	}
}

// BenchmarkFlood is the throughput of a command that prints without end.
func BenchmarkFlood(b *testing.B) {
	t := newTool(b)
	b.SetBytes(100_000_000)
	for b.Loop() {
		run(b, t, "yes 0123456789012345678901234567890123456789 | head -c 100000000")
	}
}

// BenchmarkLineToHandler is how long a line takes from the command to the handler.
func BenchmarkLineToHandler(b *testing.B) {
	var mu sync.Mutex
	var took []time.Duration
	t := newTool(b, WithOutputHandler(func(_ context.Context, chunk []byte) {
		now := time.Now()
		for line := range bytes.Lines(chunk) {
			seconds, err := strconv.ParseFloat(string(bytes.TrimSpace(line)), 64)
			if err != nil {
				continue
			}
			mu.Lock()
			took = append(took, now.Sub(time.UnixMicro(int64(seconds*1e6))))
			mu.Unlock()
		}
	}))
	for b.Loop() {
		run(b, t, "for i in {1..200}; do echo $EPOCHREALTIME; read -t 0.001 x <><(:); done; true")
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
}
