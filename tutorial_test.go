//go:build unix

package main

import (
	"strings"
	"testing"
)

// tutorial is the document that TestTutorial does.
const tutorial = "docs/tutorial.md"

// TestTutorial does what docs/tutorial.md tells, with a scripted model.
func TestTutorial(t *testing.T) {
	m := serveModel(t, `
== look
> read {"file_path":"total.sh"}
> read {"file_path":"test.sh"}
== fix
> edit {"file_path":"total.sh","old_string":"/ 10)","new_string":"/ 100)"}
> bash {"command":"bash test.sh"}
== done
It divided by 10 for percent. The test passes.
`)
	shell := withAgent(t, t.TempDir(), t.TempDir(), "OPENAI_BASE_URL="+m.URL+"/v1", "AGENT_MODEL=scripted")
	kinds := map[string]int{}
	for _, b := range fences(t, tutorial) {
		kind, ok := strings.CutPrefix(b.tag, "sh ")
		if !ok {
			continue
		}
		kinds[kind]++
		if kind == "screen" {
			term := onTerminal(t, shell(b.text), 120, 40)
			for _, ask := range []string{"Allow edit?", "Allow bash?"} {
				term.waitFor(ask)
				term.until("took answers", func(string) bool { return term.bright("[n]") })
				term.key("y")
				term.waitGone(ask)
			}
			term.waitFor("The test passes.")
			term.waitFor("? keys")
			term.key("ctrl+d")
			if code := term.exit(); code != 0 {
				t.Fatalf("exit code %d", code)
			}
			continue
		}
		out, err := shell(b.text).CombinedOutput()
		if (err != nil) != (kind == "fails") {
			t.Fatalf("%s: %v: %s", b.text, err, out)
		}
	}
	if kinds["tutorial"] < 3 || kinds["fails"] != 1 || kinds["screen"] != 1 {
		t.Errorf("the tutorial has %v", kinds)
	}
}
