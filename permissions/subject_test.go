package permissions

import (
	"testing"

	"github.com/phero-agent/agent/tools"
)

// FuzzArguments: what rules see is what a tool's handler decodes (PERM-59).
func FuzzArguments(f *testing.F) {
	for _, c := range loadCases(f) {
		if c.Gen == nil && len(c.Arguments) < 2000 {
			f.Add(c.Arguments)
		}
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		seen, err := subjectOf(arguments, "command", true)
		if err != nil {
			return
		}
		var in struct {
			Command string `json:"command"`
		}
		if err := tools.DecodeArguments(arguments, &in); err == nil && in.Command != seen {
			t.Fatalf("the policy sees %q, the tool %q", seen, in.Command)
		}
	})
}
