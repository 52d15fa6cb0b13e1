package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
)

// replyOf reads chunks as one reply.
func replyOf(t *testing.T, offered []string, chunks ...string) (app.Reply, error) {
	t.Helper()
	srv := play(t, step{Status: 200, Body: sse(chunks...)})
	c, _ := newTestClient(t, Config{BaseURL: srv.URL})
	req := userSays("go")
	for _, name := range offered {
		req.Tools = append(req.Tools, app.ToolSpec{Name: name})
	}
	return c.Stream(context.Background(), req, func(app.Delta) {})
}

func callChunk(pieces ...string) string {
	return `{"choices":[{"delta":{"tool_calls":[` + strings.Join(pieces, ",") + `]}}]}`
}

// TestCallPieces joins what the transcripts do not show. // IMP-41
func TestCallPieces(t *testing.T) {
	for name, row := range map[string]struct {
		chunks []string
		want   string // name(arguments), joined by spaces
	}{
		"id after the first piece": {[]string{
			callChunk(`{"index":0,"function":{"name":"a","arguments":"{\"x\":"}}`), callChunk(`{"index":0,"id":"c1","function":{"arguments":"1}"}}`)},
			`a({"x":1})`},
		"id without index goes on": {[]string{
			callChunk(`{"id":"c1","function":{"name":"a","arguments":"{\"x\":"}}`), callChunk(`{"id":"c1","function":{"arguments":"1}"}}`)},
			`a({"x":1})`},
		"neither id nor index goes on": {[]string{
			callChunk(`{"id":"c1","function":{"name":"a","arguments":"{\"x\":"}}`), callChunk(`{"function":{"arguments":"1}"}}`)},
			`a({"x":1})`},
		"all calls have one id": {[]string{
			callChunk(`{"index":0,"id":"c","function":{"name":"a","arguments":"{}"}}`, `{"index":1,"id":"c","function":{"name":"b","arguments":"{}"}}`)},
			`a({}) b({})`},
		"index always 0, no ids": {[]string{
			callChunk(`{"index":0,"function":{"name":"a","arguments":"{\"x\":1}"}}`), callChunk(`{"index":0,"function":{"name":"a","arguments":"{\"x\":2}"}}`)},
			`a({"x":1}) a({"x":2})`},
		"neither, same name, two in one delta": {[]string{
			callChunk(`{"function":{"name":"a","arguments":"{}"}}`, `{"function":{"name":"a","arguments":"{}"}}`)},
			`a({}) a({})`},
		"neither, name repeated": {[]string{
			callChunk(`{"function":{"name":"a","arguments":"{\"x\":"}}`), callChunk(`{"function":{"name":"a","arguments":"1}"}}`)},
			`a({"x":1})`},
		"old form": {[]string{
			`{"choices":[{"delta":{"function_call":{"name":"a","arguments":"{\"x\":"}}}]}`, `{"choices":[{"delta":{"function_call":{"arguments":"1}"}}}]}`},
			`a({"x":1})`},
		"number as id":            {[]string{callChunk(`{"index":0,"id":7,"function":{"name":"a","arguments":"{}"}}`)}, `a({})`},
		"functions. and a number": {[]string{callChunk(`{"index":0,"id":"x","function":{"name":"functions.a:0","arguments":"{}"}}`)}, `a({})`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := replyOf(t, []string{"a", "b"}, append(row.chunks, stopChunk, doneChunk)...)
			if err != nil {
				t.Fatal(err)
			}
			var calls []string
			ids := map[string]bool{}
			for _, c := range got.Message.Calls {
				calls = append(calls, c.Name+"("+c.Arguments+")")
				if c.ID == "" || ids[c.ID] {
					t.Errorf("no id of its own: %+v", c)
				}
				ids[c.ID] = true
			}
			if s := strings.Join(calls, " "); s != row.want || got.Finish != finishCalls {
				t.Errorf("%s, %s; want %s", s, got.Finish, row.want)
			}
		})
	}
}

func TestMendArguments(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "{}",
		" null ":                       "{}",
		`""`:                           "{}",
		`{"a":1}`:                      `{"a":1}`,
		`"{\"a\":1}"`:                  `{"a":1}`,
		`{"a":1}{"a":1}`:               `{"a":1}`,
		"{\"a\":1}\n{\"a\":1}":         `{"a":1}`,
		`{}{"a":1}`:                    `{"a":1}`,
		`{"a":1}{"a":2}`:               `{"a":1}{"a":2}`,
		`{"a":1`:                       `{"a":1`,
		`{"a":1}}`:                     `{"a":1}}`,
		`"a"`:                          `"a"`,
		`[1]`:                          `[1]`,
		`{"big":12345678901234567890}`: `{"big":12345678901234567890}`,
	} {
		if got := mendArguments(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestLimit tells of a reply that its limit ended, and runs no call that had no arguments yet.
func TestLimit(t *testing.T) {
	got, err := replyOf(t, nil, textChunk("So"), callChunk(`{"index":0,"id":"x","function":{"name":"a","arguments":""}}`),
		`{"choices":[{"delta":{},"finish_reason":"length"}]}`, doneChunk)
	if err != nil || got.Finish != finishLength || len(got.Message.Calls) != 0 || got.Message.Cut {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFinishIsWhatCame(t *testing.T) {
	got, err := replyOf(t, nil, textChunk("Hi"), `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, doneChunk)
	if err != nil || got.Finish != finishStop {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = replyOf(t, nil, `{"choices":[{"delta":{},"finish_reason":"function_call_filter: MALFORMED_FUNCTION_CALL"}]}`)
	if pe := providerError(t, err); pe.Kind != app.ErrToolUseFailed {
		t.Errorf("%v", pe)
	}
}

// Azure begins with a chunk about its filters that has no choice.
func TestFirstChunkWithoutChoices(t *testing.T) {
	got, err := replyOf(t, nil, `{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}`, textChunk("Hi"), stopChunk, doneChunk)
	if err != nil || got.Message.Text != "Hi" || got.Finish != finishStop {
		t.Errorf("%+v, %v", got, err)
	}
}

// A server that sends its reasoning under two names is read once.
func TestReasoningUnderTwoNames(t *testing.T) {
	got, err := replyOf(t, nil, `{"choices":[{"delta":{"reasoning":"Hm. ","reasoning_content":"Hm. "}}]}`, `{"choices":[{"delta":{"reasoning":"So.","reasoning_content":""}}]}`, textChunk("Hi"), stopChunk, doneChunk)
	if err != nil || got.Message.Reasoning != "Hm. So." {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestUsageElsewhere(t *testing.T) {
	for _, chunk := range []string{
		`{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":10.0,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}}`,
	} {
		got, err := replyOf(t, nil, textChunk("Hi"), chunk, doneChunk)
		if err != nil || got.Message.Usage == nil || got.Message.Usage.Input != 10 || got.Message.Usage.CacheRead != 4 {
			t.Errorf("%+v, %v", got.Message.Usage, err)
		}
	}
}

// TestThinkTags gives the same result wherever the text is cut.
func TestThinkTags(t *testing.T) {
	for in, want := range map[string][2]string{
		"<think>a</think>\n\nb":       {"a", "b"},
		"  \n<thinking>a</thinking>b": {"a", "b"},
		"<thought>a</thought>":        {"a", ""},
		"<think>a</th b</think>c":     {"a</th b", "c"},
		"<think>never closed":         {"never closed", ""},
		"<thinker> is text":           {"", "<thinker> is text"},
		"text <think>x</think>":       {"", "text <think>x</think>"},
		"<thi":                        {"", "<thi"},
		" \n ":                        {"", ""},
	} {
		for size := 1; size <= len(in); size++ {
			var text, reasoning strings.Builder
			th := thinkSplitter{
				text:      func(s string) { text.WriteString(s) },
				reasoning: func(s string) { reasoning.WriteString(s) },
			}
			for rest := in; rest != ""; {
				n := min(size, len(rest))
				th.add(rest[:n])
				rest = rest[n:]
			}
			th.flush()
			if got := [2]string{reasoning.String(), text.String()}; got != want {
				t.Errorf("%q in pieces of %d: %q, want %q", in, size, got, want)
			}
		}
	}
}

// TestLeakedCalls finds Kimi's calls in the text, and leaves everything else text.
func TestLeakedCalls(t *testing.T) {
	offered := func(name string) bool { return name == "ls" }
	whole := leakSection + leakCall + "functions.ls:0" + leakArguments + `{"p":1}` + leakCallEnd + leakSectionEnd
	for in, calls := range map[string]int{
		"Look. " + whole:                          1,
		whole + "\n":                              1,
		"It writes " + whole + " into the text.":  0,
		strings.Replace(whole, "ls", "rm", 1):     0,
		strings.Replace(whole, `{"p":1}`, "{", 1): 0,
		strings.TrimSuffix(whole, leakSectionEnd): 0,
		"a <| b <|tool_calls":                     0,
	} {
		for size := 1; size <= len(in); size += 3 {
			var text strings.Builder
			f := leakFilter{text: func(s string) { text.WriteString(s) }}
			for rest := in; rest != ""; {
				n := min(size, len(rest))
				f.add(rest[:n])
				rest = rest[n:]
			}
			got := f.flush(offered)
			want := in
			if calls > 0 {
				want, _, _ = strings.Cut(in, leakSection)
			}
			if len(got) != calls || text.String() != want {
				t.Errorf("%q in pieces of %d: %v, %q", in, size, got, &text)
			}
		}
	}
}

// TestPlainSchema keeps what every server takes.
func TestPlainSchema(t *testing.T) {
	for in, want := range map[string]string{
		`{"$schema":"x","type":"object","properties":{"n":{"type":["null","integer"],"exclusiveMinimum":0}},"required":["n"],"additionalProperties":false}`:               `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string","pattern":"x","description":"d"}}}`:                                       `{"type":"object","properties":{"a":{"type":"string","description":"d"}}}`,
		`{"anyOf":[{"type":"null"},{"type":"array","items":{"const":"x"}}],"description":"d"}`:                                                                            `{"type":"array","items":{"type":"string","enum":["x"]},"description":"d"}`,
		`{"allOf":[{"properties":{"a":{"type":"string","format":"uri"}},"required":["a"]},{"properties":{"b":{"type":"string","format":"date-time"}},"required":["b"]}]}`: `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","format":"date-time"}},"required":["a","b"]}`,
		`{"type":"array"}`:            `{"type":"array","items":{"type":"string"}}`,
		`{"$ref":"#/nowhere"}`:        `{"type":"object"}`,
		`{"properties":{"any":true}}`: `{"type":"object","properties":{"any":{}}}`,
	} {
		var schema, wanted map[string]any
		if json.Unmarshal([]byte(in), &schema) != nil || json.Unmarshal([]byte(want), &wanted) != nil {
			t.Fatal(in, want)
		}
		if got := plainSchema(schema); !reflect.DeepEqual(got, wanted) {
			t.Errorf("%s:\n%v, want\n%v", in, got, wanted)
		}
	}
	var tree map[string]any
	if err := json.Unmarshal([]byte(`{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/T"}}}}}}`), &tree); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(plainSchema(tree)); err != nil || strings.Contains(string(got), "$ref") {
		t.Errorf("%s, %v", got, err)
	}
}

// TestErrorsInWords says what a person can do. // LOOP-11
func TestErrorsInWords(t *testing.T) {
	page := "<html><head><title>Just a moment...</title></head><body>x</body></html>"
	for name, row := range map[string]struct {
		status int
		body   string
		kind   app.ErrorKind
		retry  bool
		words  []string
	}{
		"html with success":  {200, page, app.ErrNotAnAPI, false, []string{"web page", "Just a moment...", "/v1"}},
		"html 404":           {404, page, app.ErrNotAnAPI, false, []string{"web page", "base URL"}},
		"html 503":           {503, page, app.ErrServer, true, []string{"503 Service Unavailable"}},
		"plain 404":          {404, "404 page not found", app.ErrNotAnAPI, false, []string{"404 page not found", "/v1"}},
		"empty 405":          {405, "", app.ErrNotAnAPI, false, []string{"405 Method Not Allowed"}},
		"health":             {200, `{"status":"ok"}`, app.ErrNotAnAPI, false, []string{"not a chat completion"}},
		"not a completion":   {200, `{"version":1}`, app.ErrNotAnAPI, false, []string{"not a chat completion", "/v1"}},
		"ollama, no model":   {404, `{"error":{"message":"model \"m\" not found, try pulling it first","type":"api_error"}}`, app.ErrInvalidRequest, false, []string{"ollama pull m"}},
		"openai, no model":   {404, `{"error":{"message":"The model 'x' does not exist","code":"model_not_found"}}`, app.ErrInvalidRequest, false, []string{"agent models"}},
		"fastapi":            {422, `{"detail":[{"loc":["body","messages",2,"content"],"msg":"Field required","type":"missing"}]}`, app.ErrInvalidRequest, false, []string{"body.messages.2.content: Field required"}},
		"fastapi 404":        {404, `{"detail":"Not Found"}`, app.ErrNotAnAPI, false, []string{"/v1"}},
		"gemini key":         {400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, app.ErrAuth, false, []string{"API_KEY"}},
		"gemini quota":       {429, `[{"error":{"code":429,"message":"You exceeded your current quota","details":[{"retryDelay":"34s"}]}}]`, app.ErrRateLimit, true, []string{"34s"}},
		"region":             {403, `{"error":{"message":"Country not supported","code":"unsupported_country"}}`, app.ErrAuth, false, []string{"may use this model"}},
		"nested raw":         {400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 213462 tokens > 200000 maximum\"}}"}}}`, app.ErrContextOverflow, false, []string{"/compact", "213462"}},
		"413":                {413, `payload too large`, app.ErrContextOverflow, false, []string{"/compact"}},
		"groq tpm":           {413, `{"error":{"message":"Request too large for model in organization on tokens per minute (TPM): Limit 6000, Requested 12000","code":"rate_limit_exceeded"}}`, app.ErrRateLimit, false, []string{"/compact"}},
		"vllm tools":         {400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","code":400}`, app.ErrToolsUnsupported, false, []string{"start vLLM with"}},
		"filter":             {400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","code":"content_filter"}}`, app.ErrContentFilter, false, []string{"other words"}},
		"overloaded":         {529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, app.ErrOverloaded, true, []string{"Overloaded"}},
		"many words":         {400, `{"errors":["x"` + strings.Repeat(`,"one more"`, 100) + `]}`, app.ErrInvalidRequest, false, []string{"x: one more", "/model"}},
		"terminal sequences": {400, "{\"error\":\"bad \\u001b[31mthing\\u0007\"}", app.ErrInvalidRequest, false, []string{"bad [31mthing"}},
		"very long":          {400, `{"error":"` + strings.Repeat("é", 5000) + `"}`, app.ErrInvalidRequest, false, []string{"bytes more"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := play(t, step{Status: row.status, Body: row.body})
			c, _ := newTestClient(t, Config{BaseURL: srv.URL, APIKey: "sk-123456789", KeyName: "API_KEY"})
			_, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
			pe := providerError(t, err)
			if pe.Kind != row.kind || pe.Retryable != row.retry {
				t.Errorf("%s, retryable %v: %v", pe.Kind, pe.Retryable, pe)
			}
			for _, w := range append(row.words, c.Host()) {
				if !strings.Contains(pe.Error(), w) {
					t.Errorf("%q is not in %q", w, pe)
				}
			}
			if row.status != http.StatusOK && !strings.Contains(pe.Error(), fmt.Sprint("HTTP ", row.status)) {
				t.Errorf("no status in %q", pe)
			}
		})
	}
}

// TestAdapts learns from the words of refusals that the transcripts do not show.
func TestAdapts(t *testing.T) {
	all := Profile{CacheControl: true}
	for words, want := range map[string]func(p *Profile){
		"Unexpected role 'user' after role 'tool'":                                    func(p *Profile) { p.AssistantAfterTool = true },
		"Tool call id was x but must be a-z, A-Z, 0-9, with a length of 9.":           func(p *Profile) { p.CallIDs = CallIDNine },
		"messages[1].tool_calls[0].id: string too long":                               func(p *Profile) { p.CallIDs = CallIDPortable },
		"System role not supported":                                                   func(p *Profile) { p.SystemRole = "user" },
		"The reasoning_content in the thinking mode must be passed back to the API.":  func(p *Profile) { p.FillReasoning = true },
		"thinking is enabled but reasoning_content is missing in assistant tool call": func(p *Profile) { p.FillReasoning = true },
		"messages.2.reasoning_content: Extra inputs are not permitted":                func(p *Profile) { p.NoEcho = true },
		"Function call is missing a thought_signature in functionCall parts":          func(p *Profile) { p.FillSignature = true },
		"cache_control: Extra inputs are not permitted":                               func(p *Profile) { p.NoCacheControl = true },
		"Unsupported parameter: 'max_completion_tokens'. Use 'max_tokens' instead.":   func(p *Profile) { p.NoMaxCompletionTokens = true },
		"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.":   func(p *Profile) { p.NoMaxTokens = true },
		"No endpoints found that support image input":                                 func(p *Profile) { p.NoImages = true },
		"Invalid schema for function 'x': 'additionalProperties' is required":         func(p *Profile) { p.PlainSchemas = true },
		"body.messages.2.content: Field required":                                     func(p *Profile) { p.EmptyContent = true },
		"temperature must be positive":                                                nil,
	} {
		p, wanted := all, all
		kind := classify(400, failure{text: words}).kind
		changed := p.adapt(&app.ProviderError{Kind: kind, Text: words})
		if want != nil {
			want(&wanted)
		}
		if p != wanted || changed != (want != nil) {
			t.Errorf("%q (%s): %+v, changed %v", words, kind, p, changed)
		}
		if p.adapt(&app.ProviderError{Kind: kind, Text: words}) {
			t.Errorf("%q was learned twice: %+v", words, p)
		}
	}
}

func TestInfoNamesTheModel(t *testing.T) {
	c, _ := newTestClient(t, Config{Model: "m", Info: app.ModelInfo{Provider: "openai", Window: 8000}})
	if got := c.Info(); got.ID != "m" || got.Window != 8000 {
		t.Errorf("%+v", got)
	}
}
