package openai

import (
	"encoding/json"
	"strings"
)

// The marks of Kimi's template, which some servers leave in the text.
const (
	leakSection    = "<|tool_calls_section_begin|>"
	leakSectionEnd = "<|tool_calls_section_end|>"
	leakCall       = "<|tool_call_begin|>"
	leakArguments  = "<|tool_call_argument_begin|>"
	leakCallEnd    = "<|tool_call_end|>"
)

// leakFilter holds back text from Kimi's first mark on. At the end it is read
// as calls, or given out as the text that it was.
type leakFilter struct {
	text func(string)

	tail    string // the text's end that may become the mark
	held    strings.Builder
	holding bool
}

func (f *leakFilter) add(s string) {
	if f.holding {
		f.held.WriteString(s)
		return
	}
	s = f.tail + s
	f.tail = ""
	before, _, found := strings.Cut(s, leakSection)
	if found {
		f.holding = true
		f.held.WriteString(s[len(before):])
	} else {
		n := partial(s, leakSection)
		before, f.tail = s[:len(s)-n], s[len(s)-n:]
	}
	if before != "" {
		f.text(before)
	}
}

// leaked is a call that was found in the text.
type leaked struct{ name, arguments string }

// flush ends the text. Calls come back only when all that was held back is
// calls of offered tools; anything else is text.
func (f *leakFilter) flush(offered func(string) bool) []leaked {
	if f.tail != "" {
		f.text(f.tail)
		f.tail = ""
	}
	if !f.holding {
		return nil
	}
	f.holding = false
	held := f.held.String()
	calls, ok := leakedCalls(held, offered)
	if !ok {
		f.text(held)
	}
	return calls
}

func leakedCalls(s string, offered func(string) bool) ([]leaked, bool) {
	s = strings.TrimSpace(strings.TrimPrefix(s, leakSection))
	s, ended := strings.CutSuffix(s, leakSectionEnd)
	if !ended {
		return nil, false
	}
	var calls []leaked
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		call, rest, ok := strings.Cut(s, leakCallEnd)
		s = rest
		call, begun := strings.CutPrefix(call, leakCall)
		id, arguments, split := strings.Cut(call, leakArguments)
		// The id is functions.NAME:NUMBER.
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(id), "functions."), ":")
		if !ok || !begun || !split || !offered(name) || !json.Valid([]byte(arguments)) {
			return nil, false
		}
		calls = append(calls, leaked{name: name, arguments: strings.TrimSpace(arguments)})
	}
	return calls, len(calls) > 0
}
