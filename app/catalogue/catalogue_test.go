package catalogue

import (
	"net/url"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
)

// TestCatalogue reads all that is embedded.
func TestCatalogue(t *testing.T) {
	keys := map[string]bool{}
	for _, p := range Providers() {
		u, err := url.Parse(p.BaseURL)
		if err != nil || u.Scheme != "https" || u.Host == "" || p.Name == "" || len(p.Keys) == 0 {
			t.Errorf("%+v, %v", p, err)
		}
		if !p.Named {
			for _, k := range p.Keys {
				if keys[k] {
					t.Errorf("%s picks two providers", k)
				}
				keys[k] = true
			}
		}
		if m := p.Info(p.Model); m.Window < 8000 || m.Provider != p.ID {
			t.Errorf("%s begins with %+v", p.ID, m)
		}
		for _, m := range p.Models() {
			if !p.has(m.ID) || p.has(m.ID+"?") {
				t.Errorf("%s: %s is not found by its name", p.ID, m.ID)
			}
			if m.Window <= 0 || m.Prices.Input < 0 || m.Prices.CacheRead > m.Prices.Input || m.Prices.Output > 1000 {
				t.Errorf("%s: %+v", p.ID, m)
			}
		}
	}
	for _, name := range []string{"OPENAI_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "DEEPSEEK_API_KEY",
		"GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY", "AZURE_OPENAI_API_KEY"} {
		if !keys[name] {
			t.Errorf("%s picks nobody", name)
		}
	}
}

func TestInfo(t *testing.T) {
	p, _ := Find("anthropic")
	got := p.Info("claude-sonnet-4-6")
	if got.Window != 200_000 || got.Prices != (app.Prices{Input: 3, Output: 15, CacheRead: 0.3}) || got.Vision != app.Yes || got.Reasoning != app.Yes || len(got.Efforts) == 0 {
		t.Errorf("%+v", got)
	}
	if got := p.Info("new"); got.ID != "new" || got.Provider != "anthropic" || got.Window != 0 || got.Vision != app.Unknown {
		t.Errorf("%+v", got)
	}
	// Models that only the Responses API has are hidden (decision 27).
	openai, _ := Find("openai")
	for _, m := range openai.Models() {
		if strings.Contains(m.ID, "-codex") || strings.HasSuffix(m.ID, "-pro") {
			t.Errorf("%s is offered", m.ID)
		}
	}
}

func TestBehind(t *testing.T) {
	for _, id := range []string{"claude-sonnet-4-6", "anthropic/claude-sonnet-4-6"} {
		if m := Behind(id); m.ID != id || m.Window != 200_000 || m.Vision != app.Yes || m.Provider != "" || m.Prices != (app.Prices{}) {
			t.Errorf("%+v", m)
		}
	}
	for _, id := range []string{"", "qwen3:8b", "deepseek-v4-pro", "sonnet/"} { // served by anybody, with any window
		if m := Behind(id); m.Window != 0 || m.ID != id {
			t.Errorf("%+v", m)
		}
	}
}

// BenchmarkChoose is what the screen waits for at the start, once the providers are read.
func BenchmarkChoose(b *testing.B) {
	key := env("OPENROUTER_API_KEY", "k")
	for b.Loop() {
		if t, err := Choose(Wish{Model: "anthropic/claude-haiku-4.5"}, key); err != nil || t.Key != "k" {
			b.Fatal(err)
		}
	}
}

func TestAt(t *testing.T) {
	for url, want := range map[string]string{
		"https://api.openai.com/v1":                   "openai",
		"https://API.OpenAI.com/v1/":                  "openai",
		"https://opencode.ai/zen/v1":                  "opencode-zen",
		"https://opencode.ai/zen/go/v1":               "opencode-go",
		"https://open.bigmodel.cn/api/coding/paas/v4": "zhipu-coding",
		"https://me.openai.azure.com/openai/v1":       "azure",
		"https://api.openai.com.evil.example/v1":      "",
		"http://127.0.0.1:11434/v1":                   "",
		"https://azure.com.evil.example":              "",
		"://":                                         "",
	} {
		if p, _ := At(url); p.ID != want {
			t.Errorf("%s is %q, want %q", url, p.ID, want)
		}
	}
}
