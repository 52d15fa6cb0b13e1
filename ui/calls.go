package ui

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/ui/text"
)

// callState is where a call is.
type callState int

const (
	callWaiting callState = iota
	callAsking
	callRunning
	callDone
	callFailed
	callDenied
	callInterrupted
)

const (
	outputLines = 1000     // of a command that are kept
	maxArgument = 64 << 10 // bytes of an argument that is shown
)

// call is a call of a tool, from its arrival to its result.
type call struct {
	tools.ToolCall
	state   callState
	started time.Time
	elapsed time.Duration
	result  string
	changes []session.Change
	found   int // files that changed while the command ran

	output   *text.Writer // what a command printed so far; nil: nothing
	skipped  int          // lines that never came here
	progress string       // in an MCP server's words
	silent   time.Time    // it printed nothing since, for long; zero: it did

	subs  []*call // of a sub-agent
	words string  // the sub-agent's last line

	args   map[string]any // decoded when first needed
	parsed *bashResult
	tried  bool
}

func (c *call) over() bool { return c.state >= callDone }

// arg is a string argument, "" where there is none.
func (c *call) arg(name string) string {
	c.decode()
	s, _ := c.args[name].(string)
	return s
}

func (c *call) decode() {
	if c.args != nil {
		return
	}
	c.args = map[string]any{}
	_ = json.Unmarshal([]byte(c.Arguments), &c.args) // what is no object has no arguments to show
	for name, v := range c.args {
		if s, ok := v.(string); !ok || len(s) > maxArgument { // contents of files are not kept twice
			delete(c.args, name)
		}
	}
}

// begin says that the call runs from now on; what it printed before it was
// asked about again is gone.
func (c *call) begin(at time.Time) {
	c.state, c.started = callRunning, at
	c.output, c.skipped, c.silent = nil, 0, time.Time{}
}

// wrote takes output of a running command.
func (c *call) wrote(chunk []byte, skipped int) {
	if c.output == nil {
		c.output = text.NewWriter(outputLines)
	}
	c.skipped += skipped
	c.silent = time.Time{}
	_, _ = c.output.Write(chunk)
}

// hear takes what a sub-agent says; its last line is kept.
func (c *call) hear(s string) {
	c.words += s
	if i := strings.LastIndexByte(strings.TrimRight(c.words, "\n"), '\n'); i >= 0 {
		c.words = c.words[i+1:]
	}
}

// end takes the result.
func (c *call) end(m *session.Message) {
	c.result, c.elapsed = m.Text, m.Elapsed
	switch m.Status {
	case session.StatusFailed:
		c.state = callFailed
	case session.StatusDenied:
		c.state = callDenied
	case session.StatusInterrupted:
		c.state = callInterrupted
	default:
		c.state = callDone
	}
	if c.output != nil {
		c.output.Flush()
	}
	for _, s := range c.subs {
		if !s.over() {
			s.state = callInterrupted
		}
	}
	if r := c.bash(); r != nil && c.state == callDone && !r.Running && (r.ExitCode != 0 || r.TimedOut) {
		c.state = callFailed
	}
}

// bashResult is the result of bash and bash_output.
type bashResult struct {
	Output   string `json:"output"`
	BashID   string `json:"bash_id"`
	ExitCode int    `json:"exit_code"`
	Running  bool   `json:"running"`
	TimedOut bool   `json:"timed_out"`
	Reach    string `json:"reach"`
}

// bash is the result of a command that ran; nil for every other call.
func (c *call) bash() *bashResult {
	if c.Name != "bash" && c.Name != "bash_output" || c.state != callDone && c.state != callFailed {
		return nil
	}
	if !c.tried {
		c.tried = true
		var r bashResult
		if json.Unmarshal([]byte(c.result), &r) == nil {
			c.parsed = &r
		}
	}
	return c.parsed
}

// lines is a command's output as it is known: what was seen live, else the result's.
func (c *call) lines() (lines []string, above int) {
	out := c.output
	if out == nil {
		printed := ""
		if r := c.bash(); r != nil {
			printed = r.Output
			if c.Name == "bash" && r.BashID != "" { // the last line tells the model what the header says
				printed = printed[:strings.LastIndexByte(printed, '\n')+1]
			}
		} else if c.state == callInterrupted {
			printed = c.result
		}
		if printed == "" {
			return nil, 0
		}
		out = text.NewWriter(outputLines)
		out.WriteString(printed)
		out.Flush()
	}
	return out.Lines(), out.Dropped() + c.skipped
}

// forget drops what was seen live: from now on the result is shown.
func (c *call) forget() {
	if c.over() {
		c.output, c.skipped = nil, 0
	}
}

// spent is how long the call runs, or ran.
func (c *call) spent(now time.Time) time.Duration {
	if c.over() || c.started.IsZero() {
		return c.elapsed
	}
	return now.Sub(c.started)
}

// counts are added and removed lines of a call's changes.
func (c *call) counts() (added, removed int) {
	for _, ch := range c.changes {
		added += ch.Added
		removed += ch.Removed
	}
	return added, removed
}

// counts writes numbers of lines as +3 −3.
func counts(t *theme, added, removed int) string {
	return t.ok.Render(fmt.Sprintf("+%d", added)) + " " + t.fail.Render(fmt.Sprintf("%s%d", t.sign.minus, removed))
}
