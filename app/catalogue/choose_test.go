package catalogue

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestChoose(t *testing.T) {
	both := env("OPENROUTER_API_KEY", "router", "ANTHROPIC_API_KEY", "anthro")
	router := env("OPENROUTER_API_KEY", "router")
	for name, c := range map[string]struct {
		wish  Wish
		env   func(string) string
		url   string
		key   string
		model string
	}{
		"openai":             {Wish{}, env("OPENAI_API_KEY", " k\n"), "https://api.openai.com/v1", "k", "gpt-5.6-sol"},
		"anthropic":          {Wish{}, env("ANTHROPIC_API_KEY", "k"), "https://api.anthropic.com/v1", "k", "claude-sonnet-4-6"},
		"gemini":             {Wish{}, env("GEMINI_API_KEY", "k"), "https://generativelanguage.googleapis.com/v1beta/openai", "k", "gemini-3.1-pro-preview-customtools"},
		"gemini, older name": {Wish{}, env("GOOGLE_API_KEY", "k"), "https://generativelanguage.googleapis.com/v1beta/openai", "k", "gemini-3.1-pro-preview-customtools"},
		"mistral":            {Wish{}, env("MISTRAL_API_KEY", "k"), "https://api.mistral.ai/v1", "k", "mistral-medium-latest"},
		"azure":              {Wish{}, env("AZURE_OPENAI_API_KEY", "k", "AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com/"), "https://me.openai.azure.com/openai/v1", "k", "gpt-5"},
		"azure, deployment": {Wish{}, env("AZURE_OPENAI_API_KEY", "k", "AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com", "AZURE_OPENAI_DEPLOYMENT", "my gpt", "AZURE_OPENAI_API_VERSION", "2024-10-21"),
			"https://me.openai.azure.com/openai/deployments/my%20gpt?api-version=2024-10-21", "k", "my gpt"},
		"first of two":         {Wish{}, both, "https://api.anthropic.com/v1", "anthro", "claude-sonnet-4-6"},
		"named":                {Wish{Model: "openrouter/x/y"}, both, "https://openrouter.ai/api/v1", "router", "x/y"},
		"who has it":           {Wish{Model: "anthropic/claude-haiku-4.5"}, router, "https://openrouter.ai/api/v1", "router", "anthropic/claude-haiku-4.5"},
		"whose key is set":     {Wish{Model: "anthropic/claude-haiku-4.5"}, both, "https://api.anthropic.com/v1", "anthro", "claude-haiku-4.5"},
		"known to the second":  {Wish{Model: "x-ai/grok-4.20"}, both, "https://openrouter.ai/api/v1", "router", "x-ai/grok-4.20"},
		"unknown":              {Wish{Model: "brand-new"}, both, "https://api.anthropic.com/v1", "anthro", "brand-new"},
		"serves others too":    {Wish{Model: "huggingface/a/b"}, env("HF_TOKEN", "hf"), "https://router.huggingface.co/v1", "hf", "a/b"},
		"local, named":         {Wish{Model: "ollama/qwen3:8b"}, both, "http://127.0.0.1:11434/v1", "", "qwen3:8b"},
		"local, maker's name":  {Wish{Model: "lmstudio/openai/gpt-oss-20b"}, env(), "http://127.0.0.1:1234/v1", "", "openai/gpt-oss-20b"},
		"url":                  {Wish{BaseURL: "https://openrouter.ai/api/v1"}, both, "https://openrouter.ai/api/v1", "router", "anthropic/claude-sonnet-4.6"},
		"url, provider's name": {Wish{BaseURL: "https://api.anthropic.com/v1", Model: "anthropic/claude-haiku-4-5"}, both, "https://api.anthropic.com/v1", "anthro", "claude-haiku-4-5"},
		"url, router's own":    {Wish{BaseURL: "https://openrouter.ai/api/v1", Model: "openrouter/auto"}, router, "https://openrouter.ai/api/v1", "router", "openrouter/auto"},
		"router's own, named":  {Wish{Model: "openrouter/openrouter/auto"}, router, "https://openrouter.ai/api/v1", "router", "openrouter/auto"},
		"router's own, short":  {Wish{Model: "openrouter/auto"}, router, "https://openrouter.ai/api/v1", "router", "openrouter/auto"},
		"without a maker":      {Wish{Model: "groq/llama-3.1-8b-instant"}, env("GROQ_API_KEY", "k"), "https://api.groq.com/openai/v1", "k", "llama-3.1-8b-instant"},
		"url of a proxy":       {Wish{BaseURL: "http://gw.lan/v1", Model: "openai/x"}, env("OPENAI_API_KEY", "k", "OPENAI_BASE_URL", "http://gw.lan/v1"), "http://gw.lan/v1", "k", "openai/x"},
		"pair":                 {Wish{BaseURL: "https://openrouter.ai/api/v1"}, env("OPENAI_API_KEY", "sk-or-1", "OPENAI_BASE_URL", "https://openrouter.ai/api/v1"), "https://openrouter.ai/api/v1", "sk-or-1", "anthropic/claude-sonnet-4.6"},
	} {
		got, err := Choose(c.wish, c.env)
		if err != nil || got.BaseURL != c.url || got.Key != c.key || got.Model != c.model {
			t.Errorf("%s: %s %s %s, %v", name, got.BaseURL, got.Key, got.Model, err)
		}
	}
}

func TestChooseSaysWhatIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		wish Wish
		env  func(string) string
		want string
	}{
		"nothing":        {Wish{}, env(), ErrNothing.Error()},
		"hf alone":       {Wish{}, env("HF_TOKEN", "x"), ErrNothing.Error()},
		"named":          {Wish{Model: "groq/x"}, env("OPENAI_API_KEY", "k"), "export GROQ_API_KEY=…"},
		"url":            {Wish{BaseURL: "https://api.x.ai/v1"}, env("OPENAI_API_KEY", "k"), "export XAI_API_KEY=…"},
		"azure":          {Wish{}, env("AZURE_OPENAI_API_KEY", "k"), "AZURE_OPENAI_ENDPOINT"},
		"plain http":     {Wish{BaseURL: "http://api.openai.com/v1"}, env("OPENAI_API_KEY", "k"), "unencrypted"},
		"wrong variable": {Wish{}, env("OPENROUTER_API_KEY", "sk-ant-x"), "OPENROUTER_API_KEY holds a key of Anthropic"},
		"wrong pair": {Wish{BaseURL: "https://api.groq.com/openai/v1"}, env("OPENAI_API_KEY", "sk-proj-x", "OPENAI_BASE_URL", "https://api.groq.com/openai/v1"),
			"does not go to Groq"},
	} {
		_, err := Choose(c.wish, c.env)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "nothing" && !errors.Is(err, ErrNothing) {
			t.Errorf("%v", err)
		}
	}
}

// TestKeysStayAtHome sets every key at once and asks for every provider, by name
// and by URL, and for strangers: a key goes to its own provider's host only.
func TestKeysStayAtHome(t *testing.T) {
	owner := map[string][]string{} // of a key: its providers
	pairs := []string{"AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com"}
	for _, p := range Providers() {
		for _, k := range p.Keys {
			owner["key "+k] = append(owner["key "+k], p.ID)
			pairs = append(pairs, k, "key "+k)
		}
	}
	all := env(pairs...)
	var wishes []Wish
	for _, p := range Providers() {
		wishes = append(wishes, Wish{Model: p.ID + "/x"}, Wish{BaseURL: p.BaseURL}, Wish{BaseURL: p.BaseURL, Model: "openai/x"})
	}
	for _, s := range []string{"https://evil.example/v1", "https://api.openai.com.evil.example/v1", "http://127.0.0.1:8000/v1", "https://api.openai.com@evil.example/v1"} {
		wishes = append(wishes, Wish{BaseURL: s}, Wish{BaseURL: s, Model: "openai/gpt-5"})
	}
	for _, s := range []string{"ollama/x", "lmstudio/x", "llamacpp/x", "vllm/x"} {
		wishes = append(wishes, Wish{Model: s})
	}
	for _, w := range wishes {
		got, err := Choose(w, all)
		if err != nil {
			t.Errorf("%+v: %v", w, err)
			continue
		}
		if got.Key == "" {
			continue
		}
		at, err := url.Parse(got.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		home := false
		for _, id := range owner[got.Key] {
			p, _ := Find(id)
			own, _ := url.Parse(p.BaseURL)
			home = home || at.Host == own.Host || id == "azure" && strings.HasSuffix(at.Host, ".azure.com")
		}
		if !home {
			t.Errorf("%+v sends %q to %s", w, got.Key, at.Host)
		}
	}
}
