package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	maxRedirects   = 10
	maxHeaderBytes = 64 << 10
	maxStatusBody  = 1000 // characters of an error's text
)

// page is an answer.
type page struct {
	url         *url.URL // after redirects
	contentType string
	body        []byte
	capped      bool  // there is more of it
	broken      error // why it ended early
}

// newClient makes a client without cookies, without the proxies of the
// environment and without connections that outlive a fetch.
func (f *Fetcher) newClient() (*http.Client, error) {
	t := &http.Transport{
		DialContext:            f.dial,
		DisableKeepAlives:      true,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	if f.proxy != "" {
		proxy, err := url.Parse(f.proxy)
		if err != nil || proxy.Hostname() == "" {
			return nil, ErrInvalidProxy // not the URL: it can hold a password
		}
		port, known := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[proxy.Scheme]
		if !known {
			return nil, ErrInvalidProxy
		}
		t.Proxy = http.ProxyURL(proxy)
		f.trusted = net.JoinHostPort(proxy.Hostname(), cmp.Or(proxy.Port(), port))
	}
	return &http.Client{Transport: t, CheckRedirect: f.redirect}, nil
}

func (f *Fetcher) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Resolver: f.resolver}
	if !f.private && address != f.trusted {
		d.Control = guard
	}
	return d.DialContext(ctx, network, address)
}

// lookUp checks the addresses of a host that a proxy will connect to. A name
// that only the proxy can look up is left to it.
func (f *Fetcher) lookUp(ctx context.Context, host string) error {
	if f.proxy == "" || f.private {
		return nil
	}
	addresses, err := f.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return ctx.Err()
	}
	for _, a := range addresses {
		if err := checkAddress(a); err != nil {
			return err
		}
	}
	return nil
}

// redirect checks each hop as it checks the first URL (WEB-17, WEB-20, WEB-21).
func (f *Fetcher) redirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return ErrTooManyRedirects
	}
	if err := f.checkTarget(req.URL); err != nil {
		return fmt.Errorf("it redirects to where it must not: %w", err)
	}
	if err := f.lookUp(req.Context(), req.URL.Hostname()); err != nil {
		return err
	}
	if f.checkRedirect != nil && req.URL.Hostname() != via[0].URL.Hostname() {
		if err := f.checkRedirect(req.Context(), req.URL.String()); err != nil {
			return fmt.Errorf("it redirects to %s: %w", clip(showURL(req.URL), maxURL), err)
		}
	}
	req.Header.Del("Referer") // it would tell the next host the whole URL
	return nil
}

// get fetches a page.
func (f *Fetcher) get(ctx context.Context, u *url.URL) (*page, error) {
	if err := f.lookUp(ctx, u.Hostname()); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "Mozilla/5.0 (compatible; phero-agent)")
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5")
	req.Header.Set("Accept-Language", "en, *;q=0.5")
	// The transport goes on connecting for a request that ended, to use the
	// connection for another; this ends that.
	defer f.client.CloseIdleConnections()
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	p := &page{url: resp.Request.URL, contentType: resp.Header.Get("Content-Type")}
	coding := resp.Header.Get("Content-Encoding") // the transport takes away the one that it asked for
	readable := coding == "" || strings.EqualFold(coding, "identity")
	if resp.StatusCode >= 300 {
		status := &StatusError{Code: resp.StatusCode}
		if readable && p.read(ctx, resp.Body, f.maxBytes) == nil {
			status.Body, _, _ = p.text(ctx, 0, maxStatusBody) // "" when it is binary
		}
		return nil, status
	}
	if !readable {
		return nil, fmt.Errorf("%w: %s", ErrUnsupportedCoding, clip(coding, 50))
	}
	if err := p.read(ctx, resp.Body, f.maxBytes); err != nil {
		return nil, err
	}
	return p, nil
}

// read reads at most limit bytes of the decoded body. A body that breaks off
// is kept; one that does not begin, or comes too slowly, is an error.
func (p *page) read(ctx context.Context, body io.Reader, limit int64) error {
	if limit > 0 {
		body = io.LimitReader(body, limit+1)
	}
	var err error
	p.body, err = io.ReadAll(body)
	if limit > 0 && int64(len(p.body)) > limit {
		p.body, p.capped = p.body[:limit], true
		return nil
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case len(p.body) == 0:
		return fmt.Errorf("the answer cannot be read: %w", err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it ended early")
	}
	p.broken = err
	return nil
}
