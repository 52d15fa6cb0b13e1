// Command generate makes the embedded catalogue from the configurations of
// charm.land/catwalk and the overlay in this package's directory. It needs the
// module proxy, or the module in the cache.
//
//	catwalk ─┐
//	         ├─► providers.json, models/<provider>.json, LICENSE.catwalk
//	overlay ─┘
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// source is where the data comes from.
const source = "charm.land/catwalk@v0.52.1"

// provider is a provider as catwalk writes it, and as the overlay does.
type provider struct {
	Name     string  `json:"name"`
	ID       string  `json:"id"`
	Type     string  `json:"type"`
	Key      string  `json:"api_key"`
	Endpoint string  `json:"api_endpoint"`
	Large    string  `json:"default_large_model_id"`
	Models   []model `json:"models"`
}

type model struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	In        float64  `json:"cost_per_1m_in"`
	Out       float64  `json:"cost_per_1m_out"`
	InCached  float64  `json:"cost_per_1m_in_cached"`
	OutCached float64  `json:"cost_per_1m_out_cached"`
	Window    int      `json:"context_window"`
	MaxOutput int      `json:"default_max_tokens"`
	Reasons   bool     `json:"can_reason"`
	Efforts   []string `json:"reasoning_levels"`
	Images    bool     `json:"supports_attachments"`
}

// overlay says what catwalk does not: endpoints of chat completions where it
// names another API, keys' other names, who is chosen first, and whom to leave out.
type overlay struct {
	First  []string                `json:"first"`  // the order in which keys are looked for
	Named  []string                `json:"named"`  // only by name: their keys also serve other purposes
	Omit   []string                `json:"omit"`   // no key and no endpoint of chat completions
	Hidden []string                `json:"hidden"` // parts of names of models that do not speak chat completions, by provider/part
	Change map[string]providerEdit `json:"change"`
	Add    []provider              `json:"add"`
	From   map[string]string       `json:"from"` // where the models of an added provider are: provider/prefix of another one
}

type providerEdit struct {
	Endpoint string   `json:"endpoint"`
	Model    string   `json:"model"`
	Keys     []string `json:"keys"`
	Prefix   string   `json:"prefix"` // of its keys, where it is its alone
}

// entry is a provider as the program reads it, and row a model.
type entry struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	BaseURL string   `json:"base_url"`
	Keys    []string `json:"keys"`
	Prefix  string   `json:"prefix,omitempty"`
	Named   bool     `json:"named,omitempty"`
	Model   string   `json:"model"`
}

type row struct {
	ID        string   `json:"id"`
	Name      string   `json:"name,omitempty"`
	Window    int      `json:"window,omitempty"`
	MaxOutput int      `json:"max_output,omitempty"`
	In        float64  `json:"in,omitempty"`
	Out       float64  `json:"out,omitempty"`
	Cached    float64  `json:"cached,omitempty"`
	Images    bool     `json:"images,omitempty"`
	Reasons   bool     `json:"reasons,omitempty"`
	Efforts   []string `json:"efforts,omitempty"`
}

func main() {
	log.SetFlags(0)
	if err := generate(); err != nil {
		log.Fatal(err)
	}
}

func generate() error {
	dir, err := module(source)
	if err != nil {
		return err
	}
	var over overlay
	if err := read("overlay.json", &over); err != nil {
		return err
	}
	providers, err := merged(filepath.Join(dir, "internal", "providers", "configs"), over)
	if err != nil {
		return err
	}
	licence, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
	if err != nil {
		return err
	}
	if err := os.WriteFile("LICENSE.catwalk", licence, 0o644); err != nil {
		return err
	}
	return write(providers, over)
}

// module is the directory of a module's files.
func module(path string) (string, error) {
	out, err := exec.Command("go", "mod", "download", "-json", path).Output()
	var got struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &got); jsonErr == nil && got.Error != "" {
		return "", fmt.Errorf("%s: %s", path, got.Error)
	}
	return got.Dir, err
}

func read(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// merged are catwalk's providers with the overlay over them, those that are
// looked for first in front, the others by name.
func merged(dir string, over overlay) ([]provider, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	all := map[string]provider{}
	for _, path := range paths {
		var p provider
		if err := read(path, &p); err != nil {
			return nil, err
		}
		all[p.ID] = p
	}
	for _, p := range over.Add {
		from, prefix, _ := strings.Cut(over.From[p.ID], "/")
		for _, m := range all[from].Models {
			if id, ok := strings.CutPrefix(m.ID, prefix+"/"); ok {
				m.ID = id
				p.Models = append(p.Models, m)
			}
		}
		all[p.ID] = p
	}
	var list []provider
	for id, p := range all {
		if change := over.Change[id]; change.Endpoint != "" {
			p.Endpoint = change.Endpoint
		}
		if !slices.Contains(over.Omit, id) {
			list = append(list, p)
		}
	}
	rank := func(p provider) int {
		if i := slices.Index(over.First, p.ID); i >= 0 {
			return i
		}
		return len(over.First)
	}
	slices.SortFunc(list, func(a, b provider) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

func write(providers []provider, over overlay) error {
	if err := os.RemoveAll("models"); err != nil {
		return err
	}
	if err := os.Mkdir("models", 0o755); err != nil {
		return err
	}
	var entries []entry
	for _, p := range providers {
		e := entry{ID: p.ID, Name: p.Name, BaseURL: strings.TrimRight(p.Endpoint, "/"), Named: slices.Contains(over.Named, p.ID)}
		change := over.Change[p.ID]
		if e.Keys, e.Prefix = change.Keys, change.Prefix; len(e.Keys) == 0 {
			e.Keys = []string{strings.TrimPrefix(p.Key, "$")}
		}
		rows := rowsOf(p, over.Hidden)
		if e.Model = cmp.Or(change.Model, p.Large); !slices.ContainsFunc(rows, func(r row) bool { return r.ID == e.Model }) {
			e.Model = ""
		}
		if e.Model == "" || strings.HasPrefix(e.BaseURL, "$") || e.Keys[0] == "" {
			return fmt.Errorf("%s needs a row in overlay.json: model %q (catwalk's is %s), base URL %q, key %q", p.ID, e.Model, p.Large, e.BaseURL, e.Keys[0])
		}
		entries = append(entries, e)
		if err := writeLines(filepath.Join("models", p.ID+".json"), rows); err != nil {
			return err
		}
	}
	return writeLines("providers.json", entries)
}

func rowsOf(p provider, hidden []string) []row {
	var rows []row
	for _, m := range p.Models {
		if slices.ContainsFunc(hidden, func(h string) bool {
			of, part, _ := strings.Cut(h, "/")
			return of == p.ID && strings.Contains(m.ID, part)
		}) {
			continue
		}
		r := row{ID: m.ID, Name: m.Name, Window: m.Window, MaxOutput: m.MaxOutput, In: price(m.In), Out: price(m.Out), Images: m.Images, Reasons: m.Reasons, Efforts: m.Efforts}
		// catwalk names the price of a cached token now as that of reading, now as
		// that of writing: the lower one is that of reading.
		for _, c := range []float64{m.InCached, m.OutCached} {
			if c > 0 && c < m.In && (r.Cached == 0 || c < r.Cached) {
				r.Cached = price(c)
			}
		}
		if r.Cached == 0 {
			r.Cached = r.In
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.ID, b.ID) })
	return rows
}

// price takes off what binary fractions added.
func price(f float64) float64 {
	var out float64
	fmt.Sscanf(fmt.Sprintf("%.6f", f), "%g", &out)
	return out
}

// writeLines writes a list, an item a line, so that a change of the data reads well.
func writeLines[T any](path string, list []T) error {
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, item := range list {
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(item); err != nil {
			return err
		}
		b.Write(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
		if i < len(list)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	return os.WriteFile(path, b.Bytes(), 0o644)
}
