package app

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// StreamVersion is the version of what stream-json and json print. It grows when
// a field or a type of event changes its meaning or goes; new ones do not change it.
const StreamVersion = 1

// streamKind is a kind of event of stream-json.
type streamKind struct {
	name  string
	event Event
	doc   string
}

// streamKinds are all of them, in the order of docs/headless.md. The kinds that
// are missing are about questions and the screen, and do not come without one.
func streamKinds() []streamKind {
	return []streamKind{
		{"state", State{}, "what the run works on and with; again when that changes"},
		{"opened", Opened{}, "a session is open; a resumed one with the entries of its log"},
		{"turn_started", TurnStarted{}, "the model works from now on"},
		{"committed", Committed{}, "an entry was written to the session's log: a message, a call's result, a change of a file, and the rest"},
		{"reply_delta", ReplyDelta{}, "a piece of a reply that comes in; the whole one is committed after it"},
		{"call_delta", CallDelta{}, "a call is coming in"},
		{"tool_started", ToolStarted{}, "a call runs; its result is committed"},
		{"tool_output", ToolOutput{}, "output of a running command"},
		{"tool_silent", ToolSilent{}, "a running command has printed nothing for long"},
		{"tool_progress", ToolProgress{}, "how far a running call is, in the words of the MCP server that works on it"},
		{"retrying", Retrying{}, "a request failed and is sent again"},
		{"usage", Usage{}, "how full the context window is, and the cost of the session so far"},
		{"compacting", Compacting{}, "the conversation is being summed up; without fields: no longer"},
		{"shells", Shells{}, "the background shells, when one starts or ends"},
		{"queued", Queued{}, "the messages that wait for the turn's next step"},
		{"notice", Notice{}, "a line for the person"},
		{"turn_ended", TurnEnded{}, "the model works no longer"},
	}
}

// stream writes events as JSON lines.
type stream struct {
	out   io.Writer
	names map[reflect.Type]string
	rest  map[string][]byte // of a command's output: the beginning of a character
}

func newStream(out io.Writer) *stream {
	s := &stream{out: out, names: map[reflect.Type]string{}, rest: map[string][]byte{}}
	for _, k := range streamKinds() {
		s.names[reflect.TypeOf(k.event)] = k.name
	}
	return s
}

// event writes an event, where it is one of those that are written.
func (s *stream) event(e Event) error {
	name, ok := s.names[reflect.TypeOf(e)]
	if !ok {
		return nil
	}
	if out, ok := e.(ToolOutput); ok {
		return s.line(name, map[string]string{"call_id": out.CallID, "chunk": s.text(out)})
	}
	return s.line(name, listed(e))
}

// listed is an event whose empty lists are lists: a null is none to who reads it.
func listed(e Event) any {
	v := reflect.New(reflect.TypeOf(e)).Elem()
	v.Set(reflect.ValueOf(e))
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice && f.IsNil() {
			f.Set(reflect.MakeSlice(f.Type(), 0, 0))
		}
	}
	return v.Interface()
}

// text is a command's output as text: what is no UTF-8 is replaced, and a character
// that ends in the next chunk waits for it.
func (s *stream) text(o ToolOutput) string {
	data := append(s.rest[o.CallID], o.Chunk...)
	whole := len(data)
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		if at := len(data) - back; utf8.RuneStart(data[at]) {
			if !utf8.FullRune(data[at:]) {
				whole = at
			}
			break
		}
	}
	s.rest[o.CallID] = append([]byte(nil), data[whole:]...)
	return strings.ToValidUTF8(string(data[:whole]), "\uFFFD")
}

// line writes {"type": name, …the fields of v}.
func (s *stream) line(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("the event %s: %w", name, err)
	}
	head := `{"type":"` + name + `"`
	if len(data) > len("{}") {
		head += ","
	}
	_, err = s.out.Write([]byte(head + string(data[1:]) + "\n"))
	return err
}

// StreamReference is the table of the kinds of events, as Markdown.
func StreamReference() string {
	var b strings.Builder
	b.WriteString("| type | when | fields |\n|---|---|---|\n")
	for _, k := range streamKinds() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.name, k.doc, fields(reflect.TypeOf(k.event)))
	}
	fmt.Fprintf(&b, "| `result` | the end of the run, always the last line | %s |\n", fields(reflect.TypeFor[Result]()))
	return b.String()
}

// fields names the JSON fields of a struct with their kinds.
func fields(t reflect.Type) string {
	var list []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
		text := "`" + name + "` " + kind(f.Type)
		if omit != "" {
			text += "?"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// kind is what a field's value is in JSON.
func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Float64:
		if t == reflect.TypeFor[Level]() {
			return "string"
		}
		return "number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "string"
		}
		return "list"
	case reflect.String:
		return "string"
	case reflect.Struct:
		if t.PkgPath() == "time" {
			return "time"
		}
	}
	return "object"
}
