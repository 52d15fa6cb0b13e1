//go:build unix

package permissions

import (
	"math/rand/v2"
	"testing"
)

// differences are lines that the parser and bash read differently, or that run
// more than their commands: each ran the planted program in bash while the
// parser showed only allowed commands.
func differences() []string {
	return []string{
		"echo a\r#; zzplant",                               // a carriage return is no blank to bash
		"echo \\\r\nzzplant",                               // nor does a backslash join it
		"echo # note \\\nzzplant",                          // nothing continues a comment
		"true; <&-zzplant",                                 // a closed descriptor, then a command
		"true; 2>&-zzplant",                                //
		"cat <<E\nx\n\\\nE\nzzplant\nE",                    // joined lines end a heredoc
		"cat <<E\"O\"F\na\\\nEOF\nzzplant\nEOF",            // a quoted delimiter joins none
		"cat <<-E\n\t\\\nE\nzzplant\nE",                    // also behind a tab
		"echo $\\\n(zzplant)",                              // the substitution's text is split
		"coproc zzplant 2>&1",                              // a command, not the coprocess's name
		"coproc zzplant 2>&1 | cat",                        //
		"!(zzplant)",                                       // a negated subshell, not a pattern
		"test -v 'a[$(zzplant)]'",                          // a subscript is evaluated
		`test -v a[\$\(zzplant\)]`,                         // however it was quoted
		`for x in a[\$\(zzplant\)]; do test -v $x; done`,   //
		`for x in "-v a[\$\(zzplant\)]"; do test $x; done`, // also behind a split word
		`for x in a[\$; do for y in \(zzplant\)]; do test -v $x$y; done; done`, //
		"printf -v PATH . ; ls",                              // the directory holds its own ls
		"printf -vPATH . ; ls",                               //
		"printf %n PATH; ls",                                 // PATH is 0, and there is such a directory
		`for x in v; do printf -"$x" PATH . ; done; ls`,      //
		`for x in v; do test -"$x" a[\$\(zzplant\)]; done`,   //
		`for x in -v; do test """$x" a[\$\(zzplant\)]; done`, //
		`for x in %n; do printf "$x" PATH; done; ls`,         //
		"printf {-v,PATH,.}; ls",                             //
		"for x in -vPATH; do printf $x . ; done; ls",         //
		"for PATH in . ; do ls; done",                        //
		"for x in a; do PATH=. ; done; ls",                   //
		"read PATH <<< . ; ls",                               //
		"mapfile -t PATH <<< . ; ls",                         //
		"getopts : PATH; ls",                                 //
		"unset PATH; zzplant",                                //
		"select PATH in . ; do ls; break; done <<< 1",        //
		"PATH=. ; ls",                                        //
		"PATH=. ls",                                          //
		"export PATH=. ; ls",                                 //
		": $((PATH=0)) ; ls",                                 //
		"ls() { zzplant; }; ls",                              //
		"time -p -- zzplant",                                 // the parser shows a command named --
		"$'zz\\x70lant'",                                     //
		"{zzplant,a}",                                        //
	}
}

// TestDifferences: the policy allows none of them, and most do run the planted
// program, so that the trap is known to work.
func TestDifferences(t *testing.T) {
	tr := newTrap(t)
	ran := 0
	for _, line := range differences() {
		if tr.allows(line) {
			t.Errorf("allowed: %q", line)
		}
		if tr.springs(t, line) {
			ran++
		} else {
			t.Logf("does not run it: %q", line)
		}
	}
	if !tr.springs(t, "zzplant") || tr.springs(t, "echo zzplant; ls; cat </dev/null") {
		t.Error("the trap is broken")
	}
	if ran < len(differences())/2 {
		t.Errorf("only %d of %d lines run the planted program: the trap is broken", ran, len(differences()))
	}
}

// TestAnyLine: no line makes the splitter panic, whatever it is.
func TestAnyLine(t *testing.T) {
	lines := append(fuzzSeeds(t), "e`coproc N hoPH+= `")
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		lines = append(lines, newGrammar(r).line())
	}
	for _, line := range lines {
		for range 3 {
			if l := splitLine(line, true); len(l.parts) == 0 {
				t.Errorf("no part: %q", line)
			}
			line = bend(r, line)
		}
	}
}
