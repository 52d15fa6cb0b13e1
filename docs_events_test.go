//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	eventRow   = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| .* \\| (.*) \\|$")
	eventField = regexp.MustCompile("`(\\w+)` (string|number|time|list|object|true or false)(\\??)")
)

// TestDocsEvents holds every line that a run prints against the table of events in
// docs/headless.md: its type, its fields, and what kind of value each has.
func TestDocsEvents(t *testing.T) {
	type field struct {
		kind     string
		optional bool
	}
	events := map[string]map[string]field{"start": {"version": {kind: "number"}}}
	for _, row := range eventRow.FindAllStringSubmatch(document(t, "docs/headless.md"), -1) {
		events[row[1]] = map[string]field{}
		for _, f := range eventField.FindAllStringSubmatch(row[2], -1) {
			events[row[1]][f[1]] = field{f[2], f[3] != ""}
		}
	}
	if len(events) < 15 {
		t.Fatalf("the table has %d events", len(events))
	}
	cmd := headlessRun(t, `
== look
Let me see.
> read {"file_path":"none"}
> bash {"command":"echo out; sleep 600 & echo x > made","run_in_background":true}
> write {"file_path":"f","content":"x\n"}
> bash {"command":"echo printed"}
> todo_write {"todos":[{"content":"all","status":"completed"}]}
> web_fetch {"url":"https://example.invalid/"}
== done
That was all.
`, "-o", "stream-json", "go", "--yolo", "--sandbox=none", "--deny", "web_fetch")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	seen := map[string]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		name, _ := line["type"].(string)
		fields, known := events[name]
		if !known {
			t.Errorf("no row of the table tells of %s", lines.Text())
		}
		seen[name] = true
		for key, value := range line {
			if f, ok := fields[key]; key != "type" && (!ok || kindOf(value, f.kind) != f.kind) {
				t.Errorf("%s is a %s in the table: %s", key, f.kind, lines.Text())
			}
		}
		for key, f := range fields {
			if _, there := line[key]; !there && !f.optional && key != "type" {
				t.Errorf("%s is missing: %s", key, lines.Text())
			}
		}
	}
	for _, name := range strings.Fields("start state opened turn_started committed reply_delta tool_started tool_output shells usage turn_ended result") {
		if !seen[name] {
			t.Errorf("the run printed no %s", name)
		}
	}
}

// kindOf is the kind of a JSON value in the words of the table; a time is a text that
// the table calls so.
func kindOf(value any, want string) string {
	switch v := value.(type) {
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil && want == "time" {
			return want
		}
		return "string"
	case float64:
		return "number"
	case bool:
		return "true or false"
	case []any:
		return "list"
	case map[string]any:
		return "object"
	}
	return "nothing"
}
