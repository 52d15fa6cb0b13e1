package app_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
)

// IMP-19, file-tool-cases N20: web_fetch is asked with the whole URL, and "always" offers the host.
func TestWebFetchIsAsked(t *testing.T) {
	r := newRig(t, "== one\n> web_fetch {\"url\":\"https://pkg.example/a?secret=1\"}\n== two\nDone.\n", nil)
	r.answer = no
	r.turn("go")
	q, _ := await[app.Asked](r, 0, nil)
	if q.Request.Tool != "web_fetch" || q.Request.Subject != "https://pkg.example/a?secret=1" {
		t.Errorf("%+v", q.Request)
	}
	wider := ""
	for _, o := range q.Offers {
		for _, w := range o.Wider {
			wider += w.Rule
		}
	}
	if wider != "web_fetch(https://pkg.example/*)" {
		t.Errorf("offers %+v", q.Offers)
	}
	if m := r.result(0); m.Status != session.StatusDenied {
		t.Errorf("%+v", m)
	}
}

// WEB-10, WEB-22: what is approved is still kept from this machine and its network;
// the settings name a proxy and the hosts.
func TestWebFetchGuards(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("secret")) }))
	defer page.Close()
	r := newRig(t, "== one\n> web_fetch {\"url\":\""+page.URL+"\"}\n> web_fetch {\"url\":\"https://other.example/\"}\n== two\nDone.\n", nil, func(o *app.Options) {
		o.WebHosts = []string{"127.0.0.1"}
		o.Allow = []permissions.Rule{{Text: "web_fetch"}}
	})
	r.turn("go")
	if m := r.result(0); m.Status != session.StatusFailed || strings.Contains(m.Text, "secret") || !strings.Contains(m.Text, "127.0.0.1") {
		t.Errorf("%+v", m)
	}
	if m := r.result(1); m.Status != session.StatusFailed || !strings.Contains(m.Text, "not among the allowed") {
		t.Errorf("%+v", m)
	}
}
