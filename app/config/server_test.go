package config_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/app/config"
)

// Threats 11, 12 and 15: a server that a repository names counts after trust in
// exactly its definition, in each of the files that it can be in.
func TestServersOfProjectNeedTrust(t *testing.T) {
	for name, text := range map[string]string{
		project:          "[mcp.evil]\ncommand = \"./x\"\nargs = [\"a b\"]\nenv = {TOKEN = \"${HOME}\"}\nsandbox = false\n",
		local:            "mcp.evil = {command = \"./x\", args = [\"a b\"], env = {TOKEN = \"${HOME}\"}, sandbox = false}\n",
		"repo/.mcp.json": `{"mcpServers": {"evil": {"type": "stdio", "command": "./x", "args": ["a b"], "env": {"TOKEN": "${HOME}"}}}}`,
	} {
		p := newPlace(t)
		path := p.write(name, text)
		s := p.loaded(config.Flags{})
		if len(s.Servers) != 0 || len(s.Untrusted) != 1 {
			t.Fatalf("%s: %+v counts without trust", name, s.Servers)
		}
		effect := `starts the MCP server evil: ./x "a b" with TOKEN="${HOME}"`
		if !strings.HasSuffix(name, "json") {
			effect += ", outside of the sandbox with your rights"
		}
		if !slices.Equal(s.Untrusted[0].Effects, []string{effect}) {
			t.Errorf("%s: the person is told %q", name, s.Untrusted[0].Effects)
		}
		p.trust()
		s = p.loaded(config.Flags{})
		if len(s.Servers) != 1 || !s.Servers[0].Project || s.Servers[0].Command != "./x" || !strings.HasPrefix(s.Servers[0].Source, path) {
			t.Errorf("%s: accepted, and %+v", name, s.Servers)
		}
		p.write(name, strings.Replace(text, "./x", "./y", 1))
		if s = p.loaded(config.Flags{}); len(s.Servers) != 0 || len(s.Untrusted) != 1 {
			t.Errorf("%s: the changed %+v counts", name, s.Servers)
		}
	}
}

// A later file replaces a server as a whole: no header of the person's goes to an
// address of the project's.
func TestServersAreReplacedWhole(t *testing.T) {
	p := newPlace(t)
	p.write(mine, "[mcp.a]\nurl = \"https://mine.example\"\nheaders = {Authorization = \"secret\", X = \"${X}\"}\ntimeout = \"5s\"\n[mcp.b]\ncommand = \"b\"\n")
	s := p.loaded(config.Flags{})
	if len(s.Servers) != 2 || s.Servers[0].Name != "a" || s.Servers[0].CallTimeout() != 5*time.Second || s.Servers[1].CallTimeout() != 2*time.Minute {
		t.Fatalf("%+v", s.Servers)
	}
	if !s.Servers[1].Sandboxed() || !s.Servers[1].On() || s.Servers[1].Source != p.home+"/"+mine+":5" {
		t.Errorf("%+v", s.Servers[1])
	}
	given := s.Given()
	if len(given) != 2 || given[0].Key != "mcp.a" || strings.Contains(given[0].Value, "secret") || !strings.Contains(given[0].Value, `"X" = "${X}"`) {
		t.Errorf("%+v", given)
	}
	p.write("repo/.mcp.json", `{"mcpServers": {"a": {"type": "http", "url": "https://project.example"}, "b": {"command": "json"}}}`)
	p.write(project, "[mcp.b]\ncommand = \"toml\"\n")
	p.trust()
	s = p.loaded(config.Flags{})
	if a := s.Servers[0]; a.URL != "https://project.example" || a.Headers != nil {
		t.Errorf("%+v", a)
	}
	if b := s.Servers[1]; b.Command != "toml" {
		t.Errorf("%+v", b)
	}
}

func TestServerFaults(t *testing.T) {
	for text, want := range map[string]string{
		"[mcp.a]\n": "config.toml:1: the server a needs a command or a url",
		"[mcp.a]\ncommand = \"x\"\nurl = \"http://x\"\n":       "give one of them",
		"[mcp.a]\nurl = \"file:///x\"\n":                       "must begin with http:// or https://",
		"[mcp.a]\nurl = \"http://x\"\nsandbox = true\n":        "for a command, not for a url",
		"[mcp.a_b]\ncommand = \"x\"\n":                         "letters, digits and -",
		"[mcp.a]\ncommand = \"x\"\ntimeout = \"0\"\n":          "must be above 0",
		"[mcp.a]\ncomand = \"x\"\n":                            `config.toml:2: there is no setting "mcp.a.comand"; did you mean mcp.a.command?`,
		"[mcp.a]\nargs = \"x\"\n":                              "config.toml:2: mcp.a.args: it must be a list of strings",
		"[mcp.a]\ncommand = \"x\"\nenv = {X = 1}\n":            "must be a table of strings",
		"[mcp.a]\ncommand = \"x\"\nclient_id = \"y\"\n":        "for a url, not for a command",
		"[mcp.a]\ncommand = \"x\"\nread = [\"y\"]\n":           `the path "y" in read of the server a must begin with /`,
		"[mcp.a]\nurl = \"http://x\"\nread = [\"/y\"]\n":       "for a command, not for a url",
		"[mcp.a]\nurl = \"http://x\"\nclient_secret = \"y\"\n": "but no client_id",
		"[mcp.a]\nurl = \"http://x\"\ncallback_port = 70000\n": "between 0 and 65535",
	} {
		p := newPlace(t)
		path := p.write(mine, text)
		if _, err := p.load(config.Flags{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", text, err, want)
		}
		if err := config.Check(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q, looked at alone: %v", text, err)
		}
	}
}

// A .mcp.json is another agent's: what cannot be used stops nothing, and what has a
// name that we do not have gets one.
func TestOtherAgentsServers(t *testing.T) {
	for text, want := range map[string][]string{
		"{":                 {".mcp.json does not count: unexpected EOF"},
		`{"mcpServers":[]}`: {".mcp.json does not count: json: cannot unmarshal array"},
		`{"mcpServers":{"a.b_c":{"command":"x","headers":{},"oauth":{}},"a-b-c":{"command":"y"},"old":{"type":"sse","url":"http://x"},"args":{"command":"x","args":"y"},"none":{}}}`: {
			`the server "a.b_c" does not count: another one is a-b-c here too`, `the server "args" does not count: json`, `the server "none" does not count: the server none needs`, `the server "old" does not count: it is of the older kind sse`,
		},
	} {
		p := newPlace(t)
		p.write("repo/.mcp.json", text)
		p.trust()
		s := p.loaded(config.Flags{})
		if len(s.Notices) != len(want) {
			t.Errorf("%s: %q", text, s.Notices)
			continue
		}
		for i := range want {
			if !strings.Contains(s.Notices[i], want[i]) {
				t.Errorf("%s: %q, not %q", text, s.Notices[i], want[i])
			}
		}
		if len(want) > 1 && (len(s.Servers) != 1 || s.Servers[0].Name != "a-b-c" || s.Servers[0].Command != "y") {
			t.Errorf("%+v", s.Servers)
		}
	}
}

// Who trusts a server sees what it reads and whose secrets it is told.
func TestEffectOfServer(t *testing.T) {
	for want, s := range map[string]config.Server{
		`starts the MCP server a: x, which reads /data`:                                             {Name: "a", Command: "x", Read: []string{"/data"}},
		`the MCP server a at http://x, where you sign in as the client "me" with the secret "${S}"`: {Name: "a", URL: "http://x", ClientID: "me", ClientSecret: "${S}"},
	} {
		if got := s.Effect(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if text := (config.Server{URL: "http://x", ClientID: "me", ClientSecret: "s3cret"}).Text(); strings.Contains(text, "s3cret") {
		t.Error(text)
	}
}

// What is added is read again as it was, and what is removed leaves the rest alone.
func TestAddAndRemoveServer(t *testing.T) {
	p := newPlace(t)
	no := false
	path := p.write(mine, "model = \"x\" # mine\n\n[mcp.one]\ncommand = \"1\"\n[mcp.one.env]\nA = \"b\"\n[ui]\nvim = true\n")
	added := config.Server{Name: "two", Command: "2", Args: []string{"a b", "\"q\""}, Env: map[string]string{"X-1": "${Y}"}, Sandbox: &no}
	if err := config.AddServer(path, added); err != nil {
		t.Fatal(err)
	}
	s := p.loaded(config.Flags{})
	if len(s.Servers) != 2 || s.Servers[1].Text() != added.Text() || s.Servers[1].Sandboxed() {
		t.Errorf("%+v", s.Servers)
	}
	if err := config.AddServer(path, added); err == nil || !strings.Contains(err.Error(), "already") {
		t.Error(err)
	}
	if found, err := config.RemoveServer(path, "one"); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	if s = p.loaded(config.Flags{}); len(s.Servers) != 1 || s.Servers[0].Name != "two" || s.Model != "x" || !s.UI.Vim {
		t.Errorf("%+v", s)
	}
	if found, err := config.RemoveServer(path, "one"); found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	inline := p.write("inline.toml", "mcp.a = {command = \"x\"}\n")
	if _, err := config.RemoveServer(inline, "a"); err == nil || !strings.Contains(err.Error(), "inline.toml:1") {
		t.Error(err)
	}
	if err := config.AddServer(path, config.Server{Name: "bad name", Command: "x"}); err == nil {
		t.Error("a bad name was taken")
	}
}
