package permissions

// Reason says why a call is asked.
type Reason int

// The reasons; where several hold, ask rule > opaque > no rule (decision 2).
const (
	ReasonNoRule Reason = iota
	ReasonAskRule
	ReasonOpaque
)

// Request is a question to the person: may this call run?
type Request struct {
	Tool      string
	CallID    string
	Arguments string
	Subject   string
	Raw       string
	Subjects  []string
	Reason    Reason
	Rule      string // the ask rule that matched
	Opaque    string // the part of a line that cannot be split
}

// Grant is an exact subject that the person allowed for good.
type Grant struct {
	Tool    string `json:"tool"`
	Subject string `json:"subject"`
}
