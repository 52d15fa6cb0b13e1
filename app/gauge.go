package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/phero-agent/agent/session"
)

// gauge tells how full the context window is: from what the server counts, and
// from an estimate that follows the server's counts where it gives none. It
// belongs to the goroutine that owns the conversation.
type gauge struct {
	window int     // that an overflow taught; 0: the model's
	model  string  // the one that it taught it of
	ratio  float64 // of the server's count to our estimate; 0: no count came yet
	fixed  int     // bytes of what each request begins with: the system prompt and the tools
	warned bool    // that the server seems to leave out the beginning
}

// Bytes for a token of English text and code, before a server has counted.
const bytesPerToken = 4

const (
	imageBytes   = 1500 * bytesPerToken // what a picture of the size that we send costs about
	messageBytes = 4 * bytesPerToken    // around each message
)

// weight is the size of messages in a request, in bytes.
func weight(messages []session.Message) int {
	n := 0
	for _, m := range messages {
		n += messageBytes + len(m.Text) + len(m.Echo) + len(m.Images)*imageBytes
		for _, c := range m.Calls {
			n += messageBytes + len(c.Name) + len(c.Arguments)
		}
	}
	return n
}

// weigh measures what each request begins with.
func (g *gauge) weigh(system string, specs []ToolSpec) {
	g.fixed = len(system) + weightOf(specs)
}

func weightOf(specs []ToolSpec) int {
	n := 0
	for _, s := range specs {
		schema, err := json.Marshal(s.Schema)
		if err != nil {
			continue // it was sent, so that it can be marshalled
		}
		n += messageBytes + len(s.Name) + len(s.Description) + len(schema)
	}
	return n
}

// tokens is about how many tokens so many bytes are for the server.
func (g *gauge) tokens(bytes int) int {
	n := float64(bytes) / bytesPerToken
	if g.ratio > 0 {
		n *= g.ratio
	}
	return int(n)
}

// bytes is about how many bytes so many tokens are.
func (g *gauge) bytes(tokens int) int {
	n := float64(tokens) * bytesPerToken
	if g.ratio > 0 {
		n /= g.ratio
	}
	return int(n)
}

// A count below this part of the estimate is no other tokenizer, but a prompt
// whose beginning was left out.
const cutBelow = 0.4

// A prompt below this estimate is too small to tell.
const cutFrom = 3000

// counted takes the server's count of a request of so many bytes. It returns
// false where the server seems to have left out the beginning; once.
func (g *gauge) counted(input, bytes int) bool {
	estimate := float64(bytes) / bytesPerToken
	if input <= 0 || estimate <= 0 {
		return true
	}
	ratio := float64(input) / estimate
	if ratio < cutBelow && estimate > cutFrom {
		first := !g.warned
		g.warned = true
		return !first
	}
	g.ratio = min(max(ratio, cutBelow), 4)
	return true
}

// overflowed learns the window from a request of so many bytes that was too
// large; said is what the server says of it, 0 for nothing.
func (g *gauge) overflowed(said, bytes int) {
	sent := g.tokens(bytes)
	switch {
	case said <= 0:
		g.window = sent * 9 / 10
	case sent < said: // the estimate was too small
		g.window = said
		g.ratio = float64(said) * bytesPerToken / float64(max(1, bytes))
	default:
		g.window = said
	}
}

// count takes what a reply cost, and tells the screen.
func (a *App) count(t *thread, m *session.Message, req Request) {
	if !t.own() { // it fills another window
		if m.Usage != nil {
			a.tally.spend(*m.Usage, a.modelInfo())
		}
		return
	}
	bytes := a.gauge.fixed + weight(req.Messages)
	u := session.Usage{}
	estimated := m.Usage == nil || m.Usage.Input == 0
	if estimated {
		u.Input, u.Output = a.gauge.tokens(bytes), a.gauge.tokens(weight([]session.Message{*m}))
	} else {
		u = *m.Usage
		// Servers count pictures so differently that nothing can be told from them.
		pictures := slices.ContainsFunc(req.Messages, func(m session.Message) bool { return len(m.Images) > 0 })
		if !pictures && !a.gauge.counted(u.Input, bytes) && !a.opts.Scripted {
			a.emit(Notice{Level: Warning, Text: fmt.Sprintf("%s reports a prompt of %d tokens where about %d were sent: it seems to leave out the beginning. Give it a larger context (Ollama: OLLAMA_CONTEXT_LENGTH=32768 before its start; llama.cpp: -c 32768)",
				a.opts.Host, u.Input, bytes/bytesPerToken)})
		}
		a.tally.spend(u, a.modelInfo())
	}
	a.emit(Usage{Last: u, Window: a.window(), Estimated: estimated, Cost: a.tally.dollars()})
}

func plus(a, b session.Usage) session.Usage {
	return session.Usage{
		Input: a.Input + b.Input, Output: a.Output + b.Output,
		CacheRead: a.CacheRead + b.CacheRead, Reasoning: a.Reasoning + b.Reasoning,
	}
}

// window is the context window of the model, in tokens; 0 where it is not known.
func (a *App) window() int {
	info := a.modelInfo()
	switch {
	case info == nil:
		return 0
	case a.gauge.window > 0 && a.gauge.model == info.ID:
		return a.gauge.window
	}
	return info.Window
}

// modelInfo is what is known of the model, nil until its provider is made.
func (a *App) modelInfo() *ModelInfo {
	a.mu.Lock()
	p := a.model.provider
	a.mu.Unlock()
	if p == nil {
		return nil
	}
	info := p.Info()
	return &info
}

// ContextReport says what the next request consists of, in tokens.
type ContextReport struct {
	Window int // 0 where it is not known
	Parts  []ContextPart
	Cost   float64 // of the session so far, in dollars; 0 where prices are not known
}

// ContextPart is one kind of what the model is told.
type ContextPart struct {
	Name   string
	Tokens int
}

// Used is the sum of the parts.
func (r ContextReport) Used() int {
	n := 0
	for _, p := range r.Parts {
		n += p.Tokens
	}
	return n
}

// Context says what fills the context window. It waits for nothing but a turn's end.
func (a *App) Context() (r ContextReport, err error) {
	err = a.idle(func() error {
		told, _ := readInstructions(a.opts)
		system := systemPrompt(a.opts, told)
		files := 0
		for _, i := range told {
			files += len(i.text)
		}
		sizes := map[string]int{}
		for _, m := range a.history() {
			sizes[partOf(m)] += weight([]session.Message{m})
		}
		r = ContextReport{Window: a.window(), Cost: a.tally.dollars()}
		add := func(name string, bytes int) {
			r.Parts = append(r.Parts, ContextPart{Name: name, Tokens: a.gauge.tokens(bytes)})
		}
		add("system prompt", len(system)-files)
		add("instructions (AGENTS.md)", files)
		ours, theirs := partition(a.own.specs)
		add("tools", weightOf(ours))
		if len(theirs) > 0 {
			add("tools of MCP servers", weightOf(theirs))
		}
		for _, name := range []string{partUser, partModel, partResults} {
			add(name, sizes[name])
		}
		return nil
	})
	return r, err
}

// partition tells our own tools from those of MCP servers.
func partition(specs []ToolSpec) (ours, theirs []ToolSpec) {
	for _, s := range specs {
		if strings.HasPrefix(s.Name, "mcp_") {
			theirs = append(theirs, s)
		} else {
			ours = append(ours, s)
		}
	}
	return ours, theirs
}

// The kinds of messages in a report.
const (
	partUser    = "your messages and notes"
	partModel   = "the model's replies and calls"
	partResults = "results of tools"
)

func partOf(m session.Message) string {
	switch m.Role {
	case session.RoleUser:
		return partUser
	case session.RoleTool:
		return partResults
	}
	return partModel
}
