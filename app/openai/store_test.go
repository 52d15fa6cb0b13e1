package openai

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/phero-agent/agent/app"
)

// TestLessonsAreKept: a field that a server refused is left out by the next
// client of the same base URL, what one model refused by that model's only. IMP-41
func TestLessonsAreKept(t *testing.T) {
	var refused, asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked.Add(1)
		for _, field := range []string{"stream_options", "reasoning_effort"} {
			if strings.Contains(string(body), field) {
				refused.Add(1)
				w.WriteHeader(400)
				_, _ = io.WriteString(w, `{"error":{"message":"Unknown parameter: '`+field+`'."}}`)
				return
			}
		}
		_, _ = io.WriteString(w, sse(textChunk("Hi"), stopChunk, doneChunk))
	}))
	defer srv.Close()
	store := NewStore(t.TempDir() + "/servers")
	run := func(model string) {
		t.Helper()
		c, _ := newTestClient(t, Config{BaseURL: srv.URL, Model: model, Store: store, Notice: func(s string) { t.Error(s) }})
		req := userSays("go")
		req.Effort = "low"
		if _, err := c.Stream(context.Background(), req, func(app.Delta) {}); err != nil {
			t.Fatal(err)
		}
	}
	run("m")
	if n := refused.Load(); n != 2 {
		t.Fatalf("%d refusals, want 2", n)
	}
	run("m")
	if n := refused.Load(); n != 2 {
		t.Errorf("the lessons were forgotten: %d refusals", n)
	}
	run("other")
	if n := refused.Load(); n != 3 {
		t.Errorf("%d refusals: another model keeps its effort, and only that", n)
	}
	info, err := os.Stat(store.Path(srv.URL + "/"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestLessonOfAFailureIsNotKept: what did not help is not remembered.
func TestLessonOfAFailureIsNotKept(t *testing.T) {
	srv := play(t, step{Status: 400, Body: `{"error":{"message":"Unknown parameter: 'stream_options'."}}`}, step{Status: 401, Body: `{"error":{"message":"no"}}`})
	store := NewStore(t.TempDir())
	c, _ := newTestClient(t, Config{BaseURL: srv.URL, Store: store})
	if _, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {}); err == nil {
		t.Fatal("no error")
	}
	if _, err := os.Stat(store.Path(srv.URL + "/")); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

// TestDamagedProfile is ignored, and the person is told; the next lesson replaces it.
func TestDamagedProfile(t *testing.T) {
	for name, text := range map[string]string{
		"torn":    `{"base_url":"`,
		"empty":   ``,
		"strange": `{"base_url":"http://h/","server":{"no_images":"perhaps"}}`,
		"other's": `{"base_url":"http://other/"}`,
	} {
		store := NewStore(t.TempDir())
		if err := os.WriteFile(store.Path("http://h/"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var told string
		c, _ := newTestClient(t, Config{BaseURL: "http://h", Store: store, Notice: func(s string) { told = s }})
		if c.Profile() != (Profile{}) || !strings.Contains(told, store.Path("http://h/")) {
			t.Errorf("%s: %+v, told %q", name, c.Profile(), told)
		}
		c.profile.NoImages = true
		c.remember()
		told = ""
		c, _ = newTestClient(t, Config{BaseURL: "http://h", Store: store, Notice: func(s string) { told = s }})
		if !c.Profile().NoImages || told != "" || c.Info().Vision != app.No {
			t.Errorf("%s: after a new lesson %+v, told %q", name, c.Profile(), told)
		}
	}
}

func TestStoreThatCannotBeWritten(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var told string
	c, _ := newTestClient(t, Config{BaseURL: "http://h", Store: NewStore(file + "/servers"), Notice: func(s string) { told = s }})
	c.remember()
	if !strings.Contains(told, "is not kept") {
		t.Errorf("told %q", told)
	}
}

// TestWindowIsAskedOnce: of a model that nobody knows the server tells the window,
// beside the first reply.
func TestWindowIsAskedOnce(t *testing.T) {
	var lists atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			lists.Add(1)
			_, _ = io.WriteString(w, `{"data":[{"id":"x","max_model_len":1},{"id":"m","max_model_len":32768}]}`)
			return
		}
		_, _ = io.WriteString(w, sse(textChunk("Hi"), stopChunk, doneChunk))
	}))
	defer srv.Close()
	c, err := New(Config{BaseURL: srv.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {}); err != nil {
			t.Fatal(err)
		}
	}
	if c.Info().Window != 32768 || lists.Load() != 1 {
		t.Errorf("%+v, asked %d times", c.Info(), lists.Load())
	}
}

// TestOverflowTellsTheWindow: what a server says of its window counts from then on.
func TestOverflowTellsTheWindow(t *testing.T) {
	srv := play(t, step{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`})
	c, _ := newTestClient(t, Config{BaseURL: srv.URL})
	if _, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {}); err == nil || c.Info().Window != 8192 {
		t.Errorf("%v, %+v", err, c.Info())
	}
}

func TestNamesOfModelsThatDoNotChat(t *testing.T) {
	list := `{"data":[{"id":"gpt-5"},{"id":"gpt-5-codex"},{"id":"o3-pro"},{"id":"text-embedding-3-large"},{"id":"gpt-4o-mini-tts"},{"id":"whisper-1"},
		{"id":"dall-e-3"},{"id":"omni-moderation-latest"},{"id":"gpt-realtime"},{"id":"nomic-embed-text:latest"},{"id":"qwen3:8b"},{"id":"models/gemini-3-pro"},{"id":"imagen-4"}]}`
	models, err := readModels([]byte(list))
	var ids []string
	for _, m := range models {
		ids = append(ids, m.ID)
	}
	if got := strings.Join(ids, " "); err != nil || got != "gpt-5 gpt-5-codex o3-pro qwen3:8b gemini-3-pro" {
		t.Errorf("%s, %v", got, err)
	}
	if !responsesOnly("gpt-5-codex") || !responsesOnly("o3-pro") || responsesOnly("gpt-5") {
		t.Error("decision 27")
	}
}
