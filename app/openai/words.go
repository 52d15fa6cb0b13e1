package openai

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/phero-agent/agent/app"
)

// failed makes an error of what the server said.
func (c *Client) failed(res *http.Response, f failure) *app.ProviderError {
	v := classify(res.StatusCode, f)
	e := &app.ProviderError{
		Kind: v.kind, Host: c.base.Host, Status: res.StatusCode,
		Text: c.redact(f.text), Retryable: v.retry, RetryAfter: f.wait,
	}
	if res.StatusCode == http.StatusOK {
		e.Status = f.status
	}
	if e.Text == "" {
		e.Text = strings.TrimSpace(http.StatusText(e.Status) + f.code)
	}
	if wait := retryAfter(res.Header, time.Now()); wait > 0 {
		e.RetryAfter = wait
	}
	switch res.Header.Get("x-should-retry") {
	case "true":
		e.Retryable = true
	case "false":
		e.Retryable = false
	}
	if v.kind == app.ErrContextOverflow {
		if e.Window = f.window; e.Window == 0 {
			e.Window = windowIn(f.text)
		}
	}
	e.Next = c.next(e)
	return e
}

// refused makes an error of a response that is no success.
func (c *Client) refused(res *http.Response, body []byte) *app.ProviderError {
	f := readFailure(body)
	status := fmt.Sprintf("%d %s", res.StatusCode, http.StatusText(res.StatusCode))
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		f.text = "it redirects to " + clip(res.Header.Get("Location")) + ", where neither the key nor the conversation is sent"
	case f.page && res.StatusCode >= 500:
		f.text = status
	case f.page:
		f.text = fmt.Sprintf("the answer is a web page (%q), not that of an API", f.text)
	case f.text == "":
		f.text = status
	}
	return c.failed(res, f)
}

// broken makes an error of a reply that did not come to its end. A nil err stays nil.
func (c *Client) broken(ctx context.Context, res *http.Response, err error) error {
	var inside failedEvent
	switch {
	case err == nil:
		return nil
	case errors.As(err, &inside):
		if inside.page {
			inside.text = fmt.Sprintf("the answer is a web page (%q), not that of an API", inside.text)
		}
		return c.failed(res, inside.failure)
	case errors.Is(err, errNoReply):
		e := &app.ProviderError{Kind: app.ErrNotAnAPI, Host: c.base.Host, Err: err}
		e.Next = c.next(e)
		return e
	case context.Cause(ctx) == errIdle:
		err = c.idle()
	}
	return &app.ProviderError{
		Kind: app.ErrTruncated, Host: c.base.Host, Err: err, Retryable: true,
		Text: c.cutText(err), Next: "send the message again",
	}
}

func (c *Client) cutText(err error) string {
	if errors.Is(err, errCut) || errors.Is(err, errGarbled) || errors.Is(err, errIdle) {
		return err.Error()
	}
	return fmt.Sprintf("%v (%v)", errCut, err)
}

func (c *Client) idle() error { return fmt.Errorf("%w (%v)", errIdle, c.cfg.IdleTimeout) }

func (c *Client) filtered() *app.ProviderError {
	return &app.ProviderError{
		Kind: app.ErrContentFilter, Host: c.base.Host,
		Text: "the server's content filter ended the reply", Next: "say it in other words",
	}
}

// unreachable makes an error of a request that got no answer.
func (c *Client) unreachable(ctx context.Context, err error) error {
	e := &app.ProviderError{Kind: app.ErrUnreachable, Host: c.base.Host, Err: err, Retryable: true}
	if context.Cause(ctx) == errIdle {
		e.Err = c.idle()
		e.Text, e.Next = e.Err.Error(), "see whether the server is well, or try again later"
		return e
	}
	var dns *net.DNSError
	var authority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	switch {
	case errors.As(err, &dns):
		e.Text, e.Next = "its name "+dns.Name+" cannot be looked up", "check the base URL and the network"
		e.Retryable = !dns.IsNotFound
	case errors.Is(err, syscall.ECONNREFUSED) && isLoopback(c.base.Hostname()):
		e.Text, e.Next = "nothing listens there", "start the server, or set another base URL"
		e.Retryable = false
	case errors.As(err, &authority), errors.As(err, &hostname):
		e.Text, e.Next = "its certificate is not trusted", "if a proxy inspects the traffic, name its certificate in SSL_CERT_FILE"
		e.Retryable = false
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		e.Text, e.Next = "it speaks http, not https", "write the base URL with http://"
		e.Retryable = false
	default:
		e.Text, e.Next = "no answer ("+c.redact(rootCause(err))+")", "check the network and the base URL"
	}
	if proxy := c.proxyOf(c.base); proxy != nil {
		e.Next += "; requests go through the proxy " + proxy.Host
	}
	return e
}

// rootCause is the innermost error in words, without the URL that net/http puts before it.
func rootCause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			return op.Error()
		}
		err = inner
	}
}

// next is what the person can do about an error.
func (c *Client) next(e *app.ProviderError) string {
	words := strings.ToLower(e.Text)
	switch e.Kind {
	case app.ErrAuth:
		return c.nextAuth(e, words)
	case app.ErrQuota:
		return "check the plan and the credit of the account, or choose another model"
	case app.ErrRateLimit:
		return nextRate(e)
	case app.ErrContextOverflow:
		return "shorten the conversation with /compact"
	case app.ErrToolsUnsupported:
		return nextTools(words)
	case app.ErrContentFilter:
		return "say it in other words"
	case app.ErrNotAnAPI:
		return "check the base URL; it usually ends in /v1"
	case app.ErrOverloaded, app.ErrServer, app.ErrToolUseFailed:
		return "try again later, or choose another model"
	case app.ErrInvalidRequest:
		return c.nextInvalid(words)
	}
	return nextOther
}

// nextOther is left where the server's words are all that is known.
const nextOther = "another model may take the request (/model)"

func (c *Client) nextAuth(e *app.ProviderError, words string) string {
	switch {
	case e.Status == http.StatusProxyAuthRequired:
		return "put the proxy's user and password into HTTPS_PROXY"
	case c.cfg.APIKey == "":
		return "set " + keyName(c.cfg)
	case e.Status == http.StatusForbidden && !has(words, "key"):
		return "see whether the account may use this model, or set another key in " + keyName(c.cfg)
	}
	return "set a valid key in " + keyName(c.cfg)
}

func nextRate(e *app.ProviderError) string {
	switch {
	case !e.Retryable:
		return "shorten the conversation with /compact, or raise the limit of the account"
	case e.RetryAfter > 0:
		return "try again in " + e.RetryAfter.Round(time.Second).String()
	}
	return "try again later"
}

func nextTools(words string) string {
	switch {
	case has(words, "--jinja"):
		return "start llama-server with --jinja"
	case has(words, "--enable-auto-tool-choice"):
		return "start vLLM with --enable-auto-tool-choice and --tool-call-parser"
	}
	return "choose a model that can call tools"
}

func (c *Client) nextInvalid(words string) string {
	if !has(words, "model") || !has(words, "not found", "does not exist", "not exist", "no such model", "unknown model", "not a valid model", "invalid model") {
		return nextOther
	}
	if has(words, "pulling") {
		return "ollama pull " + c.cfg.Model
	}
	return "agent models lists what the server offers"
}

// keyName is what the place of the key is called.
func keyName(cfg Config) string {
	if cfg.KeyName == "" {
		return "the API key's variable"
	}
	return cfg.KeyName
}

// redact takes the key out of a text, should a server send it back.
func (c *Client) redact(s string) string {
	if len(c.cfg.APIKey) < 8 {
		return s
	}
	return strings.ReplaceAll(s, c.cfg.APIKey, "…")
}
