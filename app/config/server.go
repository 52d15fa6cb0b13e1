package config

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Server is a server of the Model Context Protocol, as the table [mcp.<name>] says
// it. A later file replaces all of an earlier one's server of the same name: nothing
// of one, such as a header, goes to the address of another.
type Server struct {
	Command  string            `toml:"command" doc:"the program of the server; it speaks on its standard input and output"`
	Args     []string          `toml:"args" doc:"the arguments of the program"`
	Env      map[string]string `toml:"env" doc:"variables for the program beside PATH, HOME and their like; \"${NAME}\" is a variable of your own environment"`
	URL      string            `toml:"url" doc:"the address of a server that is reached by HTTP, instead of command"`
	Headers  map[string]string `toml:"headers" doc:"headers of each request to the address; \"${NAME}\" as in env"`
	Tools    []string          `toml:"tools" doc:"the names of the tools that count, \"*\" for any text in them; without any, all"`
	Subjects map[string]string `toml:"subjects" doc:"which argument of a tool its rules match, as {fetch = \"url\"}"`
	Sandbox  *bool             `toml:"sandbox" default:"true" doc:"the program runs in the sandbox of commands; false gives it your rights"`
	Network  *bool             `toml:"network" default:"false" doc:"in the sandbox the program has the network"`
	Read     []string          `toml:"read" doc:"files and directories that the program sees in the sandbox beside the workspace, as whole paths"`
	Timeout  *Duration         `toml:"timeout" default:"2m" doc:"how long a call may go without a sign of progress"`
	Enabled  *bool             `toml:"enabled" default:"true" doc:"the server is used"`

	ClientID     string `toml:"client_id" doc:"who signs in at the url, where its sign-in server registers nobody by itself: the client that you registered there, or the https address of a client's metadata document"`
	ClientSecret string `toml:"client_secret" doc:"the secret of the client, if it has one; \"${NAME}\" as in env"`
	CallbackPort *int   `toml:"callback_port" default:"0" doc:"the browser comes back to http://127.0.0.1:<port>/callback; 0: any port that is free"`

	Name    string `toml:"-"`
	Source  string `toml:"-"` // where it is said, as a file and line
	Project bool   `toml:"-"` // it came with the repository
}

// Sandboxed tells whether the program runs in the sandbox.
func (s Server) Sandboxed() bool { return s.Sandbox == nil || *s.Sandbox }

// On tells whether the server is used.
func (s Server) On() bool { return s.Enabled == nil || *s.Enabled }

// CallTimeout is how long a call may go without a sign of progress.
func (s Server) CallTimeout() time.Duration {
	if s.Timeout != nil {
		return time.Duration(*s.Timeout)
	}
	timeout, _ := find(serversKey + ".x.timeout")
	return time.Duration(*timeout.parse(timeout.tag.Get("default")).Interface().(*Duration))
}

// Port is where the browser comes back to at signing in; 0: any.
func (s Server) Port() int {
	if s.CallbackPort == nil {
		return 0
	}
	return *s.CallbackPort
}

// serverSettings are the settings within a server's table.
func serverSettings() []setting { return settingsOf(reflect.TypeFor[Server](), "", nil) }

const serversKey = "mcp"

// checkServerName says what is wrong with the name of a server: it becomes a part
// of the names of tools and rules.
func checkServerName(name string) error {
	if name == "" || len(name) > maxServerName || strings.ContainsFunc(name, func(r rune) bool { return !inServerName(r) }) {
		return fmt.Errorf("the name %q of a server must be 1 to %d letters, digits and -", name, maxServerName)
	}
	return nil
}

const maxServerName = 32

func inServerName(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-'
}

// Check says what is wrong with a server.
func (s Server) Check() error {
	if err := checkServerName(s.Name); err != nil {
		return err
	}
	switch {
	case s.Command == "" && s.URL == "":
		return fmt.Errorf("the server %s needs a command or a url", s.Name)
	case s.Command != "" && s.URL != "":
		return fmt.Errorf("the server %s has a command and a url: give one of them", s.Name)
	case s.CallTimeout() <= 0:
		return fmt.Errorf("the timeout of the server %s must be above 0", s.Name)
	case s.URL == "":
		return s.checkCommand()
	case s.ClientSecret != "" && s.ClientID == "":
		return fmt.Errorf("the server %s has a client_secret, but no client_id", s.Name)
	case s.Port() < 0 || s.Port() > 65535:
		return fmt.Errorf("the callback_port of the server %s must be between 0 and 65535", s.Name)
	}
	if len(s.Args)+len(s.Env)+len(s.Read) > 0 || s.Sandbox != nil || s.Network != nil {
		return fmt.Errorf("args, env, sandbox, network and read of the server %s are for a command, not for a url", s.Name)
	}
	if u, err := url.Parse(s.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("the url of the server %s must begin with http:// or https:// and name a host", s.Name)
	}
	return nil
}

func (s Server) checkCommand() error {
	if len(s.Headers) > 0 || s.ClientID != "" || s.ClientSecret != "" || s.CallbackPort != nil {
		return fmt.Errorf("headers, client_id, client_secret and callback_port of the server %s are for a url, not for a command", s.Name)
	}
	if i := slices.IndexFunc(s.Read, func(path string) bool { return !filepath.IsAbs(path) }); i >= 0 {
		return fmt.Errorf("the path %q in read of the server %s must begin with /", s.Read[i], s.Name)
	}
	return nil
}

// Effect says in one line what starting the server does, for who must trust it.
func (s Server) Effect() string {
	var b strings.Builder
	if s.URL != "" {
		fmt.Fprintf(&b, "the MCP server %s at %s", s.Name, s.URL)
		writePairs(&b, " with the headers ", s.Headers)
		if s.ClientID != "" {
			fmt.Fprintf(&b, ", where you sign in as the client %q", s.ClientID)
		}
		if s.ClientSecret != "" {
			fmt.Fprintf(&b, " with the secret %q", s.ClientSecret)
		}
	} else {
		fmt.Fprintf(&b, "starts the MCP server %s: %s", s.Name, strings.Join(append([]string{s.Command}, quoteAll(s.Args)...), " "))
		writePairs(&b, " with ", s.Env)
		switch {
		case !s.Sandboxed():
			b.WriteString(", outside of the sandbox with your rights")
		case s.Network != nil && *s.Network:
			b.WriteString(", in the sandbox with the network")
		}
		if s.Read != nil {
			fmt.Fprintf(&b, ", which reads %s", strings.Join(quoteAll(s.Read), ", "))
		}
	}
	return b.String()
}

func quoteAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		if out[i] = s; s == "" || strings.ContainsAny(s, " \t\n\"'") {
			out[i] = fmt.Sprintf("%q", s)
		}
	}
	return out
}

func writePairs(b *strings.Builder, lead string, pairs map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		fmt.Fprintf(b, "%s%s=%q", lead, name, pairs[name])
		lead = ", "
	}
}

// Text is the server as a settings file says it, in one line. Values of env,
// headers and client_secret that are no variables are secrets, and left out.
func (s Server) Text() string {
	v := reflect.ValueOf(s)
	var parts []string
	for _, f := range serverSettings() {
		if field := v.FieldByIndex(f.index); !field.IsZero() {
			switch v := field.Interface().(type) {
			case map[string]string:
				if f.key != "subjects" {
					field = reflect.ValueOf(masked(v))
				}
			case string:
				if f.key == "client_secret" {
					field = reflect.ValueOf(mask(v))
				}
			}
			parts = append(parts, f.key+" = "+tomlText(field))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func masked(pairs map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range pairs {
		out[name] = mask(value)
	}
	return out
}

func mask(value string) string {
	if strings.Contains(value, "${") {
		return value
	}
	return "…"
}

// servers are the servers of all layers by their names' order, each checked.
func (m *merged) servers() ([]Server, error) {
	var list []Server
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(m.file.MCP)) {
		s := m.file.MCP[name]
		if err := s.Check(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Source, err))
		}
		list = append(list, s)
	}
	return list, errors.Join(errs...)
}

// takeServers puts a layer's servers over those of the layers before it.
func (m *merged) takeServers(l *layer) {
	for name, s := range l.file.MCP {
		s.Name, s.Source, s.Project = name, l.serverSource(name), l.project
		if m.file.MCP == nil {
			m.file.MCP = map[string]Server{}
		}
		m.file.MCP[name] = s
		m.from[serversKey+"."+name] = []string{s.Source}
	}
}

// serverSource is where a file says a server: at its table, or its first setting.
func (l *layer) serverSource(name string) string {
	key, first := serversKey+"."+name, 0
	for k, line := range l.lines {
		if (k == key || strings.HasPrefix(k, key+".")) && (first == 0 || line < first) {
			first = line
		}
	}
	if first == 0 {
		return l.name
	}
	return fmt.Sprintf("%s:%d", l.name, first)
}
