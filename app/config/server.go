package config

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
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
	Timeout  *Duration         `toml:"timeout" default:"2m" doc:"how long a call may go without a sign of progress"`
	Enabled  *bool             `toml:"enabled" default:"true" doc:"the server is used"`

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

// serverSettings are the settings within a server's table.
func serverSettings() []setting { return settingsOf(reflect.TypeFor[Server](), "", nil) }

const serversKey = "mcp"

// CheckServerName says what is wrong with the name of a server: it becomes a part
// of the names of tools and rules.
func CheckServerName(name string) error {
	if name == "" || len(name) > 32 || strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-')
	}) {
		return fmt.Errorf("the name %q of a server must be 1 to 32 letters, digits and -", name)
	}
	return nil
}

// Check says what is wrong with a server.
func (s Server) Check() error {
	if err := CheckServerName(s.Name); err != nil {
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
		return nil
	}
	if s.Args != nil || s.Env != nil || s.Sandbox != nil || s.Network != nil {
		return fmt.Errorf("args, env, sandbox and network of the server %s are for a command, not for a url", s.Name)
	}
	if u, err := url.Parse(s.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("the url of the server %s must begin with http:// or https:// and name a host", s.Name)
	}
	return nil
}

// Effect says in one line what starting the server does, for who must trust it.
func (s Server) Effect() string {
	var b strings.Builder
	if s.URL != "" {
		fmt.Fprintf(&b, "the MCP server %s at %s", s.Name, s.URL)
		writePairs(&b, " with the headers ", s.Headers)
	} else {
		fmt.Fprintf(&b, "starts the MCP server %s: %s", s.Name, strings.Join(append([]string{s.Command}, quoteAll(s.Args)...), " "))
		writePairs(&b, " with ", s.Env)
		switch {
		case !s.Sandboxed():
			b.WriteString(", outside of the sandbox with your rights")
		case s.Network != nil && *s.Network:
			b.WriteString(", in the sandbox with the network")
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

// Text is the server as a settings file says it, in one line. Values of env and
// headers that are no variables are secrets, and left out.
func (s Server) Text() string {
	v := reflect.ValueOf(s)
	var parts []string
	for _, f := range serverSettings() {
		if field := v.FieldByIndex(f.index); !field.IsZero() {
			if pairs, ok := field.Interface().(map[string]string); ok && f.key != "subjects" {
				field = reflect.ValueOf(masked(pairs))
			}
			parts = append(parts, f.key+" = "+tomlText(field))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func masked(pairs map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range pairs {
		if out[name] = value; !strings.Contains(value, "${") {
			out[name] = "…"
		}
	}
	return out
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
