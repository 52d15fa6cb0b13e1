package catalogue

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Wish is what the settings say of the model.
type Wish struct {
	Model   string // a model, or provider/model; "" leaves it to the provider
	BaseURL string // of the server; "" leaves it to the keys
}

// Target is where the requests go.
type Target struct {
	Provider Provider // the zero value for a server that the catalogue does not know
	Local    string   // the id of a server on this machine; "" for any other
	BaseURL  string
	Key      string
	KeyName  string // the variable that holds the key, or should
	Model    string // "": the first that the server offers
}

// ErrNothing says that neither a key nor a server is set.
var ErrNothing = errors.New("neither a key nor a server is set")

// KeyError says that a provider was named whose key is not set.
type KeyError struct{ Provider Provider }

func (e *KeyError) Error() string {
	return fmt.Sprintf("the key of %s is not set: export %s=…", e.Provider.Name, e.Provider.Keys[0])
}

// Choose picks the server, the key and the model. A key goes to its own
// provider's server, and OPENAI_API_KEY also to the one that OPENAI_BASE_URL
// names, never to another.
func Choose(w Wish, getenv func(string) string) (Target, error) {
	if w.BaseURL != "" {
		return atURL(w, getenv)
	}
	held := WithKeys(getenv)
	head, rest, cut := strings.Cut(w.Model, "/")
	if named, ok := Find(head); ok && cut {
		if key, _ := named.key(getenv); key != "" {
			return target(named, named.own(w.Model), getenv)
		}
		for _, p := range held { // a gateway's models have the names of others in front
			if p.has(w.Model) {
				return target(p, w.Model, getenv)
			}
		}
		return Target{}, &KeyError{named}
	}
	if s, ok := localNamed(head, getenv); ok && cut {
		return s.Target(rest), nil
	}
	if len(held) == 0 {
		return Target{}, ErrNothing
	}
	for _, p := range held {
		if p.has(w.Model) {
			return target(p, w.Model, getenv)
		}
	}
	return target(held[0], w.Model, getenv)
}

// WithKeys lists the providers whose keys are set, those aside that want to be named.
func WithKeys(getenv func(string) string) (list []Provider) {
	for _, p := range Providers() {
		if key, _ := p.key(getenv); key != "" && !p.Named {
			list = append(list, p)
		}
	}
	return list
}

// key is the provider's key and its variable; without a key the variable to set.
func (p Provider) key(getenv func(string) string) (key, name string) {
	for _, name := range p.Keys {
		if key := strings.TrimSpace(getenv(name)); key != "" {
			return key, name
		}
	}
	return "", p.Keys[0]
}

// own is a model's name as the provider has it, without the provider's name in
// front. OpenRouter's models all have a maker's name there, and some its own: openrouter/auto.
func (p Provider) own(model string) string {
	rest, ok := strings.CutPrefix(model, p.ID+"/")
	if !ok || p.ID == "openrouter" && !strings.Contains(rest, "/") {
		return model
	}
	return rest
}

// target is a provider's own server.
func target(p Provider, model string, getenv func(string) string) (Target, error) {
	t := Target{Provider: p, BaseURL: p.BaseURL, Model: model}
	t.Key, t.KeyName = p.key(getenv)
	if p.ID == "azure" {
		if err := t.azure(getenv); err != nil {
			return t, err
		}
	}
	if t.Model == "" {
		t.Model = p.Model
	}
	return t, t.check()
}

// azure fills in the customer's own server, and the deployment that stands for the model.
func (t *Target) azure(getenv func(string) string) error {
	endpoint := strings.TrimRight(first(getenv("AZURE_OPENAI_ENDPOINT"), getenv("AZURE_OPENAI_API_ENDPOINT")), "/")
	if endpoint == "" {
		return errors.New("AZURE_OPENAI_API_KEY is set, but not AZURE_OPENAI_ENDPOINT, as https://NAME.openai.azure.com")
	}
	if t.Model == "" {
		t.Model = first(getenv("AZURE_OPENAI_DEPLOYMENT"), t.Provider.Model)
	}
	version := getenv("AZURE_OPENAI_API_VERSION")
	endpoint = strings.TrimSuffix(strings.TrimSuffix(endpoint, "/v1"), "/openai")
	if strings.HasPrefix(version, "20") { // the API before v1 had a date, and an address for each deployment
		t.BaseURL = endpoint + "/openai/deployments/" + url.PathEscape(t.Model) + "?api-version=" + url.QueryEscape(version)
		return nil
	}
	t.BaseURL = endpoint + "/openai/v1"
	return nil
}

// atURL is a server that was named by its URL.
func atURL(w Wish, getenv func(string) string) (Target, error) {
	p, known := At(w.BaseURL)
	t := Target{Provider: p, BaseURL: w.BaseURL, Model: w.Model, KeyName: "OPENAI_API_KEY"}
	if known {
		t.Model = p.own(w.Model)
		if t.Model == "" {
			t.Model = p.Model
		}
		t.Key, t.KeyName = p.key(getenv)
	}
	if t.Key == "" && sameHost(w.BaseURL, getenv("OPENAI_BASE_URL")) {
		if key := strings.TrimSpace(getenv("OPENAI_API_KEY")); key != "" {
			t.Key, t.KeyName = key, "OPENAI_API_KEY"
		}
	}
	if known && t.Key == "" {
		return t, &KeyError{p}
	}
	return t, t.check()
}

// check refuses to send a key to a provider that is not its own, and to send
// one unencrypted over the network to a provider.
func (t Target) check() error {
	if t.Key == "" || t.Provider.ID == "" {
		return nil
	}
	for _, p := range Providers() {
		if p.Prefix != "" && strings.HasPrefix(t.Key, p.Prefix) && p.ID != t.Provider.ID {
			return fmt.Errorf("%s holds a key of %s, which does not go to %s (%s): set %s",
				t.KeyName, p.Name, t.Provider.Name, hostOf(t.BaseURL), t.Provider.Keys[0])
		}
	}
	if u, err := url.Parse(t.BaseURL); err == nil && u.Scheme != "https" && !loopback(u.Hostname()) {
		return fmt.Errorf("the base URL %s would send the key unencrypted: write https://", t.BaseURL)
	}
	return nil
}

func sameHost(a, b string) bool { return b != "" && strings.EqualFold(hostOf(a), hostOf(b)) }

// hostOf is the host and port of a URL.
func hostOf(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	return u.Host
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
