//go:build unix

//lint:file-ignore SA1019 sampling is what the servers of today know

package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/phero-agent/agent/app/mcp"
	"github.com/phero-agent/agent/tools/human"
)

// addAskingTools gives a server tools that ask the person.
func addAskingTools(server *sdk.Server) {
	object := map[string]any{"type": "object"}
	text := func(s string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
	}
	elicit := func(name string, p *sdk.ElicitParams, times int) {
		server.AddTool(&sdk.Tool{Name: name, InputSchema: object}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var said []string
			for range times {
				r, err := req.Session.Elicit(ctx, p)
				if err != nil {
					return nil, err
				}
				data, err := json.Marshal(r.Content)
				if err != nil {
					return nil, err
				}
				said = append(said, r.Action+" "+string(data))
			}
			return text(strings.Join(said, ", ")), nil
		})
	}
	form := func(schema string) *sdk.ElicitParams {
		return &sdk.ElicitParams{Message: "Tell me", RequestedSchema: json.RawMessage(schema)}
	}
	elicit("defaults", form(`{"type":"object","required":["a"],"properties":{
		"a":{"type":"integer","title":"How many","default":7,"minimum":1,"maximum":9},
		"b":{"type":"string","oneOf":[{"const":"x","title":"First"},{"const":"y","title":"First"}],"default":"y"},
		"c":{"type":"array","items":{"anyOf":[{"const":"p","title":"P!"},{"const":"q","title":"Q!"}]},"minItems":1},
		"d":{"type":"boolean","default":true}}}`), 1)
	elicit("nag", &sdk.ElicitParams{Message: "again?"}, 3)
	elicit("address", &sdk.ElicitParams{Mode: "url", Message: "Go there", URL: "https://example.com/x", ElicitationID: "1"}, 1)
	elicit("javascript", &sdk.ElicitParams{Mode: "url", Message: "Go there", URL: "javascript:alert(1)", ElicitationID: "1"}, 1)
	server.AddTool(&sdk.Tool{Name: "first", InputSchema: object}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, sdk.URLElicitationRequiredError([]*sdk.ElicitParams{{Mode: "url", Message: "Pay", URL: "https://example.com/pay", ElicitationID: "2"}})
	})
	server.AddTool(&sdk.Tool{Name: "sample-tools", InputSchema: object}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		_, err := req.Session.CreateMessageWithTools(ctx, &sdk.CreateMessageWithToolsParams{
			MaxTokens: 10, Tools: []*sdk.Tool{{Name: "t", InputSchema: object}},
			Messages: []*sdk.SamplingMessageV2{{Role: "user", Content: []sdk.Content{&sdk.TextContent{Text: "2+2?"}}}},
		})
		return text(fmt.Sprint(err)), nil
	})
	// What newer servers do: all that they want to know at once, as their answer.
	server.AddTool(&sdk.Tool{Name: "both", InputSchema: object}, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if req.Params.InputResponses == nil {
			return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"one": &sdk.ElicitParams{Message: "one?"}, "two": &sdk.ElicitParams{Message: "two?"}}}, nil
		}
		var said []string
		for _, id := range []string{"one", "two"} {
			r, ok := req.Params.InputResponses[id].(*sdk.ElicitResult)
			if !ok {
				return nil, fmt.Errorf("%T", req.Params.InputResponses[id])
			}
			said = append(said, r.Action)
		}
		return text(strings.Join(said, " ")), nil
	})
}

// Decision 25: a server's questions are the person's to answer, and what does not
// fit is asked again.
func TestElicitation(t *testing.T) {
	rounds := 0
	r := newRig(t, func(in human.Input) (map[string]human.Answer, error) {
		rounds++
		answers := map[string]human.Answer{}
		for _, q := range in.Questions {
			if !strings.HasPrefix(q.Question, "Who are you?") {
				t.Errorf("%q", q.Question)
			}
			answers[q.Header] = map[string]human.Answer{
				"name": {Other: "Ann"}, "age": {Other: map[bool]string{true: "old", false: "42"}[rounds == 1]},
				"role": {Selections: []string{"Boss"}}, "ok": {Selections: []string{"Yes"}}, "note": {Selections: []string{"Leave it out"}},
			}[q.Header]
		}
		return answers, nil
	}, mcp.Limits{}, server("good", "older"))
	r.ready()
	got, err := r.call(t.Context(), "mcp_good_ask", "{}")
	if err != nil || got.Text != `accept {"age":42,"name":"Ann","ok":true,"role":"b"}` {
		t.Errorf("%+v, %v", got, err)
	}
	if rounds != 3 || !strings.Contains(r.asked[1].Questions[0].Question, "age must be a whole number") {
		t.Errorf("%d rounds: %+v", rounds, r.asked)
	}
}

func TestSampling(t *testing.T) {
	r := newRig(t, nil, mcp.Limits{}, server("good", "older"))
	r.ready()
	if got, err := r.call(t.Context(), "mcp_good_sample", "{}"); err != nil || got.Text != "m says 4" {
		t.Errorf("%+v, %v", got, err)
	}
}

// The question of a call that is stopped closes.
func TestElicitationEndsWithCall(t *testing.T) {
	r := newRig(t, nil, mcp.Limits{}, server("good", "older"))
	r.ready()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		r.until("the question", func() bool { return len(r.asked) == 1 })
		cancel(errors.New("stopped"))
	}()
	if _, err := r.call(ctx, "mcp_good_ask", "{}"); err == nil || err.Error() != "stopped" {
		t.Errorf("%v", err)
	}
}

// answering is a person who answers each question by its header.
func answering(answers map[string]human.Answer) func(human.Input) (map[string]human.Answer, error) {
	return func(in human.Input) (map[string]human.Answer, error) {
		out := map[string]human.Answer{}
		for _, q := range in.Questions {
			out[q.Header] = answers[q.Header]
		}
		return out, nil
	}
}

// A form's titles, defaults and choices are the person's, and what the form forbids
// is asked again.
func TestForm(t *testing.T) {
	rounds := 0
	r := newRig(t, func(in human.Input) (map[string]human.Answer, error) {
		rounds++
		if rounds == 1 {
			return answering(map[string]human.Answer{"a": {Other: "70"}, "b": {Selections: []string{"y"}}, "c": {}, "d": {Selections: []string{"No"}}})(in)
		}
		return answering(map[string]human.Answer{"a": {Selections: []string{"7"}}, "b": {Selections: []string{"y"}}, "c": {Selections: []string{"P!", "Q!"}}, "d": {Selections: []string{"Leave it out"}}})(in)
	}, mcp.Limits{}, server("good", "older"))
	r.ready()
	got, err := r.call(t.Context(), "mcp_good_defaults", "{}")
	if err != nil || got.Text != `accept {"a":7,"b":"y","c":["p","q"],"d":true}` {
		t.Errorf("%+v, %v", got, err)
	}
	if rounds != 2 || len(r.asked[0].Questions) != 4 {
		t.Fatalf("%d rounds, %+v", rounds, r.asked)
	}
	first := r.asked[0].Questions
	for n, want := range []string{`a: How many (a number)`, "b", "c (any of these)", "d"} {
		if first[n].Question != "Tell me\n\n"+want {
			t.Errorf("%q, not %q", first[n].Question, want)
		}
	}
	if o := first[0].Options; len(o) != 1 || o[0] != (human.Choice{Label: "7", Description: "the default"}) {
		t.Errorf("%+v", o)
	}
	if o := first[1].Options; len(o) != 3 || o[0] != (human.Choice{Label: "First", Description: "x"}) || o[1] != (human.Choice{Label: "y", Description: "the default"}) {
		t.Errorf("%+v", o)
	}
	if !strings.Contains(r.asked[1].Questions[0].Question, "does not fit") {
		t.Errorf("%+v", r.asked[1])
	}
}

// What a server wants to know at once is asked one after the other; after the person
// declined nothing more is asked in that call, and again in the next.
func TestQuestionsOneByOne(t *testing.T) {
	var open, most, asked atomic.Int64
	say := human.ErrDeclined
	r := newRig(t, func(in human.Input) (map[string]human.Answer, error) {
		most.Store(max(most.Load(), open.Add(1)))
		defer open.Add(-1)
		asked.Add(1)
		if say != nil {
			return nil, say
		}
		return map[string]human.Answer{"Server": {Selections: []string{"Yes"}}}, nil
	}, mcp.Limits{}, server("good", "older"), server("new", "good"))
	r.ready()
	got, err := r.call(t.Context(), "mcp_good_nag", "{}")
	if err != nil || got.Text != "decline null, decline null, decline null" || asked.Load() != 1 {
		t.Errorf("%+v, %v: %d questions", got, err, asked.Load())
	}
	say = nil
	got, err = r.call(t.Context(), "mcp_good_nag", "{}")
	if err != nil || got.Text != "accept null, accept null, accept null" || asked.Load() != 4 {
		t.Errorf("%+v, %v: %d questions", got, err, asked.Load())
	}
	got, err = r.call(t.Context(), "mcp_new_both", "{}")
	if err != nil || got.Text != "accept accept" || most.Load() != 1 {
		t.Errorf("%+v, %v: %d at once", got, err, most.Load())
	}
}

// An address is shown, and nothing is opened; one that is none of the web is refused.
func TestAddresses(t *testing.T) {
	answer := "I opened it"
	r := newRig(t, func(human.Input) (map[string]human.Answer, error) {
		return map[string]human.Answer{"Server": {Selections: []string{answer}}}, nil
	}, mcp.Limits{}, server("good", "older"))
	r.ready()
	if got, err := r.call(t.Context(), "mcp_good_address", "{}"); err != nil || got.Text != "accept null" {
		t.Errorf("%+v, %v", got, err)
	}
	if q := r.asked[0].Questions[0].Question; q != "Go there\nIt wants you to open this address of example.com in a browser:\nhttps://example.com/x" {
		t.Errorf("%q", q)
	}
	if got, err := r.call(t.Context(), "mcp_good_javascript", "{}"); err == nil || len(r.asked) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := r.call(t.Context(), "mcp_good_first", "{}"); err == nil || !strings.Contains(err.Error(), "that is done: call the tool again") || len(r.asked) != 2 {
		t.Errorf("%v", err)
	}
	answer = "Decline"
	if _, err := r.call(t.Context(), "mcp_good_first", "{}"); err == nil || !strings.Contains(err.Error(), "the user declined") {
		t.Errorf("%v", err)
	}
}

// The model gets no tools of a server.
func TestSamplingWithTools(t *testing.T) {
	r := newRig(t, nil, mcp.Limits{}, server("good", "older"))
	r.ready()
	if got, err := r.call(t.Context(), "mcp_good_sample-tools", "{}"); err != nil || !strings.Contains(got.Text, "tools") {
		t.Errorf("%+v, %v", got, err)
	}
}
