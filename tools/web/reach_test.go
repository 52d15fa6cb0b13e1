package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/phero-agent/agent/tools/web"
)

// untouched listens where nothing must connect to, and returns its port.
func untouched(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Errorf("a connection from %s", c.RemoteAddr())
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// names is a real name server: it answers each question with the next of the
// addresses of a name, the last one for ever.
func names(t *testing.T, addresses map[string][]string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	asked := map[string]int{}
	go func() {
		defer close(done)
		buf := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if err := m.Unpack(buf[:n]); err != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			reply := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions}
			list, known := addresses[strings.TrimSuffix(q.Name.String(), ".")]
			if !known {
				reply.RCode = dnsmessage.RCodeNameError
			} else if a := netip.MustParseAddr(list[min(asked[q.Name.String()], len(list)-1)]); a.Is4() == (q.Type == dnsmessage.TypeA) {
				asked[q.Name.String()]++
				r := dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}}
				if r.Body = (&dnsmessage.AAAAResource{AAAA: a.As16()}); a.Is4() {
					r.Body = &dnsmessage.AResource{A: a.As4()}
				}
				reply.Answers = append(reply.Answers, r)
			}
			packed, err := reply.Pack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.WriteTo(packed, from)
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// public is a server that plays one on the public network.
func public(t *testing.T, h http.HandlerFunc) (*httptest.Server, web.Option) {
	t.Helper()
	s := serve(t, h)
	return s, web.WithTrusted(s.Listener.Addr().String())
}

// WEB-10, WEB-16, file-tool-cases N2, N4: however the address is written.
func TestPrivateAddressesAreNotConnectedTo(t *testing.T) {
	port := untouched(t)
	tool := newTool(t)
	for _, host := range []string{
		"127.0.0.1", "127.9.9.9", "[::1]", "localhost", "LOCALHOST", "localhost.", "127.0.0.1.", "0.0.0.0", "[::]", "[::ffff:7f00:1]", "[::ffff:127.0.0.1]",
		"[::1%25lo]", "[::ffff:7f00:1%25lo]", "169.254.169.254", "10.0.0.1", "[64:ff9b::7f00:1]", "[fe80::1%25eth0]",
		"2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0", "0x7f000001", "127.0.0.0x1", "1.2.3.4.5", "①②⑦.0.0.1", "127。0。0。1",
	} {
		_, err := call(t, tool, web.Input{URL: "http://" + host + ":" + port + "/"})
		if !errors.Is(err, web.ErrPrivateAddress) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// WEB-16, file-tool-cases N5: the check is on the address, not on the name.
func TestNamesOfPrivateAddresses(t *testing.T) {
	port := untouched(t)
	s, trusted := public(t, func(http.ResponseWriter, *http.Request) {})
	tool := newTool(t, trusted, web.WithResolver(names(t, map[string][]string{
		"a.test":      {"127.0.0.1"},
		"six.test":    {"::1"},
		"meta.test":   {"169.254.169.254"},
		"nat64.test":  {"64:ff9b::7f00:1"},
		"rebind.test": {"127.0.0.2", "127.0.0.1"},
	})))
	for _, host := range []string{"a.test", "six.test", "meta.test", "nat64.test", "rebind.test", "rebind.test", "A.TEST", "a.test."} {
		if _, err := call(t, tool, web.Input{URL: "http://" + host + ":" + port}); !errors.Is(err, web.ErrPrivateAddress) {
			t.Errorf("%s: %v", host, err)
		}
	}
	var dns *net.DNSError
	if _, err := call(t, tool, web.Input{URL: "http://unknown.test"}); !errors.As(err, &dns) {
		t.Errorf("unknown.test: %v", err)
	}
	if got, err := call(t, tool, web.Input{URL: s.URL}); err != nil {
		t.Errorf("the server that plays a public one: %q, %v", got, err)
	}
}

// WEB-17, WEB-20, WEB-21, file-tool-cases N6
func TestRedirects(t *testing.T) {
	port := untouched(t)
	s, trusted := public(t, func(w http.ResponseWriter, r *http.Request) {
		to := r.URL.Query().Get("to")
		if n := 0; strings.HasPrefix(r.URL.Path, "/hops/") {
			if fmt.Sscan(strings.TrimPrefix(r.URL.Path, "/hops/"), &n); n > 0 {
				to = fmt.Sprintf("/hops/%d", n-1)
			}
		}
		if to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "arrived at "+r.URL.Path)
	})
	tests := []struct {
		path string
		err  error
		want string
	}{
		{path: "/?to=/x", want: "arrived at /x"},
		{path: "/a/?to=b", want: "arrived at /a/b"},
		{path: "/hops/10", want: "arrived at /hops/0"},
		{path: "/hops/11", err: web.ErrTooManyRedirects},
		{path: "/?to=%2F%3Fto%3D%2F", want: "arrived at /"},
		{path: "/hops/20", err: web.ErrTooManyRedirects},
		{path: "/?to=http://127.0.0.1:" + port, err: web.ErrPrivateAddress},
		{path: "/?to=http://localhost:" + port, err: web.ErrPrivateAddress},
		{path: "/?to=//2130706433:" + port, err: web.ErrPrivateAddress},
		{path: "/?to=http://[::ffff:127.0.0.1]:" + port, err: web.ErrPrivateAddress},
		{path: "/?to=file:///etc/passwd", err: web.ErrUnsupportedScheme},
		{path: "/?to=gopher://x", err: web.ErrUnsupportedScheme},
		{path: "/?to=javascript:x", err: web.ErrUnsupportedScheme},
		{path: "/?to=http://u:p@" + s.Listener.Addr().String(), err: web.ErrCredentials},
		{path: "/?to=http://:0", err: web.ErrInvalidURL},
	}
	tool := newTool(t, trusted)
	for _, tt := range tests {
		got, err := call(t, tool, web.Input{URL: s.URL + tt.path})
		if !errors.Is(err, tt.err) || err == nil && text(t, got) != tt.want {
			t.Errorf("%s: %q, %v", tt.path, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s: the error holds the password: %v", tt.path, err)
		}
	}

	limited := newTool(t, trusted, web.WithAllowedHosts("127.0.0.1"))
	if _, err := call(t, limited, web.Input{URL: s.URL + "/?to=http://localhost:" + port}); !errors.Is(err, web.ErrHostNotAllowed) {
		t.Errorf("to a host that is not allowed: %v", err)
	}
	loop := newTool(t, trusted)
	if _, err := call(t, loop, web.Input{URL: s.URL + "/?to=" + url.QueryEscape("/?to=")}); err != nil {
		t.Errorf("a redirect to a page without one: %v", err)
	}
}

// A host that is allowed does not allow those it redirects to.
func TestRedirectCheck(t *testing.T) {
	var other *httptest.Server
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/other":
			http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/end?d=1", http.StatusFound)
		case "/same":
			http.Redirect(w, r, "/end", http.StatusFound)
		}
	})
	other = serve(t, func(http.ResponseWriter, *http.Request) {})
	refused := errors.New("ask first")
	var asked []string
	answer := refused
	tool := newTool(t, web.WithPrivateNetworks(true), web.WithRedirectCheck(func(_ context.Context, url string) error {
		asked = append(asked, url)
		return answer
	}))
	if _, err := call(t, tool, web.Input{URL: s.URL + "/same"}); err != nil || len(asked) != 0 {
		t.Errorf("on one host: %v, asked %v", err, asked)
	}
	_, err := call(t, tool, web.Input{URL: s.URL + "/other"})
	if !errors.Is(err, refused) || len(asked) != 1 || !strings.Contains(asked[0], "//localhost:") || !strings.Contains(err.Error(), "it redirects to "+asked[0]+": ask first") {
		t.Errorf("refused: %v, asked %v", err, asked)
	}
	answer = nil
	if _, err := call(t, tool, web.Input{URL: s.URL + "/other"}); err != nil || len(asked) != 2 {
		t.Errorf("allowed: %v, asked %v", err, asked)
	}
}

// WEB-19, file-tool-cases N9
func TestAllowedHosts(t *testing.T) {
	resolver := names(t, map[string][]string{})
	tests := []struct {
		pattern string
		allowed []string
		refused []string
	}{
		{"go.dev", []string{"go.dev", "GO.DEV", "go.dev.", "go.dev:8443"}, []string{"pkg.go.dev", "evilgo.dev", "go.dev.evil.com", "go.de"}},
		{"*.go.dev", []string{"pkg.go.dev", "a.b.go.dev", "PKG.go.dev.", "pkg.go.dev:80"}, []string{"go.dev", "evilgo.dev", "go.dev.evil.com", ".go.dev"}},
		{"GO.dev.:443", []string{"go.dev"}, []string{"pkg.go.dev"}},
		{"bücher.example", []string{"bücher.example", "BÜCHER.example", "xn--bcher-kva.example"}, []string{"bucher.example"}},
		{"*.xn--bcher-kva.example", []string{"a.bücher.example"}, []string{"bücher.example"}},
	}
	for _, tt := range tests {
		tool := newTool(t, web.WithAllowedHosts("other.example", tt.pattern), web.WithResolver(resolver))
		for _, host := range append(tt.allowed, "other.example") {
			var dns *net.DNSError // it is looked up, so it was allowed
			if _, err := call(t, tool, web.Input{URL: "http://" + host}); !errors.As(err, &dns) {
				t.Errorf("%s, %s: %v", tt.pattern, host, err)
			}
		}
		for _, host := range tt.refused {
			if _, err := call(t, tool, web.Input{URL: "http://" + host}); !errors.Is(err, web.ErrHostNotAllowed) && !errors.Is(err, web.ErrInvalidURL) {
				t.Errorf("%s, %s: %v", tt.pattern, host, err)
			}
		}
	}
	for _, pattern := range []string{"", "*", "*.", "a.*.b", "https://go.dev", "go.dev/x", "a b"} {
		if _, err := web.New(web.WithAllowedHosts(pattern)).Tool(); !errors.Is(err, web.ErrInvalidAllowedHost) {
			t.Errorf("pattern %q: %v", pattern, err)
		}
	}
	if _, err := web.New(web.WithAllowedHosts("[::1]", "10.0.0.1", "::1")).Tool(); err != nil {
		t.Errorf("addresses as patterns: %v", err)
	}
}

// WEB-21, WEB-22, file-tool-cases N10
func TestURLs(t *testing.T) {
	port := untouched(t)
	tool := newTool(t, web.WithPrivateNetworks(true))
	for _, tt := range []struct {
		url string
		err error
	}{
		{"file:///etc/passwd", web.ErrUnsupportedScheme}, {"ftp://h/x", web.ErrUnsupportedScheme}, {"gopher://h", web.ErrUnsupportedScheme},
		{"javascript:alert(1)", web.ErrUnsupportedScheme}, {"data:text/html,x", web.ErrUnsupportedScheme}, {"go.dev", web.ErrUnsupportedScheme},
		{"//go.dev", web.ErrUnsupportedScheme}, {"/etc/passwd", web.ErrUnsupportedScheme},
		{"http://u:p@127.0.0.1:" + port, web.ErrCredentials}, {"http://host@127.0.0.1:" + port, web.ErrCredentials}, {"http://@127.0.0.1:" + port, web.ErrCredentials},
		{"http://", web.ErrInvalidURL}, {"http:///x", web.ErrInvalidURL}, {"http:x", web.ErrInvalidURL}, {"http:/\\127.0.0.1:" + port, web.ErrInvalidURL},
		{"http://127.0.0.1\\@h", web.ErrInvalidURL}, {"http://127.0.0.1:" + port + "\n/", web.ErrInvalidURL}, {"http://127.0.0.1\t:" + port, web.ErrInvalidURL},
		{"http://127.0.0.1:0", web.ErrInvalidURL}, {"http://127.0.0.1:99999", web.ErrInvalidURL}, {"http://127.0.0.1:x", web.ErrInvalidURL},
		{"http://a b/", web.ErrInvalidURL}, {"http://%31%32/", web.ErrInvalidURL}, {"http://[::1", web.ErrInvalidURL}, {"http://a..\u202eb/", web.ErrInvalidURL},
		{"http://h/" + strings.Repeat("x", 1<<20), web.ErrInvalidURL},
		{"http://u:secret@h:bad/", web.ErrInvalidURL},
	} {
		_, err := call(t, tool, web.Input{URL: tt.url})
		if !errors.Is(err, tt.err) || strings.Contains(err.Error(), "secret") || len(err.Error()) > 300 {
			t.Errorf("%.100s: %v", tt.url, err)
		}
	}

	s := serveText(t, "text/plain", "x")
	for _, u := range []string{" " + s.URL + "\n", strings.Replace(s.URL, "http", "HTTP", 1), s.URL + "#@host", s.URL + "/a%20b?c=d%0A"} {
		if got, err := call(t, tool, web.Input{URL: u}); err != nil || text(t, got) != "x" {
			t.Errorf("%q: %q, %v", u, got, err)
		}
	}
}

// WEB-22, file-tool-cases N7: the environment's proxies are not used.
func TestNoProxyOfTheEnvironment(t *testing.T) {
	port := untouched(t)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:"+port)
	}
	t.Setenv("NO_PROXY", "")
	tool := newTool(t, web.WithResolver(names(t, map[string][]string{})))
	var dns *net.DNSError
	if _, err := call(t, tool, web.Input{URL: "http://public.test/"}); !errors.As(err, &dns) {
		t.Errorf("err = %v", err)
	}
}

// Decision 38, file-tool-cases N7: a proxy is trusted, the host behind it is not.
func TestProxy(t *testing.T) {
	port := untouched(t)
	var asked atomic.Value
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.URL.String() + " " + r.Header.Get("Proxy-Authorization"))
		if r.URL.Path == "/redirect" {
			http.Redirect(w, r, "http://meta.test/", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "through the proxy")
	})
	address := proxy.Listener.Addr().String()
	resolver := names(t, map[string][]string{"public.test": {"8.8.8.8"}, "private.test": {"10.0.0.1"}, "meta.test": {"169.254.169.254"}})
	tool := newTool(t, web.WithProxy("http://me:secret@"+address), web.WithResolver(resolver))
	for _, u := range []string{"http://public.test/x", "http://only-the-proxy-knows.test/x"} {
		if got, err := call(t, tool, web.Input{URL: u}); err != nil || text(t, got) != "through the proxy" || asked.Load() != u+" Basic bWU6c2VjcmV0" {
			t.Errorf("%s: %q, %v, the proxy was asked for %q", u, got, err, asked.Load())
		}
	}
	for _, u := range []string{
		"http://127.0.0.1:" + port, "http://[::1]:" + port, "http://2130706433:" + port, "http://private.test", "http://meta.test", "http://" + address,
		"https://private.test", "http://public.test/redirect",
	} {
		if _, err := call(t, tool, web.Input{URL: u}); !errors.Is(err, web.ErrPrivateAddress) {
			t.Errorf("%s: %v", u, err)
		}
	}
	if got, err := fetch(t, "http://10.0.0.1/", web.WithProxy("http://"+address)); err != nil || text(t, got) != "through the proxy" {
		t.Errorf("with private networks: %q, %v", got, err)
	}
	for _, p := range []string{"127.0.0.1:3128", "ftp://h", "http://", "http://u:secret@h:x"} {
		if _, err := web.New(web.WithProxy(p)).Tool(); !errors.Is(err, web.ErrInvalidProxy) || strings.Contains(err.Error(), "secret") {
			t.Errorf("proxy %q: %v", p, err)
		}
	}
}

// file-tool-cases N12, N13: servers that do not keep to the protocol.
func TestBrokenServers(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
	tests := []struct {
		name, answer string
		want         string // of the text, or
		err          string
	}{
		{name: "length too long", answer: head + "Content-Length: 100\r\n\r\nshort", want: "short\n\n[cut here: the connection broke: it ended early]"},
		{name: "length too short", answer: head + "Content-Length: 3\r\n\r\nlonger", want: "lon"},
		{name: "negative length", answer: head + "Content-Length: -1\r\n\r\nx", err: "bad Content-Length"},
		{name: "no length", answer: head + "\r\nuntil the end", want: "until the end"},
		{name: "broken chunks", answer: head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n", want: "hello\n\n[cut here: the connection broke: invalid byte in chunk length]"},
		{name: "cut chunks", answer: head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nwo", want: "hellowo\n\n[cut here: the connection broke: it ended early]"},
		{name: "HTTP/0.9", answer: "just text\r\n", err: "malformed HTTP"},
		{name: "nothing", answer: "", err: "EOF"},
		{name: "long header line", answer: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", err: "header"},
		{name: "many headers", answer: "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 100_000) + "\r\n", err: "header"},
		{name: "many continues", answer: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 10_000) + head + "\r\nx", err: "header"},
		{name: "header with odd bytes", answer: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\x1b[31m\r\n\r\nx", err: "header"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					http.ReadRequest(bufio.NewReader(c))
					io.WriteString(c, tt.answer)
					c.Close()
				}
			}()
			t.Cleanup(func() { l.Close(); <-done })
			got, err := fetch(t, "http://"+l.Addr().String())
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%.200q, %v; want an error with %q", got, err, tt.err)
				}
				return
			}
			if err != nil || text(t, got) != tt.want {
				t.Errorf("%.200q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
