package bash

import (
	"crypto/rand"
	"encoding/hex"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// state is what a persistent shell carries from one command to the next. It is
// never changed, only replaced.
//
// # How it is read
//
// bash reads this text from a descriptor, with builtins only:
//
//	{ exec 8<&-; cd …; export A=…
//	eval -- 'the command' 9>&-        the state's descriptor is closed in the command
//	save the status; a subshell writes nonce, directory, exports, nonce to 9
//	exit with the status; }
//
// The whole is one compound command, parsed before the command's first word
// runs, so aliases, open quotes and trailing backslashes cannot reach it. POSIX
// mode is switched on by an assignment, since a function cannot stand in its
// way; from then on none can stand in the way of unset, export, exec and exit either.
// A line that ends the shell (exit, exec, set -e) never gets there, and changes
// nothing. Builtins can write to the descriptor that bash saves for 9, but the
// nonce stands nowhere but in text that bash has already parsed: not in its
// arguments, a variable, a function or a file.
//
// The variables are given to the next command by such a text too, not by the
// environment: the sandbox's own process must not start with an LD_PRELOAD that
// a command inside it exported.
type state struct {
	seq     int64  // of the command that left it
	dir     string // "" is the working directory
	exports map[string]string
	unset   []string // sorted; variables of the environment that were unset
}

func nonce() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// text is what bash runs for a command that begins with the state; with a
// nonce, it also tells the state after it.
func (s state) text(command, workdir, nonce string) string {
	var b strings.Builder
	b.WriteString("{ exec 8<&-; ")
	if nonce == "" {
		b.WriteString("exec 9>&-; ") // open all the same in a sandbox that was made ahead
	}
	if len(s.unset) > 0 {
		b.WriteString("unset -v " + strings.Join(s.unset, " ") + "; ")
	}
	if s.dir != "" {
		b.WriteString("cd -- " + quote(s.dir) + " 2>/dev/null || printf '%s\\n' " +
			quote("[the directory "+s.dir+" cannot be entered any more: this ran in "+workdir+"]") + "; ")
	}
	for _, name := range slices.Sorted(maps.Keys(s.exports)) {
		b.WriteString("export " + name + "=" + quote(s.exports[name]) + "; ")
	}
	if nonce == "" {
		b.WriteString("eval -- " + quote(command) + "\n}")
		return b.String()
	}
	status := "_" + nonce
	b.WriteString("eval -- " + quote(command) + " 9>&-\n" +
		"{ " + status + "=$?; (POSIXLY_CORRECT=1; unset -f printf pwd; " +
		`printf "%s\0" ` + nonce + `; pwd -P; printf "\0"; export -p && printf "\0%s" ` + nonce +
		") >&9 && ((1)); set +xv; } >/dev/null 2>&1\n" +
		"exit $" + status + "; }")
	return b.String()
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// parseState reads what the subshell wrote; ok is false when that is not
// exactly what it writes.
func parseState(data []byte, nonce string) (dir string, env map[string]string, ok bool) {
	rest, ok := strings.CutPrefix(string(data), nonce+"\x00")
	if !ok {
		return "", nil, false
	}
	rest, ok = strings.CutSuffix(rest, "\x00"+nonce)
	if !ok {
		return "", nil, false
	}
	dir, rest, ok = strings.Cut(rest, "\n\x00")
	if !ok || !filepath.IsAbs(dir) || strings.ContainsRune(dir+rest, 0) {
		return "", nil, false
	}
	if env, ok = parseExports(rest); !ok {
		return "", nil, false
	}
	maps.DeleteFunc(env, func(name, _ string) bool { return !carried(name) || name == "_"+nonce })
	return dir, env, true
}

var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// carried tells whether a variable goes from one command to the next. bash
// itself keeps the first ones, and a few cannot be assigned.
func carried(name string) bool {
	switch name {
	case "_", "PWD", "SHLVL", "UID", "EUID", "PPID", "BASH_VERSINFO", markerName:
		return false
	}
	return !startsCode(name) && identifier().MatchString(name)
}

// after is the state when a command that began with s, and with the variables
// in env, ended in dir with the exported variables now. changed is false when
// it is s itself.
func (s state) after(env []string, dir string, now map[string]string) (next state, changed bool) {
	next = state{dir: dir, exports: maps.Clone(s.exports)}
	if next.exports == nil {
		next.exports = map[string]string{}
	}
	before := map[string]string{}
	for _, e := range env {
		if name, value, _ := strings.Cut(e, "="); carried(name) {
			before[name] = value
		}
	}
	for name, value := range now {
		if was, ok := before[name]; ok && was == value {
			delete(next.exports, name)
		} else {
			next.exports[name] = value
		}
	}
	for name := range next.exports {
		if _, ok := now[name]; !ok {
			delete(next.exports, name)
		}
	}
	for name := range before {
		if _, ok := now[name]; !ok {
			next.unset = append(next.unset, name)
		}
	}
	slices.Sort(next.unset)
	changed = next.dir != s.dir || !maps.Equal(next.exports, s.exports) || !slices.Equal(next.unset, s.unset)
	return next, changed
}

// place is the directory as the tool names it: below the working directory as
// it was given, also when that is a symlink; "" is the working directory.
func place(workdir, real string) string {
	resolved, err := filepath.EvalSymlinks(workdir)
	if err != nil {
		return real
	}
	switch rel, err := filepath.Rel(resolved, real); {
	case err != nil || rel == ".." || strings.HasPrefix(rel, "../"):
		return real
	case rel == ".":
		return ""
	default:
		return filepath.Join(workdir, rel)
	}
}
