package permissions

import (
	"strings"
	"testing"
)

// TestParserDifferences holds the lines in which the parser saw only allowed
// commands and bash ran another: each is asked however much is allowed, and a deny
// rule for what bash would run is met.
func TestParserDifferences(t *testing.T) {
	allowed := newPolicy(t, WithAllow("bash", "bash(go test *)"))
	denied := newPolicy(t, WithAllow("bash", "bash(go test *)"), WithDeny("bash(rm *)", "bash(reboot)", "bash(reboot *)"))
	for _, d := range []struct {
		what, line string
		deny       Decision // with the deny rules
	}{
		{"1 a carriage return is a blank to the parser", "go test ./...\r#; rm -rf build", Deny},
		{"2 a backslash continues a line that ends with CR LF", "go test \\\r\nrm -rf build", Deny},
		{"3 a backslash continues a comment", "go test # note \\\nrm -rf build", Deny},
		{"4 a redirection takes the command's name", "go test . ; <&-reboot", Deny},
		{"4 and to a closed output", "go test . ; >&-reboot", Deny},
		{"5 joined lines end a heredoc", "cat <<EOF\nx\n\\\nEOF\nrm -rf build\nEOF", Deny},
		{"6 a partly quoted delimiter joins no lines", "cat <<E\"O\"F\nx\\\nEOF\nrm -rf build\nEOF", Deny},
		{"7 a substitution is split over lines", "go test $\\\n(rm x)", Deny},
		{"7 an expansion is split over lines", "go test $\\\n{x@P}", Ask},
		{"8 coproc hides its command", "coproc reboot 2>&1", Deny},
		{"8 also in a pipe", "coproc reboot 2>&1 | cat", Deny},
		{"9 a printer would make layout of a vertical tab", "go test a\vb", Ask},
		{"9 and of a form feed", "go test a\fb", Ask},
		{"10 a deep nest overflows the stack", strings.Repeat("( ", 500_000) + "rm x", Ask},
		{"10 so does one of substitutions", strings.Repeat("$(", 500_000) + "rm x", Ask},
		{"10 and one of blocks", strings.Repeat("{ ", 500_000) + "rm x", Ask},
		{"10 and a chain of many parts", "go test ." + strings.Repeat(" && go test .", 300_000), Ask},
		{"a NUL", "go test a\x00; rm x", Deny},
		{"another control character", "go test a\x01b", Ask},
		{"c a redirection to a word", "go test . <&x", Ask},
		{"g a line that is too long", "go test " + strings.Repeat("x", 70_000) + "; rm x", Deny},
		{"g a line that nests too deep", strings.Repeat("(", 101) + "go test ." + strings.Repeat(")", 101), Ask},
		{"h a continuation in the middle of a word", "go te\\\nst .", Ask},
	} {
		if got := allowed.Decide("bash", command(d.line)); got != Ask {
			t.Errorf("%s: %v", d.what, got)
		}
		if got := denied.Decide("bash", command(d.line)); got != d.deny && got != Deny {
			t.Errorf("%s: with the deny rules %v, want %v", d.what, got, d.deny)
		}
	}
}
