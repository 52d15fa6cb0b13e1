package mcp

import (
	"fmt"
	"strings"
	"time"

	"github.com/phero-agent/agent/tools/mcp"
)

// Status is how a server is, for the person.
type Status struct {
	Name, Source       string
	Where              string // its command line or address
	Project, Sandboxed bool
	State              State
	Why                string // it is not ready
	Next               time.Time
	Tools              []mcp.Definition
	LeftOut            []mcp.LeftOut
	Prompts            []Prompt
	Resources          []Resource
	Said               []string // its last lines
}

// Status tells how each server is.
func (s *Servers) Status() (list []Status) {
	for _, v := range s.list {
		v.mu.Lock()
		one := Status{
			Name: v.def.Name, Source: v.def.Source, Where: v.def.URL, Project: v.def.Project, Sandboxed: v.def.URL == "" && s.opts.Walled(v.def),
			State: v.state, Why: v.why, Tools: v.has.tools, LeftOut: v.has.out, Prompts: v.has.prompts, Resources: v.has.resources,
		}
		if v.state == Waiting {
			one.Next = v.next
		}
		v.mu.Unlock()
		if one.Where == "" {
			one.Where = strings.Join(append([]string{v.def.Command}, v.def.Args...), " ")
		}
		one.Said = v.said.all()
		list = append(list, one)
	}
	return list
}

// Line is the status in one line.
func (s Status) Line(now time.Time) string {
	words := string(s.State)
	switch s.State {
	case Ready:
		words += fmt.Sprintf(", %s", count(len(s.Tools), "tool"))
		if n := len(s.Prompts); n > 0 {
			words += ", " + count(n, "prompt")
		}
		if n := len(s.Resources); n > 0 {
			words += ", " + count(n, "resource")
		}
		if n := len(s.LeftOut); n > 0 {
			words += fmt.Sprintf(", %d left out", n)
		}
	case Waiting:
		words = fmt.Sprintf("failed, again in %v: %s", max(0, s.Next.Sub(now)).Round(time.Second), firstLine(s.Why))
	case SignIn:
		words = firstLine(s.Why)
	case Failed:
		words += ": " + firstLine(s.Why)
	}
	return s.Name + "  " + words
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Details are everything that is known of the server, in lines.
func (s Status) Details(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  %s\n  from %s", s.Line(now), s.Where, s.Source)
	if s.Project {
		b.WriteString(", which came with the repository")
	}
	if s.Sandboxed {
		b.WriteString("; in the sandbox")
	}
	if s.Why != "" {
		fmt.Fprintf(&b, "\n  %s", strings.ReplaceAll(s.Why, "\n", "\n  "))
	}
	for _, d := range s.Tools {
		fmt.Fprintf(&b, "\n  %s: %s", d.Name, firstLine(d.Description))
	}
	for i, o := range s.LeftOut {
		if i == 20 {
			fmt.Fprintf(&b, "\n  and %d more are left out", len(s.LeftOut)-i)
			break
		}
		fmt.Fprintf(&b, "\n  left out: %s: %v", o.Tool, o.Err)
	}
	for _, p := range s.Prompts {
		fmt.Fprintf(&b, "\n  prompt %s %s: %s", p.Name, p.Hint(), p.Description)
	}
	for i, r := range s.Resources {
		if i == 20 {
			fmt.Fprintf(&b, "\n  and %d more resources", len(s.Resources)-i)
			break
		}
		fmt.Fprintf(&b, "\n  resource @%s:%s", r.Server, r.URI)
	}
	if len(s.Said) > 0 {
		b.WriteString("\n  what it said last:")
	}
	for _, line := range s.Said[max(0, len(s.Said)-10):] {
		b.WriteString("\n    " + line)
	}
	return b.String()
}
