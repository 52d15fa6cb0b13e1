package app_test

import (
	"testing"

	"github.com/phero-agent/agent/app"
)

// BenchmarkNew is what stands between the command line and the first frame.
func BenchmarkNew(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		a, err := app.New(app.Options{Workspace: dir, Dir: dir, StateDir: b.TempDir(), Sandbox: "auto", Emit: func(app.Event) {}})
		if err != nil {
			b.Fatal(err)
		}
		a.Close()
	}
}
