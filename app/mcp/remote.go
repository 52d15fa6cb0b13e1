package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"
)

// remote is the transport to a server at an address, with the token that the
// person signed in for.
func (v *server) remote(p *pace) (sdk.Transport, error) {
	client, err := v.httpClient(p)
	if err != nil {
		return nil, err
	}
	if v.authorized() {
		return v.streamable(client, headerOnly{}), nil
	}
	kept, err := v.keptToken()
	if err != nil {
		return nil, err
	}
	return v.streamable(client, kept), nil
}

func (v *server) streamable(client *http.Client, handler auth.OAuthHandler) sdk.Transport {
	return &sdk.StreamableClientTransport{Endpoint: v.def.URL, HTTPClient: client, OAuthHandler: handler, MaxEventSize: maxMessage}
}

// headerOnly is for a server that is told who the person is by a header of the
// settings.
type headerOnly struct{}

// TokenSource implements auth.OAuthHandler.
func (headerOnly) TokenSource(context.Context) (oauth2.TokenSource, error) { return nil, nil }

// Authorize implements auth.OAuthHandler.
func (headerOnly) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	resp.Body.Close()
	return hopelessError{fmt.Errorf("it refuses the header Authorization of the settings with %s", resp.Status)}
}

// httpClient sends the server's headers to the server's address and nowhere else.
func (v *server) httpClient(p *pace) (*http.Client, error) {
	headers, err := expandAll(v.def.Headers, v.all.opts.Getenv)
	if err != nil {
		return nil, hopelessError{err}
	}
	to, err := url.Parse(v.def.URL)
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Transport: &headed{next: plainTransport(), to: to, headers: headers, pace: p},
		CheckRedirect: func(req *http.Request, _ []*http.Request) error {
			if !sameHost(req.URL, to) {
				return fmt.Errorf("it redirects to %s, which is another server: write that address into the settings if it is right", req.URL.Host)
			}
			return nil
		},
	}, nil
}

// plainTransport is Go's own with limits: it follows the proxy of the environment.
func plainTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxResponseHeaderBytes = 1 << 20
	t.TLSHandshakeTimeout = 10 * time.Second
	return t
}

func sameHost(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// headed adds headers, and bounds what comes back.
type headed struct {
	next    http.RoundTripper
	to      *url.URL
	headers map[string]string
	pace    *pace
}

// RoundTrip implements http.RoundTripper.
func (h *headed) RoundTrip(req *http.Request) (*http.Response, error) {
	if sameHost(req.URL, h.to) {
		req = req.Clone(req.Context())
		for name, value := range h.headers {
			req.Header.Set(name, value)
		}
	}
	resp, err := h.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = paced{resp.Body, h.pace}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxMessage}
	}
	return resp, nil
}

var errTooLarge = errors.New("the server's answer is too large")

// boundedBody is a body of which only so much is read.
type boundedBody struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// remoteError is what ended a connection to an address, without the steps that led
// to it.
func remoteError(err error) error {
	var signIn *signInError
	var hopeless hopelessError
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return errors.New("the connection ended")
	case errors.As(err, &signIn):
		return signIn
	case errors.As(err, &hopeless):
		return hopeless
	}
	text := err.Error()
	for _, step := range []string{`calling "`, `sending "`} {
		if after, ok := strings.CutPrefix(text, step); ok {
			_, text, _ = strings.Cut(after, `": `)
		}
		text = strings.TrimPrefix(text, "rejected by transport: ")
	}
	switch text {
	case http.StatusText(http.StatusNotFound), http.StatusText(http.StatusMethodNotAllowed):
		text += ": is it the address for streamable HTTP? Servers of the older kind, sse, are not spoken to"
	}
	return errors.New(text)
}
