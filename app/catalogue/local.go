package catalogue

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Server is a model server on this machine.
type Server struct {
	ID      string // as in -m server/model
	Name    string // as a person knows it
	BaseURL string
}

// Target is a model of the server.
func (s Server) Target(model string) Target {
	return Target{Local: s.ID, BaseURL: s.BaseURL, Model: model}
}

// localServers are the servers at their usual addresses; Ollama's is at OLLAMA_HOST where that is set.
func localServers(getenv func(string) string) []Server {
	ollama := "http://127.0.0.1:11434/v1"
	if host := getenv("OLLAMA_HOST"); host != "" {
		ollama = ollamaURL(host, ollama)
	}
	return []Server{
		{"ollama", "Ollama", ollama},
		{"lmstudio", "LM Studio", "http://127.0.0.1:1234/v1"},
		{"llamacpp", "llama.cpp", "http://127.0.0.1:8080/v1"},
		{"vllm", "vLLM", "http://127.0.0.1:8000/v1"},
	}
}

// localNamed is the server of an id.
func localNamed(id string, getenv func(string) string) (Server, bool) {
	for _, s := range localServers(getenv) {
		if s.ID == id {
			return s, true
		}
	}
	return Server{}, false
}

// localTimeout is how long a server on this machine may take to list its models.
const localTimeout = 500 * time.Millisecond

// Local finds a model server on this machine, at OLLAMA_HOST or a usual port:
// the first of the list that answers a request for its models. It sends no key.
func Local(ctx context.Context, client *http.Client, getenv func(string) string) (Server, bool) {
	candidates := localServers(getenv)
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	answers := make([]chan bool, len(candidates))
	for i, s := range candidates {
		answers[i] = make(chan bool, 1)
		go func() { answers[i] <- lists(ctx, client, s.BaseURL) }()
	}
	for i, s := range candidates {
		if <-answers[i] {
			return s, true
		}
	}
	return Server{}, false
}

// lists tells whether a server answers for its models as the API says.
func lists(ctx context.Context, client *http.Client, base string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK && strings.Contains(resp.Header.Get("Content-Type"), "json")
}

// ollamaURL is the base URL of a value of OLLAMA_HOST: a host, with or without
// scheme and port; 0.0.0.0 is where a server listens, not where it is asked.
// What cannot be read is the usual address.
func ollamaURL(value, usual string) string {
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	if err != nil {
		return usual
	}
	host, port := u.Hostname(), u.Port()
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "11434"
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port) + "/v1"
}
