package web

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

const noText = "(no text: it may take a browser to show this page)"

// text returns the page's text from offset on, at most limit characters of it
// (0: all), and where to read on when there is more (0: nowhere).
func (p *page) text(ctx context.Context, offset, limit int) (text string, more int, err error) {
	mediaType, params := p.mediaType()
	isHTML := mediaType == "text/html" || mediaType == "application/xhtml+xml"
	if !isHTML && !isText(mediaType) {
		return "", 0, fmt.Errorf("%w but %s", ErrBinaryContent, clip(mediaType, 100))
	}
	text = decode(p.body, params["charset"], isHTML, p.capped)
	if strings.HasPrefix(text, "%PDF-") || !isHTML && strings.IndexByte(text, 0) >= 0 {
		return "", 0, fmt.Errorf("%w, although the server calls it %s", ErrBinaryContent, clip(mediaType, 100))
	}
	cut := false
	if isHTML {
		need := 0
		if limit > 0 {
			need = offset + limit + 1
		}
		if text, cut, err = convert(ctx, text, p.url, need); err != nil {
			return "", 0, err
		}
		if text == "" {
			text = noText
		}
	}
	text, more = window(text, offset, limit)
	if cut && more == 0 {
		more = offset + utf8.RuneCountInString(text)
	}
	return text, more, nil
}

// mediaType is what the server says, else what the content looks like.
func (p *page) mediaType() (string, map[string]string) {
	if strings.TrimSpace(p.contentType) == "" {
		sniffed, _, _ := strings.Cut(http.DetectContentType(p.body), ";") // its charset is a guess
		return sniffed, nil
	}
	mediaType, params, err := mime.ParseMediaType(p.contentType)
	if err != nil {
		mediaType, _, _ = strings.Cut(p.contentType, ";")
		mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	}
	return mediaType, params
}

// isText tells whether content of a type comes back as it is (WEB-04).
func isText(mediaType string) bool {
	kind, sub, _ := strings.Cut(mediaType, "/")
	if kind == "text" || strings.HasSuffix(sub, "+json") || strings.HasSuffix(sub, "+xml") || strings.HasSuffix(sub, "+yaml") {
		return true
	}
	if kind != "application" {
		return false
	}
	switch strings.TrimPrefix(sub, "x-") {
	case "json", "ndjson", "jsonlines", "json-seq", "xml", "xml-dtd", "yaml", "toml", "javascript", "ecmascript",
		"typescript", "graphql", "sql", "sh", "shellscript", "httpd-php", "tex", "latex", "www-form-urlencoded":
		return true
	}
	return false
}

// decode makes valid UTF-8: a byte order mark decides, then the server's
// charset, then what HTML says of itself; else it is UTF-8 where it is valid.
func decode(body []byte, label string, isHTML, capped bool) string {
	mark, rest := byteOrderMark(body)
	if mark != "" {
		label = mark
	}
	e, _ := charset.Lookup(label)
	if capped {
		rest = dropTorn(rest)
	}
	if e == nil && (isHTML || !utf8.Valid(rest)) {
		var name string
		e, name, _ = charset.DetermineEncoding(rest, "")
		if name == "windows-1252" && utf8.Valid(rest) {
			e = nil // its guess from the first kilobyte
		}
	}
	if e != nil {
		if decoded, err := e.NewDecoder().Bytes(rest); err == nil {
			rest = decoded
		}
	}
	return strings.ToValidUTF8(string(rest), "\ufffd")
}

// byteOrderMark tells the charset that a byte order mark names, and what follows it.
func byteOrderMark(body []byte) (label string, rest []byte) {
	for _, m := range []struct{ mark, label string }{
		{"\xef\xbb\xbf", "utf-8"}, {"\xfe\xff", "utf-16be"}, {"\xff\xfe", "utf-16le"},
	} {
		if rest, ok := bytes.CutPrefix(body, []byte(m.mark)); ok {
			return m.label, rest
		}
	}
	return "", body
}

// dropTorn takes away a character that the cap cut in two.
func dropTorn(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// window returns limit characters (0: all) from offset on, and the offset of
// what follows them (0: nothing does).
func window(s string, offset, limit int) (string, int) {
	start, end, n := len(s), len(s), 0
	for i := range s {
		if n == offset {
			start = i
		}
		if limit > 0 && n == offset+limit {
			end = i
			break
		}
		n++
	}
	if end < len(s) {
		return s[start:end], offset + limit
	}
	return s[min(start, end):end], 0
}
