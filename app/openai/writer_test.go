package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
)

// sent builds a request and returns its body and its messages.
func sent(t testing.TB, c *Client, req app.Request) (body map[string]any, messages []map[string]any) {
	t.Helper()
	raw, err := c.body(c.Profile(), req)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatalf("%v: %.200s", err, raw)
	}
	strict(t, body)
	for _, m := range body["messages"].([]any) {
		messages = append(messages, m.(map[string]any))
	}
	return body, messages
}

// rolesOf is the order of the roles, each by its first letter.
func rolesOf(messages []map[string]any) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(m["role"].(string)[:1])
	}
	return b.String()
}

func user(text string, images ...string) session.Message {
	m := session.Message{Role: session.RoleUser, Text: text}
	for _, blob := range images {
		m.Images = append(m.Images, session.Image{MediaType: "image/png", Blob: blob})
	}
	return m
}

func assistant(text string, calls ...tools.ToolCall) session.Message {
	return session.Message{Role: session.RoleAssistant, Text: text, Calls: calls, Model: "m"}
}

func call(id string) tools.ToolCall {
	return tools.ToolCall{ID: id, Name: "read", Arguments: `{"a":1}`}
}

func result(id, text string, images ...string) session.Message {
	m := user(text, images...)
	m.Role, m.CallID = session.RoleTool, id
	return m
}

func blobs(blob string) ([]byte, error) {
	if blob == "lost" {
		return nil, errors.New("no such blob")
	}
	return []byte(blob), nil
}

func TestImagesOfResultsFollowTheLastOne(t *testing.T) {
	history := []session.Message{
		user("look"), assistant("", call("a"), call("b")),
		result("a", "first", "one"), result("b", "second", "two", "lost"), user("and now?"),
	}
	c, _ := newTestClient(t, Config{})
	_, messages := sent(t, c, app.Request{System: "s", Messages: history, Images: blobs})
	if got := rolesOf(messages); got != "suattu" {
		t.Fatal(got)
	}
	parts, _ := json.Marshal(messages[5]["content"])
	for _, want := range []string{"base64,b25l", "base64,dHdv", textLostImage, "and now?"} {
		if !strings.Contains(string(parts), want) {
			t.Errorf("%s is not in %s", want, parts)
		}
	}
	// A server that wants a line of the assistant between gets one.
	c, _ = newTestClient(t, Config{Profile: KnownProfile("api.mistral.ai", "m")})
	if _, messages = sent(t, c, app.Request{System: "s", Messages: history, Images: blobs}); rolesOf(messages) != "suattau" {
		t.Error(rolesOf(messages))
	}
	// A model that sees nothing gets plain text.
	c, _ = newTestClient(t, Config{Profile: Profile{NoImages: true}})
	_, messages = sent(t, c, app.Request{System: "s", Messages: history, Images: blobs})
	if text, _ := messages[5]["content"].(string); !strings.Contains(text, textNoImages) || !strings.Contains(text, "and now?") {
		t.Errorf("%v", messages[5])
	}
}

// TestNeighboursAreJoined sends no empty message and no two of one role in a row.
func TestNeighboursAreJoined(t *testing.T) {
	c, _ := newTestClient(t, Config{})
	cut := assistant("Half an ans")
	cut.Cut = true
	_, messages := sent(t, c, app.Request{System: "s", Messages: []session.Message{
		user("one"), assistant("  \n"), user("two"), cut, assistant("Whole.", call("a")), result("a", ""), user("three"),
	}})
	if got := rolesOf(messages); got != "suatu" {
		t.Fatal(got)
	}
	if messages[1]["content"] != "one\n\ntwo" || messages[2]["content"] != "Half an ans\n\nWhole." || messages[3]["content"] != textEmptyResult {
		t.Errorf("%v", messages)
	}
}

func TestSystemRoles(t *testing.T) {
	for role, want := range map[string]string{"": "su", "developer": "du", "user": "u"} {
		c, _ := newTestClient(t, Config{Profile: Profile{SystemRole: role}})
		_, messages := sent(t, c, app.Request{System: "Rules.", Messages: []session.Message{user("go")}})
		if rolesOf(messages) != want || !strings.HasPrefix(messages[0]["content"].(string), "Rules.") {
			t.Errorf("%q: %v", role, messages)
		}
	}
}

// TestIDsFit sends ids that the server takes, the same for a call and its result.
func TestIDsFit(t *testing.T) {
	own := tools.ToolCall{ID: "call_7", WireID: "functions.read:0", Name: "read", Arguments: "{}"}
	foreign := assistant("", call("functions.read:0#"+strings.Repeat("x", 60)), call("fine_id-1"))
	foreign.Model = "another"
	history := []session.Message{
		user("go"), assistant("", own), result("call_7", "x"),
		foreign, result(foreign.Calls[0].ID, "x"), result("fine_id-1", "x"),
	}
	for rule, fits := range map[CallID]func(place int, id string) bool{
		CallIDAny: func(place int, id string) bool {
			return place == 0 && id == "functions.read:0" || place == 1 && isPortable(id, "_-") && len(id) <= 40 || id == "fine_id-1"
		},
		CallIDPortable: func(_ int, id string) bool { return isPortable(id, "_-") && len(id) <= 40 },
		CallIDNine:     func(_ int, id string) bool { return isPortable(id, "") && len(id) == 9 },
	} {
		c, _ := newTestClient(t, Config{Profile: Profile{CallIDs: rule, NoEffort: true}})
		_, messages := sent(t, c, app.Request{Messages: history})
		var ids []string
		for _, m := range messages {
			for _, item := range list(m["tool_calls"]) {
				ids = append(ids, item.(map[string]any)["id"].(string))
			}
		}
		for i, id := range ids {
			if !fits(i, id) {
				t.Errorf("%s: id %d is %q", rule, i, id)
			}
		}
		if sorted := slices.Compact(slices.Sorted(slices.Values(ids))); len(sorted) != 3 {
			t.Errorf("%s: ids %v", rule, ids)
		}
	}
}

// TestEcho sends reasoning back to the model that wrote it, and to no other.
func TestEcho(t *testing.T) {
	thought := assistant("", tools.ToolCall{ID: "a", Name: "read", Arguments: "{}", Extra: json.RawMessage(`{"extra_content":{"sig":1}}`)})
	thought.Reasoning, thought.Echo = "Hm.", json.RawMessage(`{"reasoning_content":"Hm."}`)
	other := thought
	other.Model = "another"
	silent := assistant("", call("b"))
	silent2 := assistant("", call("c"))
	for name, row := range map[string]struct {
		profile Profile
		m       session.Message
		echo    any
		extra   bool
	}{
		"own":              {Profile{}, thought, "Hm.", true},
		"other model":      {Profile{}, other, nil, false},
		"refused":          {Profile{NoEcho: true}, thought, nil, true},
		"demanded, other":  {Profile{FillReasoning: true}, other, "Hm.", false},
		"demanded, silent": {Profile{FillReasoning: true}, silent, "Next: read (b).", false},
		"demanded, again":  {Profile{FillReasoning: true}, silent2, "Next: read (c).", false},
		"signature, own":   {Profile{FillSignature: true}, thought, "Hm.", true},
		"signature, other": {Profile{FillSignature: true}, other, nil, true},
	} {
		c, _ := newTestClient(t, Config{Profile: row.profile})
		_, messages := sent(t, c, app.Request{System: "s", Messages: []session.Message{user("go"), row.m, result(row.m.Calls[0].ID, "x")}})
		first := messages[2]["tool_calls"].([]any)[0].(map[string]any)
		if messages[2]["reasoning_content"] != row.echo || (first["extra_content"] != nil) != row.extra {
			t.Errorf("%s: %v", name, messages[2])
		}
	}
}

// TestEmptyContent sends a text of no length where a server demands the field, and no field elsewhere.
func TestEmptyContent(t *testing.T) {
	history := []session.Message{user("go"), assistant("", call("a")), result("a", "x")}
	for _, demanded := range []bool{false, true} {
		c, _ := newTestClient(t, Config{Profile: Profile{EmptyContent: demanded, NoEffort: true}})
		raw, err := c.body(c.Profile(), app.Request{Messages: history})
		if err != nil || strings.Contains(string(raw), `"role":"assistant","content":""`) != demanded || strings.Count(string(raw), `"content"`) < 2 {
			t.Errorf("demanded %v: %s, %v", demanded, raw, err)
		}
	}
}

func TestRequestFields(t *testing.T) {
	tool := app.ToolSpec{Name: "read", Description: "Reads.", Schema: map[string]any{"type": "object", "$schema": "x", "properties": map[string]any{}}}
	req := app.Request{System: "s", Messages: []session.Message{user("go")}, Tools: []app.ToolSpec{tool}, Effort: "high"}
	c, _ := newTestClient(t, Config{BaseURL: "http://localhost/v1", MaxTokens: 7})
	body, _ := sent(t, c, req)
	if body["max_tokens"] != 7.0 || body["reasoning_effort"] != "high" || body["cache_control"] != nil {
		t.Errorf("%v", body)
	}
	c, _ = newTestClient(t, Config{MaxTokens: 7, Profile: Profile{NoMaxTokens: true, NoEffort: true, CacheControl: true, PlainSchemas: true}})
	body, _ = sent(t, c, req)
	if body["max_tokens"] != nil || body["max_completion_tokens"] != 7.0 || body["reasoning_effort"] != nil || body["cache_control"] == nil {
		t.Errorf("%v", body)
	}
	if v, found := at(body, "tools.0.function.parameters.$schema"); found {
		t.Errorf("the schema has %v", v)
	}
	// A request without tools declares those that its history calls.
	req.Tools = nil
	req.Messages = []session.Message{user("go"), assistant("", call("a"), call("b")), result("a", "x"), result("b", "x"), user("sum up")}
	body, _ = sent(t, c, req)
	if len(list(body["tools"])) != 1 {
		t.Errorf("tools %v", body["tools"])
	}
	req.Messages = req.Messages[:1]
	if body, _ = sent(t, c, req); body["tools"] != nil {
		t.Errorf("tools %v", body["tools"])
	}
}

func TestTextsAreSentAsTheyAre(t *testing.T) {
	text := "a <b> & \"c\" \u2028 é 🎉 \x1b[0m \xff end"
	c, _ := newTestClient(t, Config{})
	_, messages := sent(t, c, app.Request{System: text, Messages: []session.Message{user(text)}})
	if want := strings.ToValidUTF8(text, "\uFFFD"); messages[0]["content"] != want || messages[1]["content"] != want {
		t.Errorf("%q", messages)
	}
}

// TestRememberedConversation sends the same bytes as a client without memory,
// whatever happens to the history between two requests.
func TestRememberedConversation(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		profile := Profile{AssistantAfterTool: rnd.IntN(2) == 0, FillReasoning: rnd.IntN(2) == 0, NoEffort: true}
		if rnd.IntN(2) == 0 {
			profile.SystemRole = "user"
		}
		remembering, _ := newTestClient(t, Config{Profile: profile})
		var history []session.Message
		for step := range 12 {
			history = grow(rnd, history, fmt.Sprint(seed, ".", step))
			req := app.Request{System: "s", Messages: history, Images: blobs}
			fresh, _ := newTestClient(t, Config{Profile: profile})
			want, err := fresh.body(profile, req)
			if err != nil {
				t.Fatal(err)
			}
			got, err := remembering.body(profile, req)
			if err != nil || string(got) != string(want) {
				t.Fatalf("seed %d, step %d (%v):\n%s\n%s", seed, step, err, got, want)
			}
		}
	}
}

// grow adds a step to a history, or takes some back, or changes a message.
func grow(rnd *rand.Rand, history []session.Message, id string) []session.Message {
	history = slices.Clone(history)
	switch n := len(history); rnd.IntN(8) {
	case 0:
		if n > 2 {
			history = history[:rnd.IntN(n-1)+1]
			for len(history) > 1 && (len(history[len(history)-1].Calls) > 0 || history[len(history)-1].Role == session.RoleTool) {
				history = history[:len(history)-1]
			}
		}
		return append(history, user("again "+id))
	case 1:
		if n > 1 {
			history[rnd.IntN(n)].Text += " (note " + id + ")"
			return history
		}
		return append(history, user("go "+id))
	case 2, 3:
		return append(history, user("say "+id), assistant("text "+id), user("go on "+id))
	case 4:
		return append(history, user("empty "+id), assistant(""), assistant("a "+id), assistant("b "+id))
	default:
		first := session.Message{Role: session.RoleTool, CallID: "1-" + id, Text: "r"}
		if rnd.IntN(2) == 0 {
			first.Images = []session.Image{{MediaType: "image/png", Blob: id}}
		}
		return append(history, user("do "+id), assistant("", call("1-"+id), call("2-"+id)), first, result("2-"+id, "x"))
	}
}

// TestBlindModelGetsWords: a model that is known to see nothing gets words for an
// image, without a refusal first.
func TestBlindModelGetsWords(t *testing.T) {
	req := userSays("look")
	req.Messages[0].Images = []session.Image{{MediaType: "image/png", Blob: "b"}}
	req.Images = func(string) ([]byte, error) { return []byte("x"), nil }
	for vision, want := range map[app.Ability]string{app.No: textNoImages, app.Yes: "data:image/png", app.Unknown: "data:image/png"} {
		c, _ := newTestClient(t, Config{Info: app.ModelInfo{Vision: vision}})
		body, err := c.body(c.profile, req)
		if err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%d: %s, %v", vision, body, err)
		}
	}
	// A refusal teaches it, and the person is told.
	var told string
	srv := play(t, step{Status: 400, Body: `{"error":{"message":"this model does not support image input"}}`}, step{Status: 200, Body: sse(textChunk("Hi"), stopChunk, doneChunk)})
	c, _ := newTestClient(t, Config{BaseURL: srv.URL, Notice: func(s string) { told = s }})
	if _, err := c.Stream(context.Background(), req, func(app.Delta) {}); err != nil || c.Info().Vision != app.No || !strings.Contains(told, "takes no images") {
		t.Errorf("%v, %+v, told %q", err, c.Info(), told)
	}
}
