// Package script plays a model from a text, for tests and for the demo. Where a
// script goes depends on what really happened to its calls, so everything but
// the thinking is the real thing.
//
// A script is a list of replies. A reply begins with a line "== label"; then:
//
//	any line                text of the reply, Markdown
//	> tool {"json":"…"}     a call; lines that begin with a blank go on with it
//	? denied -> label       where to go when one of the calls was denied
//	? failed -> label       … failed, a command with another exit code than 0 included
//	? interrupted -> label  … was interrupted
//	-> label                where to go else; without it, to the next reply
//	! status text           the server fails with this HTTP status instead
//	@ text                  a conversation that begins with the text, as a sub-agent's does, begins here
//	~ hang                  nothing more comes until the request is cancelled
//	# …                     a comment
//
// After a reply without calls the person's next prompt gets the next reply.
package script

import (
	"bufio"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
)

// Script is a parsed script.
type Script struct {
	replies []reply
	labels  map[string]int
}

type reply struct {
	label    string
	text     string
	calls    []tools.ToolCall
	branches []branch
	next     string // "" is the reply that follows
	status   int    // of an HTTP error
	problem  string
	hang     bool
	begins   string // the first message of the conversation that begins here
}

type branch struct {
	status session.Status
	to     string
}

// Parse reads a script. Its errors name the line.
func Parse(text string) (*Script, error) {
	s := &Script{labels: map[string]int{}}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if label, ok := strings.CutPrefix(line, "=="); ok {
			label = strings.TrimSpace(label)
			if _, twice := s.labels[label]; twice {
				return nil, fmt.Errorf("line %d: there are two replies %q", n, label)
			}
			s.labels[label] = len(s.replies)
			s.replies = append(s.replies, reply{label: label})
			continue
		}
		if len(s.replies) == 0 {
			if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
				continue
			}
			return nil, fmt.Errorf("line %d: a script begins with a line \"== label\"", n)
		}
		if err := s.replies[len(s.replies)-1].add(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return s, s.check()
}

// add takes one line of a reply.
func (r *reply) add(line string) error {
	kind, rest, _ := strings.Cut(line, " ")
	switch {
	case strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "##"):
	case kind == ">":
		name, arguments, _ := strings.Cut(rest, " ")
		r.calls = append(r.calls, tools.ToolCall{Name: name, Arguments: arguments})
	case kind == "" && line != "" && len(r.calls) > 0:
		r.calls[len(r.calls)-1].Arguments += "\n" + line
	case kind == "?":
		status, to, ok := strings.Cut(rest, " -> ")
		if !ok {
			return fmt.Errorf("%q is not \"? status -> label\"", line)
		}
		r.branches = append(r.branches, branch{session.Status(status), to})
	case kind == "->":
		r.next = rest
	case kind == "!":
		status, problem, _ := strings.Cut(rest, " ")
		var err error
		if r.status, err = strconv.Atoi(status); err != nil {
			return fmt.Errorf("%q is not \"! status text\"", line)
		}
		r.problem = problem
	case kind == "@":
		r.begins = rest
	case line == "~ hang":
		r.hang = true
	case len(r.calls) == 0:
		r.text += line + "\n"
	case line != "":
		return fmt.Errorf("text after a call: %q", line)
	}
	return nil
}

// check finds labels that lead nowhere and arguments that are not JSON.
func (s *Script) check() error {
	if len(s.replies) == 0 {
		return fmt.Errorf("the script has no reply")
	}
	for i := range s.replies {
		r := &s.replies[i]
		r.text = strings.TrimSpace(r.text)
		for _, b := range append(r.branches, branch{to: r.next}) {
			if _, ok := s.labels[b.to]; !ok && b.to != "" {
				return fmt.Errorf("reply %q goes to %q, which is not there", r.label, b.to)
			}
		}
		for _, c := range r.calls {
			if !json.Valid([]byte(c.Arguments)) {
				return fmt.Errorf("reply %q: the arguments of %s are not JSON: %s", r.label, c.Name, c.Arguments)
			}
		}
	}
	return nil
}

// place finds which reply comes next, from what was said so far: each reply that
// stands in the history moves the script on, by the ends of its calls. -1 is the
// end of the script.
func (s *Script) place(messages []session.Message) int {
	at := s.start(messages)
	for i, m := range messages {
		if m.Role != session.RoleAssistant || at < 0 {
			continue
		}
		at = s.after(at, results(messages[i+1:]))
	}
	return at
}

// start is the reply that a conversation begins with.
func (s *Script) start(messages []session.Message) int {
	first := slices.IndexFunc(messages, func(m session.Message) bool { return m.Role == session.RoleUser })
	for i, r := range s.replies {
		if r.begins != "" && first >= 0 && strings.HasPrefix(messages[first].Text, r.begins) {
			return i
		}
	}
	return 0
}

func (s *Script) after(at int, ends []session.Message) int {
	r := s.replies[at]
	for _, b := range r.branches {
		for _, m := range ends {
			if m.Status == b.status || b.status == session.StatusFailed && exitedBadly(m) {
				return s.labels[b.to]
			}
		}
	}
	switch {
	case r.next != "":
		return s.labels[r.next]
	case at+1 < len(s.replies):
		return at + 1
	}
	return -1
}

// results are the results that follow a reply.
func results(messages []session.Message) []session.Message {
	for i, m := range messages {
		if m.Role != session.RoleTool {
			return messages[:i]
		}
	}
	return messages
}

var exitCode = regexp.MustCompile(`"exit_code":(-?[1-9])`)

func exitedBadly(m session.Message) bool {
	return m.Status == session.StatusOK && exitCode.MatchString(m.Text)
}
