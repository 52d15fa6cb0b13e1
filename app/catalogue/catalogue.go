// Package catalogue knows the servers that speak chat completions: whose keys
// are in which variables, where the servers are, and what their models can do.
//
//	settings + environment ─► Choose ─► Target ─► a client
//	                             └─ nothing is set ─► Local
//
// The data is embedded and read when it is asked for; nothing of it is read
// before main. It is made from charm.land/catwalk by go generate.
package catalogue

//go:generate go run ./generate

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/phero-agent/agent/app"
)

//go:embed providers.json models/*.json
var data embed.FS

// Provider is who offers models behind a server of chat completions.
type Provider struct {
	ID      string   `json:"id"` // as in -m provider/model
	Name    string   `json:"name"`
	BaseURL string   `json:"base_url"`
	Keys    []string `json:"keys"`   // the variables that may hold its key
	Prefix  string   `json:"prefix"` // of its keys, where no other provider has it
	Named   bool     `json:"named"`  // used when it is named only: its key's variable serves other purposes too
	Model   string   `json:"model"`  // the one to begin with (decision 27)
}

// Providers lists the providers in the order in which their keys are looked for.
var Providers = sync.OnceValue(func() []Provider {
	var list []Provider
	decode("providers.json", &list)
	return list
})

// decode reads embedded data. That it can be read is held by a test.
func decode(name string, into any) {
	text, err := data.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		panic(fmt.Sprintf("the embedded catalogue %s: %v", name, err))
	}
}

// Find is the provider of an id.
func Find(id string) (Provider, bool) {
	i := slices.IndexFunc(Providers(), func(p Provider) bool { return p.ID == id })
	if i < 0 {
		return Provider{}, false
	}
	return Providers()[i], true
}

// At is the provider whose server a base URL names. Where two share a host, the
// longest path that fits decides.
func At(baseURL string) (best Provider, ok bool) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return best, false
	}
	length := -1
	for _, p := range Providers() {
		own, err := url.Parse(p.BaseURL)
		if err != nil || !sameServer(own, u, p.ID) {
			continue
		}
		n := 0
		if strings.HasPrefix(u.Path+"/", own.Path+"/") {
			n = len(own.Path) + 1
		}
		if n > length {
			best, length, ok = p, n, true
		}
	}
	return best, ok
}

func sameServer(own, u *url.URL, id string) bool {
	if id == "azure" { // every customer has a host
		return strings.HasSuffix(strings.ToLower(u.Hostname()), ".azure.com")
	}
	return strings.EqualFold(own.Hostname(), u.Hostname())
}

// row is a model as the data has it.
type row struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Window    int      `json:"window"`
	MaxOutput int      `json:"max_output"`
	In        float64  `json:"in"`
	Out       float64  `json:"out"`
	Cached    float64  `json:"cached"`
	Images    bool     `json:"images"`
	Reasons   bool     `json:"reasons"`
	Efforts   []string `json:"efforts"`
}

// Models lists the provider's models that speak chat completions, by id.
func (p Provider) Models() []app.ModelInfo {
	var rows []row
	decode("models/"+p.ID+".json", &rows)
	list := make([]app.ModelInfo, len(rows))
	for i, r := range rows {
		list[i] = app.ModelInfo{
			ID: r.ID, Name: r.Name, Provider: p.ID, Window: r.Window, MaxOutput: r.MaxOutput,
			Prices: app.Prices{Input: r.In, Output: r.Out, CacheRead: r.Cached},
			Vision: ability(r.Images), Reasoning: ability(r.Reasons), Efforts: r.Efforts,
		}
	}
	return list
}

func ability(yes bool) app.Ability {
	if yes {
		return app.Yes
	}
	return app.No
}

// Info is what is known of a model at a provider's server. A model that the
// catalogue does not know has its id and its provider only.
func (p Provider) Info(model string) app.ModelInfo {
	if p.ID != "" {
		for _, m := range p.Models() {
			if m.ID == model {
				return m
			}
		}
	}
	return app.ModelInfo{ID: model, Provider: p.ID}
}

// makers are those whose models only they and gateways serve, with the same windows.
var makers = []string{"openai", "anthropic", "gemini", "xai"}

// Behind is what is known of a model behind a server that the catalogue does not
// know, as a company's gateway: what its maker says, but not what is charged.
func Behind(model string) app.ModelInfo {
	name := model[strings.LastIndex(model, "/")+1:]
	for _, id := range makers {
		if p, _ := Find(id); p.has(name) {
			info := p.Info(name)
			info.ID, info.Provider, info.Prices = model, "", app.Prices{}
			return info
		}
	}
	return app.ModelInfo{ID: model}
}

// has tells whether the catalogue knows the model. It searches the text, because
// it is asked of many providers before the screen is there: a model begins its line.
func (p Provider) has(model string) bool {
	id, err := json.Marshal(model)
	if err != nil || p.ID == "" {
		return false
	}
	text, err := data.ReadFile("models/" + p.ID + ".json")
	return err == nil && bytes.Contains(text, fmt.Appendf(nil, "\n{\"id\":%s,", id))
}
