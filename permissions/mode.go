package permissions

// Mode is how much runs without a question, beside the rules (decision 1). Deny
// rules hold in every mode.
type Mode int

// The modes. In each a call that the mode says nothing about is decided by the
// rules and the default.
const (
	ModeAsk         Mode = iota
	ModeAcceptEdits      // write, edit and multi_edit below the working directory and the roots run
	ModeAuto             // and every bash line, also opaque ones; meant for a sandbox without network
	ModePlan             // write, edit, multi_edit and output to files are denied
	ModeYolo             // everything runs; ask rules are lifted
)

func (m Mode) String() string {
	return oneOf(int(m), "ask", "accept-edits", "auto", "plan", "yolo")
}

// MarshalText writes the mode's name.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// refuses tells whether the mode denies the call, whatever ask and allow rules say.
func (m Mode) refuses(c *call) bool {
	return m == ModePlan && (writesFiles(c.tool) || c.line.writes)
}

// allows tells whether the mode lets the call run where no deny and no ask rule
// speaks against it.
func (m Mode) allows(c *call, roots []string) bool {
	switch m {
	case ModeYolo:
		return true
	case ModeAuto:
		return c.tool == "bash" || editsBelow(c, roots)
	case ModeAcceptEdits:
		return editsBelow(c, roots)
	}
	return false
}

func editsBelow(c *call, roots []string) bool {
	return writesFiles(c.tool) && c.unresolved == nil && c.below(roots)
}

func writesFiles(tool string) bool {
	return tool == "write" || tool == "edit" || tool == "multi_edit"
}
