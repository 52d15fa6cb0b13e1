package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// server plays the steps of a transcript, the last one again and again.
type server struct {
	*httptest.Server
	t     *testing.T
	steps []step

	mu   sync.Mutex
	seen int
}

func play(t *testing.T, steps ...step) *server {
	s := &server{t: t, steps: steps}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	n := s.seen
	s.seen++
	s.mu.Unlock()
	st := s.steps[min(n, len(s.steps)-1)]
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Errorf("request %d: %v", n+1, err)
	}
	s.check(n, st, r, body)
	for key, value := range st.Headers {
		w.Header().Set(key, value)
	}
	w.WriteHeader(st.Status)
	size := st.Chunk
	if size == 0 {
		size = max(1, len(st.Body))
	}
	for rest := st.Body; rest != ""; {
		n := min(size, len(rest))
		_, _ = io.WriteString(w, rest[:n])
		w.(http.Flusher).Flush()
		rest = rest[n:]
	}
	if st.Close == "abrupt" {
		panic(http.ErrAbortHandler)
	}
}

func (s *server) check(n int, st step, r *http.Request, body []byte) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		s.t.Errorf("request %d: %s %s", n+1, r.Method, r.URL.Path)
	}
	for _, name := range st.Request.HeadersAbsent {
		if v := r.Header.Get(name); v != "" {
			s.t.Errorf("request %d: header %s is %q", n+1, name, v)
		}
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		s.t.Errorf("request %d is not JSON: %v", n+1, err)
		return
	}
	strict(s.t, v.(map[string]any))
	for _, c := range st.Request.JSON {
		c.verify(s.t, v)
	}
}

func (c check) verify(t *testing.T, body any) {
	t.Helper()
	v, found := at(body, c.Path)
	items, _ := v.([]any)
	switch {
	case c.Absent:
		if found {
			t.Errorf("%s is %v, want none", c.Path, v)
		}
	case c.Present:
		if !found {
			t.Errorf("%s is missing", c.Path)
		}
	case c.Type != "":
		if _, ok := v.(string); !ok || c.Type != "string" {
			t.Errorf("%s is %T", c.Path, v)
		}
	case c.CountWhere != nil:
		if n := len(where(items, c.CountWhere)); float64(n) != c.Equals {
			t.Errorf("%s: %d with %v, want %v", c.Path, n, c.CountWhere, c.Equals)
		}
	case c.AllWhere != nil:
		for _, m := range where(items, c.AllWhere) {
			if _, ok := m["content"].(string); !ok || c.ContentType != "string" {
				t.Errorf("content is %T", m["content"])
			}
		}
	case !reflect.DeepEqual(v, c.Equals):
		t.Errorf("%s is %v, want %v", c.Path, v, c.Equals)
	}
}

func where(items []any, fields map[string]any) (found []map[string]any) {
	for _, item := range items {
		m := item.(map[string]any)
		fits := true
		for key, value := range fields {
			fits = fits && m[key] == value
		}
		if fits {
			found = append(found, m)
		}
	}
	return found
}

// at follows a path of names and indices, which count from the end when negative.
func at(v any, path string) (any, bool) {
	for part := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[part]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil {
				return nil, false
			}
			if i < 0 {
				i += len(x)
			}
			if i < 0 || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}
