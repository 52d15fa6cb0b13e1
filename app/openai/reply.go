package openai

import (
	"encoding/json"
	"strings"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
)

// reply puts a reply together from its chunks, and emits what arrives.
type reply struct {
	emit    func(app.Delta)
	offered func(string) bool // the names of the tools of the request

	text, reasoning strings.Builder
	think           thinkSplitter
	leak            leakFilter
	calls           openCalls
	details         details
	echoed          bool // reasoning came as reasoning_content, which its server wants back

	begun  bool   // something was emitted
	finish string // the server's word, "" until it came
	ended  bool   // [DONE] came
	usage  *session.Usage
}

func newReply(offered func(string) bool, emit func(app.Delta)) *reply {
	r := &reply{emit: emit, offered: offered}
	r.leak.text = r.addText
	r.think.text = r.leak.add
	r.think.reasoning = r.addReasoning
	return r
}

func (r *reply) addText(s string) {
	r.text.WriteString(s)
	r.begun = true
	r.emit(app.Delta{Text: s})
}

func (r *reply) addReasoning(s string) {
	r.reasoning.WriteString(s)
	r.begun = true
	r.emit(app.Delta{Reasoning: s})
}

// add takes a chunk that is no error.
func (r *reply) add(c *chunk) {
	r.setUsage(c.Usage)
	if c.Groq != nil {
		r.setUsage(c.Groq.Usage)
	}
	// Some servers send the text and the calls as choices of their own.
	for i := range c.Choices {
		ch := &c.Choices[i]
		r.setUsage(ch.Usage)
		if ch.FinishReason != "" {
			r.finish = ch.FinishReason
		}
		if d := ch.Delta; d != nil {
			r.addDelta(d)
		} else if ch.Message != nil {
			r.addDelta(ch.Message)
		}
	}
}

func (r *reply) addDelta(d *delta) {
	text, thought := contents(d.Content)
	if s := d.reasoningOf(); s != "" {
		thought = s
	}
	if thought != "" {
		r.addReasoning(thought)
	}
	if d.ReasoningContent != nil {
		r.echoed = true
	}
	r.details.add(d.ReasoningDetails)
	if text += d.Refusal; text != "" {
		r.think.add(text)
	}
	for i, p := range d.ToolCalls {
		r.addCall(p, i == 0)
	}
	if f := d.FunctionCall; f != nil && (f.Name != "" || f.Arguments != "") {
		r.addCall(callPiece{Function: *f}, true)
	}
}

func (r *reply) addCall(p callPiece, first bool) {
	at := r.calls.add(p, first)
	c := r.calls.list[at]
	r.begun = true
	r.emit(app.Delta{Call: &app.CallProgress{Index: at, Name: c.name, Bytes: c.arguments.Len()}})
}

// setUsage keeps the newest usage. Usage in each chunk counts from the beginning, so that nothing is added up.
func (r *reply) setUsage(u *usage) {
	if u.empty() {
		return
	}
	r.usage = &session.Usage{
		Input:     int(u.Prompt),
		Output:    int(u.Completion),
		CacheRead: int(max(u.PromptDetails.Cached, u.CacheHit)),
		Reasoning: int(u.CompletionDetails.Reasoning),
	}
}

// close ends the reply. A reply that was cut keeps its text and none of its calls.
func (r *reply) close(cut bool) app.Reply {
	r.think.flush()
	var found []leaked
	if offered := r.offered; !cut && len(r.calls.list) == 0 {
		found = r.leak.flush(offered)
	} else {
		r.leak.flush(func(string) bool { return false })
	}
	for _, l := range found {
		r.addCall(callPiece{Function: functionPiece{Name: l.name, Arguments: argumentText(l.arguments)}}, false)
	}
	finish := finishes(r.finish)
	m := session.Message{
		Role:      session.RoleAssistant,
		Text:      r.text.String(),
		Reasoning: r.reasoning.String(),
		Usage:     r.usage,
		Cut:       cut,
	}
	if cut {
		return app.Reply{Message: m}
	}
	m.Calls = r.closeCalls(finish == finishLength)
	m.Echo = r.echo(m.Calls)
	switch {
	case finish == finishLength || finish == finishFilter:
	case len(m.Calls) > 0:
		finish = finishCalls
	default:
		finish = finishStop
	}
	return app.Reply{Message: m, Finish: finish}
}

func (r *reply) closeCalls(limited bool) []tools.ToolCall {
	calls := r.calls.close(r.offered, limited)
	if len(calls) == 0 {
		return nil
	}
	return calls
}

// echo is what the server wants back with the calls of the reply.
func (r *reply) echo(calls []tools.ToolCall) json.RawMessage {
	if len(calls) == 0 {
		return nil
	}
	fields := map[string]any{}
	if r.echoed {
		fields["reasoning_content"] = r.reasoning.String()
	}
	if list := r.details.list(); len(list) > 0 {
		fields["reasoning_details"] = list
	}
	if len(fields) == 0 {
		return nil
	}
	echo, _ := json.Marshal(fields) // strings and JSON that was decoded
	return echo
}

// The ends of a reply, as app.Reply names them.
const (
	finishStop   = "stop"
	finishCalls  = "tool_calls"
	finishLength = "length"
	finishFilter = "content_filter"
)

// The ends of a reply that are errors.
const (
	finishError   = "error"
	finishBadCall = "bad_call" // the model wrote a call that the server cannot read
)

// finishes maps a server's word for the end of a reply. A word that it does not
// know is an ordinary end.
func finishes(word string) string {
	w := strings.ToLower(word)
	switch {
	case w == "length", w == "max_tokens", w == "model_length", w == "model_context_window_exceeded":
		return finishLength
	case strings.Contains(w, "malformed"):
		return finishBadCall
	case w == "content_filter", w == "safety", w == "refusal", w == "sensitive", w == "recitation",
		w == "prohibited_content", w == "blocklist", strings.HasPrefix(w, "content_filter"):
		return finishFilter
	case w == finishError, w == "network_error", w == "insufficient_system_resource", w == "abort":
		return finishError
	}
	return finishStop
}

// details joins OpenRouter's reasoning_details. Pieces of one index and type are
// one detail: its texts are joined, its other fields set.
type details struct{ open []*detail }

type detail struct {
	index, kind string
	fields      map[string]json.RawMessage
	texts       map[string]*strings.Builder
}

func (ds *details) add(pieces []map[string]json.RawMessage) {
	for _, p := range pieces {
		d := ds.find(string(p["index"]), string(p["type"]))
		for key, value := range p {
			var s string
			joined := key == "text" || key == "summary" || key == "data"
			if !joined || json.Unmarshal(value, &s) != nil {
				if string(value) != "null" {
					d.fields[key] = value
				}
				continue
			}
			if d.texts[key] == nil {
				d.texts[key] = &strings.Builder{}
			}
			d.texts[key].WriteString(s)
		}
	}
}

func (ds *details) find(index, kind string) *detail {
	for i := len(ds.open) - 1; i >= 0; i-- {
		if d := ds.open[i]; d.index == index && d.kind == kind && (index != "" || kind != "reasoning.encrypted") {
			return d
		}
	}
	d := &detail{index: index, kind: kind, fields: map[string]json.RawMessage{}, texts: map[string]*strings.Builder{}}
	ds.open = append(ds.open, d)
	return d
}

func (ds *details) list() []map[string]any {
	out := make([]map[string]any, len(ds.open))
	for i, d := range ds.open {
		out[i] = make(map[string]any, len(d.fields)+len(d.texts))
		for key, value := range d.fields {
			out[i][key] = value
		}
		for key, text := range d.texts {
			out[i][key] = text.String()
		}
	}
	return out
}
