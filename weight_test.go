package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// maxInit is how long everything before main may take, in milliseconds.
const maxInit = 12

var initClock = regexp.MustCompile(`(?m)^init \S+ @\S+ ms, (\S+) ms clock`)

// TestStartIsLight builds the program and adds up what its packages do before
// main. What is heavy there makes every start slow, whatever the code does after it.
func TestStartIsLight(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "agent")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-dumpdep", "-o", bin, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out[max(0, len(out)-4096):])
	}
	// A method that is looked up by its name, as text/template does, makes the linker
	// keep all methods of all types: 5 MB.
	if _, after, found := bytes.Cut(out, []byte("<ReflectMethod> -> ")); found {
		t.Errorf("methods are looked up by name, by way of %s", after[:bytes.IndexByte(after, '\n')])
	}
	least := 1e9
	for range 10 { // the least: other programs can make it slower, nothing makes it faster
		cmd := exec.CommandContext(t.Context(), bin, "--version")
		cmd.Env = append(cmd.Environ(), "GODEBUG=inittrace=1")
		var trace bytes.Buffer
		cmd.Stderr = &trace
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, m := range initClock.FindAllStringSubmatch(trace.String(), -1) {
			ms, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += ms
		}
		least = min(least, sum)
	}
	if least == 0 || least > maxInit {
		t.Errorf("%.1f ms pass before main, at most %d may", least, maxInit)
	}
}
