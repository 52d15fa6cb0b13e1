package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
)

// CheckAddress is the guard's predicate.
var CheckAddress = checkAddress

// WithResolver looks names up with r.
func WithResolver(r *net.Resolver) Option { return func(f *Fetcher) { f.resolver = r } }

// WithTrusted dials one host:port without the guard, as a proxy is dialled: a
// server of a test that plays a public one.
func WithTrusted(address string) Option { return func(f *Fetcher) { f.trusted = address } }

// Trust makes a fetcher trust the certificates of a test's server.
func Trust(f *Fetcher, pool *x509.CertPool) {
	f.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: pool}
}

// Convert makes text of HTML.
func Convert(ctx context.Context, source, base string, need int) (string, bool, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", false, err
	}
	return convert(ctx, source, u, need)
}
