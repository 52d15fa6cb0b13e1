package web

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

const maxURL = 8 << 10 // bytes

// target parses a URL and checks what does not need a connection. The host of
// the result is the one that was checked, so there is no second reading of it.
func (f *Fetcher) target(raw string) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	switch {
	case raw == "":
		return nil, ErrURLRequired
	case len(raw) > maxURL:
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrInvalidURL, maxURL)
	}
	u, err := url.Parse(raw)
	if err != nil {
		var wrapped *url.Error // its text holds the URL, and so perhaps a password
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("%w: %v", ErrInvalidURL, err)
	}
	return u, f.checkTarget(u)
}

// checkTarget checks a URL and makes its host the one that was checked.
func (f *Fetcher) checkTarget(u *url.URL) error {
	switch {
	case u.Scheme == "":
		return fmt.Errorf("%w: this one has none of the two at its start", ErrUnsupportedScheme)
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%w, not %s", ErrUnsupportedScheme, clip(u.Scheme, 20))
	case u.User != nil:
		return ErrCredentials
	case u.Opaque != "" || u.Hostname() == "":
		return fmt.Errorf("%w: it has no host", ErrInvalidURL)
	}
	host, err := normalHost(u.Hostname())
	if err != nil {
		return err
	}
	if len(f.patterns) > 0 && !slices.ContainsFunc(f.patterns, func(p string) bool { return matchHost(p, host) }) {
		return fmt.Errorf("%w: %s", ErrHostNotAllowed, host)
	}
	if !f.private && oddAddress(host) {
		return fmt.Errorf("%w: %s is an address in an unusual spelling", ErrPrivateAddress, host)
	}
	port := u.Port()
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535) {
		return fmt.Errorf("%w: there is no port %s", ErrInvalidURL, clip(port, 10))
	}
	u.Host = hostPort(host, port)
	return nil
}

// hostPort is the host of a URL.
func hostPort(host, port string) string {
	switch {
	case port != "":
		return net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		return "[" + host + "]"
	}
	return host
}

// normalHost brings a host into one spelling: lower case, ASCII, without a dot at the end.
func normalHost(host string) (string, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String(), nil
	}
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || ascii == "" {
		// Names with an underscore are no host names by the rules, but exist.
		ascii = strings.ToLower(strings.TrimSuffix(host, "."))
	}
	if ascii == "" || strings.ContainsFunc(ascii, notOfHosts) {
		return "", fmt.Errorf("%w: %q is no host", ErrInvalidURL, clip(host, 100))
	}
	return ascii, nil
}

func notOfHosts(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '-', r == '.', r == '_':
		return false
	}
	return true
}

// oddAddress tells whether a host ends in a number without being an address:
// 127.1, 0x7f.1 and 2130706433, which some resolvers take for 127.0.0.1.
func oddAddress(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	_, err := strconv.ParseUint(last, 0, 64)
	return err == nil || strings.Trim(last, "0123456789") == ""
}

// hostPattern checks and normalises an entry of the allowed hosts.
func hostPattern(pattern string) (string, error) {
	host, wild := strings.CutPrefix(strings.TrimSpace(pattern), "*.")
	if h, port, err := net.SplitHostPort(host); err == nil && !strings.Contains(port, "/") {
		host = h
	}
	host, err := normalHost(strings.Trim(host, "[]"))
	if err != nil {
		return "", fmt.Errorf("%w, not %q", ErrInvalidAllowedHost, pattern)
	}
	if wild {
		host = "*." + host
	}
	return host, nil
}

// matchHost compares normalised hosts (WEB-19).
func matchHost(pattern, host string) bool {
	if below, ok := strings.CutPrefix(pattern, "*"); ok {
		return strings.HasSuffix(host, below) && len(host) > len(below)
	}
	return host == pattern
}

// clip cuts a text to at most n bytes, without splitting a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
