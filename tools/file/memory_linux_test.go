package file

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// mostMemory is what a search may need at most, the test's own parts included: MB.
const mostMemory = 100

// searches are calls of the tools that the memory of a process of its own is measured with.
var searches = map[string]func(testing.TB, string) (any, error){
	"grep, common": func(t testing.TB, dir string) (any, error) {
		return grep(t, GrepInput{Pattern: "e", OutputMode: modeContent, C: 2}, WithWorkingDirectory(dir))
	},
	"grep, nothing": func(t testing.TB, dir string) (any, error) {
		return grep(t, GrepInput{Pattern: `[a-z]+[0-9]+[A-Z][a-z]+[0-9]{3}Q`}, WithWorkingDirectory(dir))
	},
	"grep, counted": func(t testing.TB, dir string) (any, error) {
		return grep(t, GrepInput{Pattern: "e", OutputMode: modeCount, I: true}, WithWorkingDirectory(dir), WithNoIgnore())
	},
	"glob": func(t testing.TB, dir string) (any, error) {
		return glob(t, GlobInput{Pattern: "**"}, WithWorkingDirectory(dir), WithNoIgnore())
	},
}

// peak runs a search in a process of its own, and returns the most memory in MB that
// the process had at any time.
func peak(t testing.TB, search, dir string) (mb int) {
	t.Helper()
	cmd := exec.Command(must(os.Executable()), "-test.run", "^TestSearchAlone$", "-test.v")
	cmd.Env = append(os.Environ(), "FILE_TEST_SEARCH="+search, "FILE_TEST_DIR="+dir)
	out, err := cmd.CombinedOutput()
	_, line, ok := strings.Cut(string(out), "VmHWM:")
	if err != nil || !ok {
		t.Fatalf("%v\n%s", err, out)
	}
	var kb int
	if _, err := fmt.Sscan(line, &kb); err != nil {
		t.Fatal(err)
	}
	return kb >> 10
}

// TestSearchAlone is the process of peak.
func TestSearchAlone(t *testing.T) {
	search := searches[os.Getenv("FILE_TEST_SEARCH")]
	if search == nil {
		t.Skip("runs as a part of TestSearchMemory")
	}
	if _, err := search(t, os.Getenv("FILE_TEST_DIR")); err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(content(t, "/proc/self/status"), "VmHWM:")
	fmt.Println("VmHWM:", line)
}

// F6, F10: many files in one directory, and one of a single long line.
func TestSearchMemory(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-race" && s.Value == "true" {
				t.Skip("the race detector needs memory of its own")
			}
		}
	}
	files := map[string]string{}
	for i := range 20_000 {
		files[fmt.Sprintf("many/a file with a long name %d", i)] = "some text\n"
	}
	dir := tree(t, files)
	f := must(os.Create(filepath.Join(dir, "line")))
	defer f.Close()
	for range 80 {
		if _, err := f.Write(bytes.Repeat([]byte("no end, "), 128<<10)); err != nil {
			t.Fatal(err)
		}
	}
	for name := range searches {
		if mb := peak(t, name, dir); mb > mostMemory {
			t.Errorf("%s: %d MB", name, mb)
		}
	}
}

// BenchmarkMemory reports the most memory that a search of the large trees needs.
func BenchmarkMemory(b *testing.B) {
	for tree, dir := range map[string]string{"generated": bigTree(b, bigTreeFiles), "modcache": goDir(b, "GOMODCACHE")} {
		for name := range searches {
			b.Run(tree+"/"+name, func(b *testing.B) {
				most := 0
				for b.Loop() {
					most = max(most, peak(b, name, dir))
				}
				b.ReportMetric(float64(most), "peak-MB")
			})
		}
	}
}
