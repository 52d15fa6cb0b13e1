package tree

import (
	"fmt"
	"os"
	"testing"
)

// BenchmarkCommand is what a command costs that changes nothing, and one that
// changes a file: the scans before and after it, on 20,000 tracked files. The aim
// is 45 ms. The bare lstat of as many files, twice, is there to compare with.
func BenchmarkCommand(b *testing.B) {
	f := newField(b)
	for i := range 20_000 {
		f.write(fmt.Sprintf("d%d/e%d/file%d.go", i%20, i%1000, i), fmt.Sprintf("package p%d\n", i))
	}
	f.sh("git init -q && git add -A && git commit -qm first")
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			f.tree = New(f.root, f.keep)
			f.scan(false)
		}
	})
	b.Run("lstat", func(b *testing.B) {
		for b.Loop() {
			for i := range 40_000 {
				if _, err := os.Lstat(fmt.Sprintf("%s/d%d/e%d/file%d.go", f.root, i%20, i%1000, i%20_000)); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("nothing", func(b *testing.B) {
		for b.Loop() {
			f.scan(false)
			f.scan(true)
		}
	})
	b.Run("one", func(b *testing.B) {
		n := 0
		for b.Loop() {
			f.scan(false)
			b.StopTimer()
			n++
			f.write("d7/new.go", fmt.Sprint(n))
			b.StartTimer()
			f.scan(true)
		}
	})
}
