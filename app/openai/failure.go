package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// failure is what a server says about an error, whatever shape it has.
type failure struct {
	text   string        // its words, "" where there are none
	code   string        // code and type, which say the kind of some errors
	status int           // a status inside of the text, 0 where there is none
	wait   time.Duration // how long to wait, 0 where it is not said
	window int           // the true context window in tokens, 0 where it is not said
	page   bool          // it is a web page, and text its title
	shaped bool          // it has the shape of an API's error
}

// all is what is searched for the words that tell the kind.
func (f failure) all() string { return strings.ToLower(f.text + " " + f.code) }

// maxWords caps an error's text, in bytes.
const maxWords = 2000

// readFailure reads the body of an error.
func readFailure(body []byte) failure {
	body = bytes.TrimSpace(body)
	var v any
	if err := json.Unmarshal(body, &v); err == nil {
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0] // Gemini
		}
		var f failure
		f.read(v)
		if f.text == "" && f.code == "" && len(body) > len("{}") {
			f.text = string(body)
		}
		f.text = clip(f.text)
		f.finishWords()
		return f
	}
	if bytes.HasPrefix(body, []byte("<")) {
		return failure{page: true, text: clip(title(body))}
	}
	f := failure{text: clip(string(body))}
	f.finishWords()
	return f
}

// read takes what v says, from the outside in: {"error": {…}}, {"error": "…"},
// {"object": "error", "message": …}, {"detail": …} and their relatives.
func (f *failure) read(v any) {
	switch v := v.(type) {
	case string:
		f.say(v)
	case []any:
		for _, item := range v {
			f.read(item)
		}
	case map[string]any:
		f.readObject(v)
	}
}

func (f *failure) readObject(m map[string]any) {
	for _, key := range []string{"code", "type", "status", "error_code", "param"} {
		switch c := m[key].(type) {
		case string:
			f.code += " " + c
		case float64:
			f.code += " " + strconv.Itoa(int(c))
			if c >= 400 && c < 600 {
				f.status = int(c)
			}
		}
	}
	if n, ok := m["n_ctx"].(float64); ok {
		f.window = int(n)
	}
	if loc, ok := m["loc"].([]any); ok { // FastAPI names the field apart from the words
		msg, _ := m["msg"].(string)
		f.say(strings.ReplaceAll(strings.Trim(fmt.Sprint(loc), "[]"), " ", ".") + ": " + msg)
		return
	}
	for _, key := range []string{"message", "error", "detail", "details", "errors", "msg", "error_message", "reason"} {
		if inner, ok := m[key]; ok && inner != nil {
			f.shaped = f.shaped || key == "error" || key == "message"
			f.read(inner)
		}
	}
	if meta, ok := m["metadata"].(map[string]any); ok { // OpenRouter
		raw, _ := meta["raw"].(string)
		if raw != "" {
			f.say(wordsIn(raw))
		}
	}
	if delay, ok := m["retryDelay"].(string); ok { // Google's RetryInfo
		f.wait, _ = time.ParseDuration(delay)
	}
}

// wordsIn are the words of an error inside of an error, which may be JSON again.
func wordsIn(raw string) string {
	var v any
	if json.Unmarshal([]byte(raw), &v) != nil {
		return raw
	}
	var f failure
	f.read(v)
	return f.text
}

// say adds words, unless they are there already.
func (f *failure) say(s string) {
	s = strings.TrimSpace(s)
	switch {
	case s == "" || len(f.text) > maxWords || strings.Contains(f.text, s):
	case f.text == "":
		f.text = s
	default:
		f.text += ": " + s
	}
}

// finishWords reads numbers that are only in the words.
func (f *failure) finishWords() {
	if f.wait == 0 {
		f.wait = waitInWords(f.text)
	}
}

// waitInWords reads "try again in 7.66s", "in 120ms", "in 1m30s", "after 20 seconds".
func waitInWords(text string) time.Duration {
	lower := strings.ToLower(text)
	for _, lead := range []string{"try again in ", "retry in ", "retry after ", "wait "} {
		_, rest, ok := strings.Cut(lower, lead)
		if !ok {
			continue
		}
		word, unit, _ := strings.Cut(rest, " ")
		word = strings.TrimRight(word, ".,;")
		if d, err := time.ParseDuration(word); err == nil && d > 0 {
			return d
		}
		if n, err := strconv.ParseFloat(word, 64); err == nil && n > 0 {
			switch {
			case strings.HasPrefix(unit, "sec"):
				return time.Duration(n * float64(time.Second))
			case strings.HasPrefix(unit, "min"):
				return time.Duration(n * float64(time.Minute))
			}
		}
	}
	return 0
}

// retryAfter reads the headers that say how long to wait, 0 where none does.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("retry-after-ms"), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return seconds(s)
	}
	if at, err := http.ParseTime(v); err == nil && at.After(now) {
		return at.Sub(now)
	}
	// OpenRouter: when the limit begins anew, in milliseconds since 1970.
	if ms, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil && ms > 1e12 {
		return max(0, time.UnixMilli(ms).Sub(now))
	}
	return 0
}

// seconds is s as a duration, at most a day.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, 24*60*60) * float64(time.Second))
}

// title is what a web page says of itself.
func title(page []byte) string {
	lower := bytes.ToLower(page)
	for _, tag := range []string{"title", "h1"} {
		_, rest, ok := bytes.Cut(lower, []byte("<"+tag+">"))
		if !ok {
			continue
		}
		start := len(lower) - len(rest)
		if end := bytes.IndexByte(rest, '<'); end > 0 && len(lower) == len(page) {
			return strings.Join(strings.Fields(string(page[start:start+end])), " ")
		}
	}
	return "a web page"
}

// clip makes a text safe to show: valid, printable, at most maxWords long.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	if len(s) <= maxWords {
		return s
	}
	end := maxWords
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s … (%d bytes more)", s[:end], len(s)-end)
}
