//go:build unix

package main

import (
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/tools/txtar"
)

// screenOnly are steps of scripts that are about the screen itself, or about a
// command that has none.
var screenOnly = regexp.MustCompile(`(?m)^(screen |resize |needs screen|start \d+x\d+|start [a-z])`)

// runsInLines tells whether a script also runs in line mode.
func runsInLines(archive *txtar.Archive) bool {
	for _, f := range archive.Files {
		if f.Name == "steps" {
			return strings.Contains(string(f.Data), "start") && !screenOnly.Match(f.Data)
		}
	}
	return false
}

var choose = regexp.MustCompile(`choose 1 to \d+: `)

// inLines does a step in line mode. All that was printed counts as shown, and
// nothing of it is ever gone; a dialog's key is the word of a choice.
func (r *scriptRun) inLines(verb, rest string) error {
	switch verb {
	case "wait":
		if rest == "? keys" { // it is the person's turn
			r.term.until("asked for a prompt", func(text string) bool { return strings.HasSuffix(text, "\n> ") })
			return nil
		}
		if rest == "enter takes it" { // the line is the answer
			r.waitNext("write an answer")
			return nil
		}
		r.term.waitFor(rest)
	case "gone":
	case "answer":
		r.choice(rest)
	case "choose":
		number, text, written := strings.Cut(rest, " ")
		r.choice(number)
		if written {
			r.waitNext("write an answer: ")
			r.term.send(r.expand(text) + "\r")
		}
	case "type":
		r.term.send(r.expand(rest))
	case "kill":
		return r.kill(rest)
	case "key":
		for _, key := range strings.Fields(rest) {
			if err := r.keyInLines(key); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("no such step in line mode")
	}
	return nil
}

// choice answers the next dialog by a number or a word.
func (r *scriptRun) choice(word string) {
	r.choices("choices")
	r.term.send(word + "\r")
}

// waitNext waits for what is printed after the last answer.
func (r *scriptRun) waitNext(text string) {
	r.term.until("asked "+text, func(all string) bool {
		at := strings.Index(all[r.mark:], text)
		if at >= 0 {
			r.mark += at + len(text)
		}
		return at >= 0
	})
}

// choices waits for the next dialog's choices, and returns them.
func (r *scriptRun) choices(what string) (choices string) {
	from := r.mark
	r.term.until("showed the next "+what, func(text string) bool {
		at := choose.FindStringIndex(text[from:])
		if at != nil {
			choices, r.mark = text[from:from+at[0]], from+at[1]
		}
		return at != nil
	})
	return choices
}

func (r *scriptRun) keyInLines(key string) error {
	switch key {
	case "enter":
		r.term.send("\r")
	case "esc", "ctrl+c":
		r.term.key("ctrl+c")
	case "ctrl+d":
		r.term.key(key)
	case "shift+tab":
		from := len(r.term.text())
		r.term.send("/mode\r")
		r.term.until("showed the mode", func(text string) bool { return strings.HasSuffix(text[from:], "> ") })
	case "ctrl+b":
		r.term.send("/background\r")
	case "right", "space":
		verb := map[string]string{"right": "widen", "space": "untick"}[key]
		number := regexp.MustCompile(`(\d+)\. ` + verb).FindStringSubmatch(r.choices(verb))
		if number == nil {
			return fmt.Errorf("nothing to %s", verb)
		}
		r.term.send(number[1] + "\r")
	default:
		if len(key) > 1 {
			return fmt.Errorf("no such key in line mode")
		}
		r.choice(key)
	}
	return nil
}
