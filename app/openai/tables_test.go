package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
)

func readTable(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// TestOverflowWords reads every wording of an overflow as one, and no other. // LOOP-11
func TestOverflowWords(t *testing.T) {
	var rows []struct {
		Provider, Message string
		Overflow          bool
	}
	readTable(t, "testdata/tables/overflow_messages.json", &rows)
	if len(rows) < 22 {
		t.Fatal(len(rows), "rows")
	}
	for _, row := range rows {
		body, err := json.Marshal(map[string]any{"error": map[string]any{"message": row.Message}})
		if err != nil {
			t.Fatal(err)
		}
		for _, status := range []int{200, 400, 413, 429, 500, 503} {
			if !row.Overflow && status == 413 || row.Overflow && status == 429 {
				continue // the status says it there
			}
			got := classify(status, readFailure(body)).kind
			if (got == app.ErrContextOverflow) != row.Overflow {
				t.Errorf("%s, %d: %q is %s", row.Provider, status, row.Message, got)
			}
		}
	}
}

func TestWindowIsReadFromOverflow(t *testing.T) {
	for text, want := range map[string]int{
		"prompt is too long: 213462 tokens > 200000 maximum":                                       200000,
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9": 8192,
		"Requested token count exceeds the model's maximum context length of 131072 tokens":        131072,
		"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).":  1048575,
		"This model's maximum prompt length is 131072 but the request contains 537812 tokens.":     131072,
		"Input length 140000 exceeds the maximum allowed input length of 131072 tokens.":           131072,
		"request (19185 tokens) exceeds the available context size (16384 tokens), try increasing": 16384,
		"prompt token count of 140000 exceeds the limit of 128000":                                 128000,
		"Your request exceeded model token limit: 262144 (requested: 300000)":                      262144,
		"Prompt contains 140000 tokens, too large for model with 131072 maximum context length":    131072,
		"Context size has been exceeded.":                                                          0,
	} {
		if got := windowIn(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestModelLists reads the twelve shapes of GET /models.
func TestModelLists(t *testing.T) {
	var rows []struct {
		Name, Path string
		Status     int
		Body       json.RawMessage
		Expect     []struct {
			ID            string
			Context       int
			ContextTrain  int `json:"context_train"`
			MaxOutput     int `json:"max_output"`
			Tools, Images bool
		}
		ExpectError string `json:"expect_error"`
	}
	readTable(t, "testdata/tables/models_list.json", &rows)
	if len(rows) != 12 {
		t.Fatal(len(rows), "rows")
	}
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != row.Path || r.Method != http.MethodGet {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				if row.Status != 0 {
					w.WriteHeader(row.Status)
				}
				_, _ = w.Write(row.Body)
			}))
			defer srv.Close()
			c, _ := newTestClient(t, Config{BaseURL: srv.URL + strings.TrimSuffix(row.Path, "/models")})
			models, err := c.Models(context.Background())
			if row.ExpectError != "" {
				var pe *app.ProviderError
				if !errors.As(err, &pe) || !strings.Contains(pe.Error(), "no model list") || !strings.Contains(pe.Next, "used as it is") {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil || len(models) != len(row.Expect) {
				t.Fatalf("%+v, %v", models, err)
			}
			for i, want := range row.Expect {
				m := models[i]
				if m.ID != want.ID || m.Context != want.Context || m.ContextTrain != want.ContextTrain || m.MaxOutput != want.MaxOutput ||
					(m.Tools == app.Yes) != want.Tools || (m.Images == app.Yes) != want.Images {
					t.Errorf("%+v, want %+v", m, want)
				}
			}
		})
	}
}

func TestModelsWithABadKeyNamesTheVariable(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"message":"Incorrect API key provided: sk-test-key"}}`))
	}))
	defer srv.Close()
	c, _ := newTestClient(t, Config{BaseURL: srv.URL, APIKey: "sk-test-key", KeyName: "GROQ_API_KEY"})
	_, err := c.Models(context.Background())
	if err == nil || !strings.Contains(err.Error(), "GROQ_API_KEY") || strings.Contains(err.Error(), "sk-test-key") {
		t.Errorf("%v", err)
	}
}

// TestLoadedWindows asks local servers for the window that is loaded.
func TestLoadedWindows(t *testing.T) {
	for name, paths := range map[string]map[string]string{
		"llama.cpp": {
			"/v1/models": `{"data":[{"id":"m","meta":{"n_ctx_train":131072}}]}`,
			"/props":     `{"default_generation_settings":{"n_ctx":16384}}`,
		},
		"LM Studio": {
			"/v1/models":     `{"data":[{"id":"m"},{"id":"other"}]}`,
			"/api/v0/models": `{"data":[{"id":"m","max_context_length":131072,"loaded_context_length":16384}]}`,
		},
		"Ollama": {
			"/v1/models": `{"data":[{"id":"m"},{"id":"other"}]}`,
			"/api/ps":    `{"models":[{"name":"m","context_length":16384}]}`,
		},
		"neither": {"/v1/models": `{"data":[{"id":"m"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, ok := paths[r.URL.Path]
				if !ok {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				_, _ = w.Write([]byte(body))
			}))
			defer srv.Close()
			c, _ := newTestClient(t, Config{BaseURL: srv.URL + "/v1"})
			models, err := c.Models(context.Background())
			want := 16384
			if name == "neither" {
				want = 0
			}
			if err != nil || len(models) == 0 || models[0].Context != want {
				t.Errorf("%+v, %v", models, err)
			}
		})
	}
}
