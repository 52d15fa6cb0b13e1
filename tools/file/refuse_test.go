package file

import (
	"errors"
	"strings"
	"testing"
)

// E16: what a refused edit says. A match that only looks like old_string is never applied.
func TestNotFoundMessages(t *testing.T) {
	const copyIt = "\nCopy it exactly as the file has it (· is a blank, → a tab, ␍ a carriage return)."
	for _, c := range []struct{ name, file, old, want string }{
		{"tab", "func f() {\n\treturn x\n}\n", "{\n    return x\n}",
			"the text at lines 1-3 differs in tabs and spaces:\n  sent      ····return·x\n  line 2    →return·x" + copyIt},
		{"blanks", "a = 1  \nb = 2\n", "a = 1\nb = 2",
			"the text at lines 1-2 differs in blanks at the ends of lines:\n  sent      a·=·1\n  line 1    a·=·1··" + copyIt},
		{"CRLF", "a\nb\n", "a\r\nb",
			"the text at lines 1-2 differs in line ends (\\r\\n and \\n):\n  sent      a␍\n  line 1    a" + copyIt},
		{"quote", "x\nsay “hi”\n", `say "hi"`,
			"the text at line 2 differs in quotes or dashes:\n  sent      say·\"hi\"\n  line 2    say·“hi”" + copyIt},
		{"case", "x\nFooBar()\n", "fooBar()",
			"the text at line 2 differs in upper and lower case:\n  sent      fooBar()\n  line 2    FooBar()" + copyIt},
		{"NBSP", "10\u00a0km\n", "10 km",
			"the text at line 1 differs in special blanks such as U+00A0:\n  sent      10·km\n  line 1    10<U+00A0>km" + copyIt},
		{"NFC", "cafe\u0301\n", "caf\u00e9",
			"the text at line 1 differs in composed and decomposed letters (NFC and NFD):\n  sent      café\n  line 1    cafe<U+0301>" + copyIt},
		{"full width", "f（x）\n", "f(x)",
			"the text at line 1 differs in full-width characters:\n  sent      f(x)\n  line 1    f（x）" + copyIt},
		{"invisible", "foo\u200bbar\n", "foobar",
			"the text at line 1 differs in invisible characters:\n  sent      foobar\n  line 1    foo<U+200B>bar" + copyIt},
		{"two at once", "\tSay “hi”\n", `	say "hi"`,
			"the text at line 1 differs in quotes or dashes, upper and lower case:\n  sent      →say·\"hi\"\n  line 1    →Say·“hi”" + copyIt},
		{"missing line", "func f() {\n\ta()\n\tb()\n\tc()\n}\n", "func f() {\n\ta()\n\tc()\n}",
			"the nearest text is at lines 1-5 (- was sent, + is in the file):\n \ta()\n+\tb()\n \tc()"},
		{"line too many", "one()\nthree()\n", "one()\ntwo()\nthree()",
			"the nearest text is at lines 1-2 (- was sent, + is in the file):\n one()\n-two()\n three()"},
		{"other line", "func f() {\n\treturn 1\n}\n\nfunc g() {\n\treturn 2\n}\n", "func g() {\n\treturn 3\n}\n",
			"the nearest text is at lines 5-7 (- was sent, + is in the file):\n func g() {\n-\treturn 3\n+\treturn 2\n }"},
		{"typo", "alpha\n\tresult := compute(input, 10)\nomega\n", "result := computed(input, 10)",
			"the nearest line is\n  sent      result := computed(input, 10)\n  line 2    result := compute(input, 10)"},
		{"escaped", "say(\"hi\")\n", `say(\"hi\")`, "it was escaped once too often: the file has it without the backslashes"},
		{"numbered", "a\nb\n", "     1\ta\n     2\tb", "it holds the line numbers that read shows; leave them and the tab after them out"},
		{"not UTF-8", "a\ncaf\xe9\n", `caf\xe9`, `the text at line 2 has bytes that are not UTF-8, which read shows as \xNN; choose parts of it without them`},
		{"nothing like it", "a\nb\n", "completely different", "no similar text is in the file; read it again"},
		{"blank", "a\nb\n", "\n\n\n", "read the file again and copy the text exactly"},
		{"large", strings.Repeat("x\n", 1<<20+1), "y", "find the place with grep, read it, and copy the text exactly"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := replace([]byte(c.file), Edit{OldString: c.old, NewString: "anything"})
			if want := "old_string was not found: " + c.want; !errors.Is(err, ErrOldStringNotFound) || err.Error() != want {
				t.Errorf("got\n%v\nwant\n%s", err, want)
			}
		})
	}
}

// FILE-45
func TestNotUniqueMessage(t *testing.T) {
	_, _, err := replace([]byte("x\na\nx\n"), Edit{OldString: "x", NewString: "y"})
	if want := "old_string is not unique: it occurs 2 times, at lines 1, 3; add lines around it until it is unique, or set replace_all"; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	_, _, err = replace([]byte(strings.Repeat("x\n", 500)), Edit{OldString: "x", NewString: "y"})
	if err == nil || !strings.Contains(err.Error(), "500 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 490 more;") {
		t.Errorf("got %v", err)
	}
}
