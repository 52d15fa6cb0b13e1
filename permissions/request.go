package permissions

import (
	"context"
	"fmt"
)

// Decision is what the policy says about a call (PERM-02). Its zero value is Ask.
type Decision int

// The decisions.
const (
	Ask Decision = iota
	Allow
	Deny
)

func (d Decision) String() string {
	return oneOf(int(d), "ask", "allow", "deny")
}

// MarshalText writes the decision as "ask", "allow" or "deny".
func (d Decision) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// worse returns the stricter of two decisions: Deny before Ask before Allow.
func worse(a, b Decision) Decision {
	switch {
	case a == Deny || b == Deny:
		return Deny
	case a == Ask || b == Ask:
		return Ask
	}
	return Allow
}

// Answer is what a person says to a [Request] (PERM-08). Its zero value, and
// every value that is none of the three, is Reject.
type Answer int

// The answers.
const (
	Reject      Answer = iota
	AllowOnce          // this call
	AllowAlways        // this call, and from then on every call of the request's Subjects
)

// Asker asks a person. An error fails the call; a [Feedback] beside Reject is
// told to the model.
type Asker func(ctx context.Context, req Request) (Answer, error)

// Reason says why a call is asked.
type Reason int

// The reasons; where several hold, ask rule > opaque > no rule (decision 2).
const (
	ReasonNoRule Reason = iota
	ReasonAskRule
	ReasonOpaque
)

func (r Reason) String() string {
	return oneOf(int(r), "no_rule", "ask_rule", "opaque")
}

// MarshalText writes the reason as "no_rule", "ask_rule" or "opaque".
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Request is a question to the person: may this call run?
//
// Its texts are as the model wrote them; whoever shows them makes control
// characters visible (PERM-82).
type Request struct {
	Tool      string
	CallID    string   // the model's id of the call
	Arguments string   // JSON, as the model sent it
	Subject   string   // what the call touches: the whole line, the resolved path
	Raw       string   // the subject argument as written
	Subjects  []string // what AllowAlways would allow from then on; empty: it has no effect
	Reason    Reason
	Rule      string // the ask rule that matched
	Opaque    string // the part of a line that cannot be split
}

// Grant is an exact subject that the person allowed for good. It is compared as
// text, never as a pattern.
type Grant struct {
	Tool    string `json:"tool"`
	Subject string `json:"subject"`
}

// oneOf is the i-th name.
func oneOf(i int, names ...string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("unknown(%d)", i)
	}
	return names[i]
}
