package openai

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// httpClient is given, or one with the proxy of the environment. A stream has no
// overall timeout. Redirects are followed on the same server only, and only
// where the body goes along: neither key nor conversation reaches another host.
func httpClient(given *http.Client) *http.Client {
	client := &http.Client{}
	if given != nil {
		*client = *given
	}
	client.Timeout = 0
	if client.Transport == nil {
		client.Transport = NewTransport()
	}
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		first := via[0]
		same := r.URL.Scheme == first.URL.Scheme && r.URL.Host == first.URL.Host && r.Method == first.Method
		if !same || len(via) > 3 {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return client
}

// NewTransport makes the transport for all requests but those of web_fetch. It
// goes through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name now, where
// these do not through that of ALL_PROXY, and trusts the certificates of SSL_CERT_FILE, as Go does by itself.
func NewTransport() *http.Transport {
	proxies := httpproxy.FromEnvironment()
	all := cmp.Or(os.Getenv("ALL_PROXY"), os.Getenv("all_proxy"))
	proxies.HTTPSProxy, proxies.HTTPProxy = cmp.Or(proxies.HTTPSProxy, all), cmp.Or(proxies.HTTPProxy, all)
	proxy := proxies.ProxyFunc()
	return &http.Transport{
		Proxy:                 func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		DialContext:           (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   15 * time.Second,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true, // gateways that compress a stream hold it back
	}
}

// dress puts our headers and the base URL's query on a request, and takes off
// what openai-go adds about the machine.
func (c *Client) dress(r *http.Request) {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			r.Header.Del(name)
		}
	}
	r.Header.Set("User-Agent", c.cfg.UserAgent)
	r.Header.Set("Accept", "text/event-stream, application/json")
	c.authorize(r)
	if q := c.base.RawQuery; q != "" {
		r.URL.RawQuery = q
	}
}

func (c *Client) authorize(r *http.Request) {
	key := c.cfg.APIKey
	switch {
	case key == "":
		return
	case c.cfg.Azure:
		r.Header.Set("Api-Key", key)
	default:
		r.Header.Set("Authorization", "Bearer "+key)
	}
}

// isLoopback tells whether a host is this machine.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// proxyOf is the proxy that a request to u goes through, nil where there is none.
func (c *Client) proxyOf(u *url.URL) *url.URL {
	t, ok := c.http.Transport.(*http.Transport)
	if !ok || t.Proxy == nil {
		return nil
	}
	proxy, err := t.Proxy(&http.Request{URL: u})
	if err != nil {
		return nil
	}
	return proxy
}

// errIdle is the cause of a context that ended because the server was silent.
var errIdle = errors.New("the server sent nothing for too long")

// watch ends a request when nothing comes for too long.
type watch struct {
	timer  *time.Timer
	limit  time.Duration
	short  bool // bytes no longer prolong it
	cancel context.CancelCauseFunc
}

func newWatch(limit time.Duration, cancel context.CancelCauseFunc) *watch {
	w := &watch{limit: limit, cancel: cancel}
	w.timer = time.AfterFunc(limit, func() { cancel(errIdle) })
	return w
}

// shorten sets what remains to wait for, whatever comes: the reply is complete.
func (w *watch) shorten(limit time.Duration) {
	w.limit = min(w.limit, limit)
	w.short = true
	w.timer.Reset(w.limit)
}

func (w *watch) stop() { w.timer.Stop() }

// reader tells the watch of every byte that comes through it.
func (w *watch) reader(r io.Reader) io.Reader { return watchedReader{r, w} }

type watchedReader struct {
	in io.Reader
	w  *watch
}

func (r watchedReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if n > 0 && !r.w.short {
		r.w.timer.Reset(r.w.limit)
	}
	return n, err
}

// sleep waits, or returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
