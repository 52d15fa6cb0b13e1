// Package catalogue knows the servers that speak chat completions.
package catalogue

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Server is a model server.
type Server struct {
	Name    string // as a person knows it
	BaseURL string
}

// localServers are the usual addresses of servers on this machine.
var localServers = []Server{
	{"Ollama", "http://127.0.0.1:11434/v1"},
	{"LM Studio", "http://127.0.0.1:1234/v1"},
	{"llama.cpp", "http://127.0.0.1:8080/v1"},
	{"vLLM", "http://127.0.0.1:8000/v1"},
}

// localTimeout is how long a server on this machine may take to list its models.
const localTimeout = 500 * time.Millisecond

// Local finds a model server on this machine, at OLLAMA_HOST or a usual port:
// the first of the list that answers a request for its models.
func Local(ctx context.Context, getenv func(string) string) (Server, bool) {
	candidates := localServers
	if host := getenv("OLLAMA_HOST"); host != "" {
		candidates = append([]Server{{"Ollama", ollama(host)}}, candidates...)
	}
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	// A proxy from the environment is for other machines.
	client := &http.Client{Transport: &http.Transport{Proxy: nil}}
	defer client.CloseIdleConnections()
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

// ollama is the base URL of a value of OLLAMA_HOST: a host, with or without
// scheme and port; 0.0.0.0 is where a server listens, not where it is asked.
func ollama(value string) string {
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	if err != nil {
		return localServers[0].BaseURL
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
