package openai

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/phero-agent/agent/app"
)

// verdict is the kind of an error and whether the same request may succeed later.
type verdict struct {
	kind  app.ErrorKind
	retry bool
}

// classify tells the kind of an error. The words count more than the status,
// which servers choose freely: llama.cpp says 500 for what no retry will mend.
func classify(status int, f failure) verdict {
	if f.page {
		return classifyPage(status)
	}
	if f.status != 0 && (status < 400 || status >= 600) {
		status = f.status
	}
	words := f.all()
	for _, rule := range wordRules {
		if rule.fits(status, words, f) {
			return verdict{rule.kind, rule.retry}
		}
	}
	return classifyStatus(status, f)
}

func classifyPage(status int) verdict {
	switch {
	case status == http.StatusTooManyRequests:
		return verdict{app.ErrRateLimit, true}
	case status >= 500:
		return verdict{app.ErrServer, true}
	}
	return verdict{app.ErrNotAnAPI, false}
}

func classifyStatus(status int, f failure) verdict {
	switch {
	case status == 503 || status == 529 || status == 498:
		return verdict{app.ErrOverloaded, true}
	case status >= 500, status == 408, status == 409, status == 425:
		return verdict{app.ErrServer, true}
	case status == 404 && !f.shaped, status == 405, status >= 300 && status < 400:
		return verdict{app.ErrNotAnAPI, false}
	case status >= 400:
		return verdict{app.ErrInvalidRequest, false}
	}
	// An error inside of a reply that began well.
	return verdict{app.ErrServer, true}
}

// wordRule says what words mean. The first rule that fits decides.
type wordRule struct {
	kind  app.ErrorKind
	retry bool
	fits  func(status int, words string, f failure) bool
}

// wordRules are in the order in which they are asked: throttling before
// overflow, for "too many tokens" can be either.
var wordRules = [...]wordRule{
	{app.ErrQuota, false, isQuota},
	{app.ErrRateLimit, false, func(status int, w string, _ failure) bool {
		// More than a whole minute's allowance in one request never fits.
		return has(w, "request too large for") && has(w, "per min", "per minute", "tpm")
	}},
	{app.ErrRateLimit, true, func(status int, w string, _ failure) bool {
		return status == http.StatusTooManyRequests ||
			status != http.StatusServiceUnavailable && has(w, "throttl", "rate limit", "rate_limit", "too many requests")
	}},
	{app.ErrContextOverflow, false, func(status int, w string, _ failure) bool {
		return isOverflow(w) || status == http.StatusRequestEntityTooLarge
	}},
	{app.ErrToolsUnsupported, false, func(_ int, w string, _ failure) bool {
		return has(w, "does not support tools", "tools param requires", "does not support tool", "support tool use",
			"does not support function", "function calling is not", "tool calling is not", "tool use is not",
			"--enable-auto-tool-choice", "tools are not supported", "tools is not supported")
	}},
	{app.ErrToolUseFailed, true, func(_ int, w string, _ failure) bool {
		return has(w, "tool_use_failed", "failed to call a function", "error parsing tool call", "failed to parse tool call",
			"malformed_function_call")
	}},
	{app.ErrAuth, false, func(status int, w string, _ failure) bool {
		return status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusProxyAuthRequired ||
			has(w, "invalid_api_key", "api key not valid", "api_key_invalid", "incorrect api key", "invalid api key")
	}},
	{app.ErrContentFilter, false, func(_ int, w string, _ failure) bool {
		return has(w, "content_filter", "content management policy", "responsibleaipolicy", "data_inspection_failed",
			"content_policy_violation", "flagged by our content filter")
	}},
	{app.ErrSchema, false, func(status int, w string, _ failure) bool { return rejects(status) && isSchema(w) }},
	{app.ErrUnsupported, false, func(status int, w string, _ failure) bool {
		return rejects(status) && has(w, "unsupported parameter", "unsupported_parameter", "unsupported_value", "unknown parameter",
			"not support parameter", "unrecognized request argument", "extra inputs are not permitted", "extra_forbidden",
			"unexpected keyword", "unknown variant", "cannot find field", "unknown name", "unknown field", "not supported",
			"does not support", "unexpected role", "must be passed back", "is missing in assistant", "not permitted",
			"roles must alternate", "thought_signature", "tool call id was", "additional properties are not allowed")
	}},
	{app.ErrOverloaded, true, func(_ int, w string, _ failure) bool {
		return has(w, "overloaded", "too busy", "no capacity", "at capacity")
	}},
}

func has(words string, any ...string) bool {
	for _, s := range any {
		if strings.Contains(words, s) {
			return true
		}
	}
	return false
}

// rejects tells whether a status refuses the request itself. Some servers say so with 500.
func rejects(status int) bool {
	return status == 400 || status == 404 || status == 422 || status == 500 || status == 501
}

func isQuota(status int, w string, f failure) bool {
	if status == http.StatusPaymentRequired || has(w, "insufficient_quota", "insufficient balance", "credit balance",
		"billing_hard_limit", "billing hard limit", "insufficient credits", "requires more credits") {
		return true
	}
	// Gemini uses these words for a limit per minute too, and then says how long to wait.
	return has(w, "exceeded your current quota") && f.wait == 0
}

func isSchema(w string) bool {
	if has(w, "unknown name", "cannot find field") {
		return has(w, "function_declarations", "at 'tools", "parameters")
	}
	return has(w, "invalid schema for function", "invalid_function_parameters", "json schema", "function_declarations",
		"tools.0.custom.input_schema", "input_schema", "unsupported schema")
}

// isOverflow tells whether words say that the prompt does not fit the context
// window. They are in lower case.
func isOverflow(w string) bool {
	return has(w, "context_length_exceeded", "exceed_context_size", "request_too_large", "maximum context length",
		"prompt is too long", "input is too long", "available context size", "context size has been exceeded",
		"maximum prompt length", "model token limit", "maximum allowed input length", "context window",
		"model_context_window_exceeded", "exceeds the maximum number of tokens", "input token count", "prompt too long",
		"context length exceeded", "longer than the model", "reduce the length of the messages") ||
		has(w, "prompt token count") && has(w, "exceeds the limit")
}

// windowPattern finds the size of the window in an overflow's words.
var windowPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:context length (?:is|of)|context size \(|prompt length is|input length of|> |token limit: |tokens allowed \(|limit of|with) *(\d{3,8})`)
})

func windowIn(text string) int {
	m := windowPattern().FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}
