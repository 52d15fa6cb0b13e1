package permissions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// subjectArguments are the arguments that say what a call of a built-in tool
// touches (PERM-14). Tools without one are matched only by rules without a pattern.
func subjectArguments() map[string]string {
	return map[string]string{
		"bash": "command", "bash_output": "bash_id", "kill_shell": "shell_id",
		"read": "file_path", "write": "file_path", "edit": "file_path", "multi_edit": "file_path",
		"glob": "path", "grep": "path",
		"web_fetch": "url", "skill": "command", "agent": "name",
	}
}

// isPath tells whether a subject argument is a file path (PERM-17).
func isPath(argument string) bool { return argument == "file_path" || argument == "path" }

// call is what one tool call touches.
type call struct {
	tool       string
	arguments  string
	raw        string // the subject argument as written
	subject    string // the same for a person: the whole line, the resolved path
	known      bool   // the tool has a known subject
	parts      []part // each is decided on its own
	line       line   // bash only
	refused    error  // the arguments cannot be understood
	unresolved error  // the path cannot be resolved

	paths *paths // path subjects only

	everything string               // all that strict rules match, for possible
	filtered   map[*ruleSet][]*rule // what possible found
}

// part is one thing that is decided: a simple command, a path, an argument.
type part struct {
	text    string          // what an always answer stores
	allow   []string        // allow rules match these …
	assigns []string        // … behind these assignments
	strict  []string        // deny and ask rules match these
	vectors [][]string      // and, unwrapped, these words
	command func() *Command // of a bash line; nil, or nil from it, where there is none to judge
}

// newCall finds what a call touches.
func (s *state) newCall(tool, arguments string) *call {
	c := &call{tool: tool, arguments: arguments}
	argument, known := s.subjects[tool]
	c.known = known
	if !known && strings.TrimSpace(arguments) == "" {
		arguments = "{}" // tools without arguments are called with none
	}
	c.raw, c.refused = subjectOf(arguments, argument, known)
	c.subject = c.raw
	switch {
	case c.refused != nil:
	case tool == "bash":
		c.line = splitLine(c.raw, s.unwrap)
		c.parts = c.line.parts
	case known && isPath(argument):
		c.resolvePath(s)
	default:
		c.parts = []part{plainPart(c.raw)}
	}
	return c
}

func plainPart(text string) part {
	texts := []string{text}
	return part{text: text, allow: texts, strict: texts}
}

// resolvePath sets the parts of a call whose subject is a path. Without one,
// glob and grep search the working directory (PERM-55); for the other tools an
// empty path stays empty.
func (c *call) resolvePath(s *state) {
	c.paths = newPaths(s.dir)
	path := c.raw
	if path == "" {
		if c.tool != "glob" && c.tool != "grep" {
			c.parts = []part{plainPart("")}
			return
		}
		path = s.dir
	}
	resolved, written, err := c.paths.resolve(path)
	if err != nil {
		c.unresolved = err
		resolved = written
	}
	c.subject = resolved
	c.parts = []part{{text: resolved, allow: []string{resolved}, strict: []string{resolved, written}}}
}

// subjectOf reads one argument as the tool's handler will: keys in any case.
// Arguments that give it twice are refused, because the handler keeps the last
// one and a rule could see another (PERM-58 to PERM-60).
func subjectOf(arguments, name string, wanted bool) (string, error) {
	dec := json.NewDecoder(strings.NewReader(arguments))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return "", badArguments(err)
	}
	var value json.RawMessage
	seen := false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return "", badArguments(err)
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return "", badArguments(err)
		}
		if k, ok := key.(string); wanted && ok && strings.EqualFold(k, name) {
			if seen {
				return "", fmt.Errorf("the arguments give %q twice; give it once", name)
			}
			seen, value = true, v
		}
	}
	if _, err := dec.Token(); err != nil {
		return "", badArguments(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("there is text after the JSON object of the arguments")
	}
	if len(value) == 0 || bytes.Equal(value, []byte("null")) {
		return "", nil
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return "", fmt.Errorf("the argument %q must be a string", name)
	}
	return text, nil
}

func badArguments(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the arguments are not one JSON object")
	}
	return fmt.Errorf("the arguments are not valid JSON: %w", err)
}
