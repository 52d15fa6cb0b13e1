package openai

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
)

// FuzzReply holds that no answer of a server breaks the reader, that what was
// emitted is what is replied, and that every call has an id of its own.
func FuzzReply(f *testing.F) {
	paths, err := filepath.Glob("testdata/replay/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || info.Size() > 10_000 {
			continue
		}
		f.Add([]byte(readTranscript(f, path).Body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var text, reasoning strings.Builder
		r := newReply(func(name string) bool { return strings.Contains(name, "e") }, func(d app.Delta) {
			text.WriteString(d.Text)
			reasoning.WriteString(d.Reasoning)
		})
		w := newWatch(time.Hour, func(error) {})
		defer w.stop()
		err := (&stream{reply: r, watch: w, body: strings.NewReader(string(body))}).read()
		got := r.close(err != nil)
		if m := got.Message; m.Text != text.String() || m.Reasoning != reasoning.String() || m.Cut != (err != nil) {
			t.Fatalf("%+v, emitted %q and %q", m, &text, &reasoning)
		}
		ids := map[string]bool{}
		for _, call := range got.Message.Calls {
			if call.ID == "" || ids[call.ID] || err != nil {
				t.Fatalf("%+v, %v", call, err)
			}
			ids[call.ID] = true
		}
	})
}
