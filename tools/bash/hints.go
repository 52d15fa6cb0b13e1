package bash

import (
	"slices"
	"strings"
)

// lack guesses from a failed command's output which reach it lacked. It looks at
// the end of each line, where programs put the reason, so that text about such
// a failure is not taken for one.
func (t *Tool) lack(had Reach, output string) Lack {
	if had == Host {
		return Lack{}
	}
	hides := func(string) bool { return false }
	if w, ok := t.runner.(walled); ok {
		hides = w.hides
	}
	paths := 0
	for line := range strings.Lines(lastBytes(output, 16<<10)) {
		line = line[strings.LastIndexByte(strings.TrimRight(line, "\r\n"), '\r')+1:] // what is left of a progress bar
		lower := strings.ToLower(strings.TrimRight(line, " \r\n\t.'\"`)>]};,"))
		switch {
		case had == Sandboxed && isNetworkFailure(lower):
			return Lack{Network, "the network is off in the sandbox"}
		case isGitFailure(lower):
			return Lack{Host, "the repository's config and hooks, signing keys and logins are out of reach in the sandbox"}
		case paths < maxPathLines && isPathFailure(lower):
			paths++
			if path := hiddenPath(line, hides); path != "" {
				return Lack{Host, clipLine(path) + " is out of reach in the sandbox"}
			}
		}
	}
	return Lack{}
}

// networkPrograms are those whose failures isNetworkFailure knows.
var networkPrograms = []string{"curl", "wget", "git", "go", "npm", "npx", "pip", "pip3", "uv", "cargo", "ssh", "apt", "apt-get"}

// hidesFailure tells whether a line runs one of the network's programs in a pipe,
// whose exit code is that of its last command: "curl … | head" fails with 0.
func hidesFailure(command string) bool {
	rest := strings.ReplaceAll(command, "||", "")
	for {
		before, after, piped := strings.Cut(rest, "|")
		if !piped {
			return false
		}
		if slices.ContainsFunc(strings.Fields(before), func(w string) bool { return slices.Contains(networkPrograms, w) }) {
			return true
		}
		rest = after
	}
}

func lastBytes(s string, n int) string { return s[max(0, len(s)-n):] }

// isNetworkFailure tells whether a line, in lower case, ends as the failures of
// curl, wget, git, ssh, Go, npm, pip, uv, cargo, Python, Node and apt do
// without a network. Each needs the words of a program before the reason.
func isNetworkFailure(line string) bool {
	endings := []string{
		"temporary failure in name resolution", "network is unreachable", "eai_again", "enetunreach",
	}
	programs := []string{
		"error", "err!", "ssh:", "getaddrinfo", "dial tcp", "dial udp", "fatal:", "connect", "could not", "cannot", "failed", "wget:", "socket",
	}
	if slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(line, e) }) {
		return slices.ContainsFunc(programs, func(p string) bool { return strings.Contains(line, p) })
	}
	starts := []string{
		"curl: (6) could not resolve host", "curl: (7) failed to connect to", "curl: (28) ",
		"wget: unable to resolve host address", "npm error request to https://", "npm err! request to https://",
		"npm error code eai_again", "npm error code enotfound", "npm err! code eai_again", "npm err! code enotfound",
		"error: could not find a version that satisfies the requirement", "ssh: could not resolve hostname",
		"w: failed to fetch http", "e: failed to fetch http", "err:",
	}
	if slices.ContainsFunc(starts, func(s string) bool { return strings.HasPrefix(line, s) }) {
		return !strings.HasPrefix(line, "error: could not find a version") || strings.HasSuffix(line, "(from versions: none")
	}
	return strings.HasPrefix(line, "fatal: unable to access 'http") && strings.Contains(line, "could not resolve host") ||
		strings.Contains(line, "[6] could not resolve hostname") || // cargo
		strings.HasPrefix(line, "error: getaddrinfo ")
}

// isGitFailure tells whether a line, in lower case, is git's about something
// that the sandbox keeps from it by design.
func isGitFailure(line string) bool {
	switch {
	case strings.HasPrefix(line, "error: could not write config file"), strings.HasPrefix(line, "error: could not lock config file"),
		strings.HasPrefix(line, "fatal: could not set '"), strings.HasPrefix(line, "error: could not commit config file"):
		return strings.HasSuffix(line, "busy") || strings.HasSuffix(line, "read-only file system") || strings.HasSuffix(line, "permission denied")
	case strings.HasPrefix(line, "error: gpg failed to sign the data"), strings.HasPrefix(line, "fatal: could not read username for "),
		strings.HasPrefix(line, "error: couldn't load public key"), strings.HasPrefix(line, "host key verification failed"):
		return true
	case strings.Contains(line, ".git/"):
		return strings.HasSuffix(line, "read-only file system") || strings.HasSuffix(line, "device or resource busy")
	}
	return strings.HasPrefix(line, "git@") && strings.Contains(line, ": permission denied (publickey")
}
