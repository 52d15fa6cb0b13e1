package openai

import (
	"strings"

	"github.com/phero-agent/agent/app"
)

// Profile is what is known of a server: which fields it refuses and which it
// demands. The zero value suits most. A client adds what it learns from
// refusals, each once, and sends the same request again.
type Profile struct {
	SystemRole            string `json:"system_role,omitempty"` // "" is "system"; "user": the text goes before the first user message
	NoMaxTokens           bool   `json:"no_max_tokens,omitempty"`
	NoMaxCompletionTokens bool   `json:"no_max_completion_tokens,omitempty"`
	NoStreamOptions       bool   `json:"no_stream_options,omitempty"`
	NoEffort              bool   `json:"no_effort,omitempty"`
	NoImages              bool   `json:"no_images,omitempty"`
	EmptyContent          bool   `json:"empty_content,omitempty"`        // a message with calls and no text needs ""
	NoEcho                bool   `json:"no_echo,omitempty"`              // reasoning does not go back
	FillReasoning         bool   `json:"fill_reasoning,omitempty"`       // messages with calls need reasoning_content, also those of other models
	FillSignature         bool   `json:"fill_signature,omitempty"`       // Gemini: calls of other models need a thought signature
	PlainSchemas          bool   `json:"plain_schemas,omitempty"`        // of a JSON schema only what every server takes
	AssistantAfterTool    bool   `json:"assistant_after_tool,omitempty"` // Mistral: no user message right after a tool's
	CacheControl          bool   `json:"-"`                              // the request asks for prompt caching
	NoCacheControl        bool   `json:"no_cache_control,omitempty"`     // it must not
	CallIDs               CallID `json:"call_ids,omitempty"`
}

// CallID says which ids of calls a server takes.
type CallID string

// The rules for ids of calls.
const (
	CallIDAny      CallID = ""         // its own as they came; of other models portable ones
	CallIDPortable CallID = "portable" // letters, digits, "_" and "-", at most 40
	CallIDNine     CallID = "nine"     // nine letters or digits (Mistral)
)

// KnownProfile is what is known of a host before anything was sent to it.
func KnownProfile(host, model string) Profile {
	host, _, _ = strings.Cut(strings.ToLower(host), ":")
	var p Profile
	switch {
	case within(host, "mistral.ai"):
		p.AssistantAfterTool, p.CallIDs = true, CallIDNine
	case within(host, "googleapis.com"):
		p.PlainSchemas = true
	case within(host, "openai.com"):
		p.NoMaxTokens = true
	case within(host, "openrouter.ai"):
		p.CacheControl = strings.HasPrefix(model, "anthropic/")
	}
	return p
}

// Refused lists what the server does not get because it refuses it.
func (p Profile) Refused() (names []string) {
	for _, f := range []struct {
		set  bool
		name string
	}{
		{p.NoStreamOptions, "stream_options"},
		{p.NoEffort, "reasoning_effort"},
		{p.NoImages, "images"},
		{p.NoEcho, "reasoning of earlier replies"},
		{p.PlainSchemas, "rare words of schemas"},
		{p.NoCacheControl, "cache_control"},
	} {
		if f.set {
			names = append(names, f.name)
		}
	}
	return names
}

// within tells whether host is domain or below it.
func within(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// lesson is what a refusal teaches: words that are in it, and the flag to set.
type lesson struct {
	words []string
	flag  func(p *Profile) *bool
}

// lessons are asked in order; the first whose words fit decides.
var lessons = [...]lesson{
	{[]string{"stream_options", "include_usage"}, func(p *Profile) *bool { return &p.NoStreamOptions }},
	{[]string{"reasoning_effort", "reasoningeffort", "reasoning effort"}, func(p *Profile) *bool { return &p.NoEffort }},
	{[]string{"must be passed back", "missing `reasoning_content`", "reasoning_content is missing", "must include reasoning_content"},
		func(p *Profile) *bool { return &p.FillReasoning }},
	{[]string{"reasoning_content", "reasoning_details"}, func(p *Profile) *bool { return &p.NoEcho }},
	{[]string{"thought_signature"}, func(p *Profile) *bool { return &p.FillSignature }},
	{[]string{"after role 'tool'", "after role tool"}, func(p *Profile) *bool { return &p.AssistantAfterTool }},
	{[]string{"content: field required", "'content' is required", "content is required", "missing 'content'", "content field is required"},
		func(p *Profile) *bool { return &p.EmptyContent }},
	{[]string{"image_url", "image input", "support image", "images are not", "mmproj"}, func(p *Profile) *bool { return &p.NoImages }},
}

// adapt changes the profile so that the server may take what it refused with
// e. It tells whether anything changed.
func (p *Profile) adapt(e *app.ProviderError) bool {
	switch e.Kind {
	case app.ErrUnsupported, app.ErrSchema, app.ErrInvalidRequest:
	default:
		return false
	}
	w := strings.ToLower(e.Text)
	if e.Kind == app.ErrSchema {
		return set(&p.PlainSchemas)
	}
	return p.adaptIDs(w) || p.adaptRole(w) || p.adaptFields(w)
}

func (p *Profile) adaptFields(w string) bool {
	if has(w, "cache_control") {
		return set(&p.NoCacheControl)
	}
	for _, l := range lessons {
		if has(w, l.words...) {
			return set(l.flag(p))
		}
	}
	// The name that comes first is the one that is refused; the other one is the advice.
	older, newer := strings.Index(w, "max_tokens"), strings.Index(w, "max_completion_tokens")
	switch {
	case older >= 0 && (newer < 0 || older < newer):
		return set(&p.NoMaxTokens)
	case newer >= 0:
		return set(&p.NoMaxCompletionTokens)
	}
	return false
}

func (p *Profile) adaptIDs(w string) bool {
	if !has(w, "tool call id", "tool_call_id", "tool_calls") {
		return false
	}
	switch {
	case has(w, "length of 9", "a-z, a-z, 0-9") && p.CallIDs != CallIDNine:
		p.CallIDs = CallIDNine
	case has(w, "too long", "maximum length", "match pattern", "pattern '^") && p.CallIDs == CallIDAny:
		p.CallIDs = CallIDPortable
	default:
		return false
	}
	return true
}

// adaptRole goes from "developer" to "system", and from there to no role of its own.
func (p *Profile) adaptRole(w string) bool {
	switch {
	case p.SystemRole == "developer" && has(w, "developer"):
		p.SystemRole = ""
	case p.SystemRole == "" && has(w, "system role", "role 'system'", "role \"system\"", "support 'system'", "developer instruction"):
		p.SystemRole = "user"
	default:
		return false
	}
	return true
}

// set sets a flag and tells whether it was not set before.
func set(flag *bool) bool {
	was := *flag
	*flag = true
	return !was
}
