package permissions

import "fmt"

// Words says how the step was decided, as "allowed by the rule bash(go test *)
// (built in)".
func (s Step) Words() string {
	verb := map[Decision]string{Allow: "allowed", Ask: "asked", Deny: "denied"}[s.Decision]
	if s.By == ByDefault {
		return verb + ": no rule for it"
	}
	return verb + " by " + s.By.words(s.Rule)
}

// words names what decided, with its rule where it has one.
func (b By) words(r Rule) string {
	switch b {
	case ByDenyRule, ByAskRule, ByAllowRule, ByRun:
		words := "the " + string(b) + " " + r.Text
		if r.Source != "" {
			words += " (" + r.Source + ")"
		}
		return words
	case ByAlways:
		return "an always answer"
	case ByReadOnly:
		return "the list of read-only commands"
	}
	return string(b)
}

// Verdict says what the whole call comes to and why, in one line.
func (t Trace) Verdict() string {
	verdict := t.Decision.String()
	switch t.By {
	case ByDefault:
		if t.Decision == Allow {
			return verdict + ": no rule forbids it"
		}
		return verdict + ": no rule allows all of it"
	case ByOpaque:
		return verdict + ": this line cannot be split: " + t.Why
	case ByArguments, ByPath, ByPlan:
		return verdict + ": " + t.Why
	case ByMode:
		return fmt.Sprintf("%s: by the mode %s", verdict, t.Mode)
	}
	return verdict + ": by " + t.By.words(t.Rule)
}
