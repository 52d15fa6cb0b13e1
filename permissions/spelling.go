package permissions

import (
	"slices"
	"strings"
)

// spelling is a command with its options in no order: "rm -rf *" is rm with the
// options r and f, and any operands. Deny and ask rules for the commands known
// here match by it, so that rm -fr and rm -r --force are met as well. A call may
// have more options than the rule.
type spelling struct {
	command  string // "rm", "git push"
	options  []string
	operands string
	glob     glob // the operands of a rule
}

// newSpelling reads a bash pattern, nil when its command is not known or it
// names no options.
func newSpelling(pattern string) *spelling {
	s := spell(strings.Fields(pattern))
	if s == nil || len(s.options) == 0 || strings.ContainsAny(s.command+strings.Join(s.options, ""), `*'"\`) {
		return nil
	}
	s.glob = newGlob(s.operands)
	return s
}

// spell splits a command's words, nil when the command is not known.
func spell(words []string) *spelling {
	if len(words) == 0 {
		return nil
	}
	s := &spelling{command: words[0]}
	rest := words[1:]
	if words[0] == "git" {
		if rest = git.skip(rest); len(rest) == 0 {
			return nil
		}
		s.command, rest = "git "+rest[0], rest[1:]
	}
	if !bundles(s.command) {
		return nil
	}
	var operands []string
	for i, word := range rest {
		if word == "--" {
			operands = append(operands, rest[i+1:]...)
			break
		}
		switch {
		case strings.HasPrefix(word, "--"):
			name, _, _ := strings.Cut(word, "=")
			s.options = append(s.options, short(name))
		case len(word) > 1 && word[0] == '-':
			for _, letter := range word[1:] {
				s.options = append(s.options, short("-"+string(letter)))
			}
		default:
			operands = append(operands, word)
		}
	}
	s.operands = strings.Join(operands, " ")
	return s
}

func bundles(command string) bool {
	switch command {
	case "rm", "rmdir", "cp", "mv", "ln", "mkdir", "chmod", "chown", "chgrp":
		return true
	}
	return strings.HasPrefix(command, "git ")
}

// short is the one name of an option that has several.
func short(option string) string {
	switch option {
	case "--recursive", "-R":
		return "-r"
	case "--force":
		return "-f"
	case "--parents":
		return "-p"
	case "--delete":
		return "-d"
	}
	return option
}

// matchAny tells whether one of the commands is the rule's.
func (s *spelling) matchAny(vectors [][]string) bool {
	return s != nil && slices.ContainsFunc(vectors, s.matches)
}

func (s *spelling) matches(words []string) bool {
	call := spell(words)
	if call == nil || call.command != s.command {
		return false
	}
	for _, o := range s.options {
		if !slices.Contains(call.options, o) {
			return false
		}
	}
	return s.glob.match(call.operands)
}
