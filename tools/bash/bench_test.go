package bash

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
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
	b.Run("bubblewrap ready", func(b *testing.B) {
		t := newTool(b, WithRunner(sandbox(b, dir)), WithPersistentShell(), WithWorkingDirectory(dir))
		for b.Loop() {
			b.StopTimer()
			t.Prepare(1)
			for _, s := range t.ready.list {
				<-s.made
			}
			b.StartTimer()
			run(b, t, "true")
		}
	})
}

// BenchmarkFlood is the throughput of a gigabyte, and what memory it takes at most.
func BenchmarkFlood(b *testing.B) {
	t := newTool(b)
	b.SetBytes(1_000_000_000)
	for b.Loop() {
		before := peak(b, true)
		run(b, t, "yes 0123456789012345678901234567890123456789 | head -c 1000000000")
		b.ReportMetric(float64(peak(b, false)-before)/1000, "peak-MB")
	}
}

// peak is the most memory that the process had, in kB, since it was last reset.
func peak(b *testing.B, reset bool) int {
	if reset {
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
			b.Skip(err)
		}
	}
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	kB, _ := strconv.Atoi(strings.Fields(rest)[0])
	return kB
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
