package file

import "strings"

// splitGlob cuts a glob at its slashes; one inside of brackets does not cut, and
// an escaped one does.
func splitGlob(glob string) []string {
	var parts []string
	start := 0
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			if i+1 < len(glob) && glob[i+1] != '/' {
				i++
			}
		case '[':
			if end := bracketEnd(glob, i); end > 0 {
				i = end
			}
		case '/':
			parts = append(parts, strings.TrimSuffix(glob[start:i], `\`))
			start = i + 1
		}
	}
	return append(parts, glob[start:])
}

// bracketEnd returns where the bracket expression at i ends, 0 when it does not.
func bracketEnd(glob string, i int) int {
	j := i + 1
	if j < len(glob) && (glob[j] == '!' || glob[j] == '^') {
		j++
	}
	for first := true; j < len(glob); j++ {
		switch {
		case glob[j] == '\\':
			j++
		case glob[j] == ']' && !first:
			return j
		case glob[j] == '[' && j+1 < len(glob) && glob[j+1] == ':':
			if end := strings.Index(glob[j+2:], ":]"); end >= 0 {
				j += 2 + end + 1
			}
		}
		first = false
	}
	return 0
}

// anyDirs tells whether a part stands for any number of directories.
func anyDirs(part string) bool { return len(part) > 1 && strings.Trim(part, "*") == "" }

// matchParts matches a path against the parts of a glob. It goes back to the last
// "**" only, so that the time is bounded by the product of the lengths.
func matchParts(parts []string, path string) bool {
	var backParts []string
	var backPath string
	for {
		switch {
		case len(parts) == 0 && path == "":
			return true
		case len(parts) == 1 && anyDirs(parts[0]):
			return path != "" // what is inside, at any depth
		case len(parts) > 1 && anyDirs(parts[0]):
			parts = parts[1:]
			backParts, backPath = parts, path
			continue
		case len(parts) > 0 && path != "":
			name, rest, _ := strings.Cut(path, "/")
			if matchName(parts[0], name) {
				parts, path = parts[1:], rest
				continue
			}
		}
		_, rest, more := strings.Cut(backPath, "/")
		if backParts == nil || !more {
			return false
		}
		parts, path, backPath = backParts, rest, rest
	}
}

// matchName matches one name against one part of a glob, byte by byte as git does.
func matchName(glob, name string) bool {
	backGlob, backName := -1, 0
	g, n := 0, 0
	for {
		if g < len(glob) && glob[g] == '*' {
			for g < len(glob) && glob[g] == '*' {
				g++
			}
			if g == len(glob) {
				return true
			}
			backGlob, backName = g, n
			continue
		}
		if n == len(name) && g == len(glob) {
			return true
		}
		if n < len(name) && g < len(glob) {
			if size, ok := matchByte(glob[g:], name[n]); ok {
				g += size
				n++
				continue
			}
		}
		if backGlob < 0 || backName >= len(name) {
			return false
		}
		backName++
		g, n = backGlob, backName
	}
}

// matchByte matches a byte against what the glob begins with, and tells how long that is.
func matchByte(glob string, c byte) (size int, ok bool) {
	switch glob[0] {
	case '?':
		return 1, true
	case '\\':
		if len(glob) == 1 {
			return 0, false
		}
		return 2, glob[1] == c
	case '[':
		end := bracketEnd(glob, 0)
		if end == 0 {
			return 0, false
		}
		return end + 1, inBrackets(glob[1:end], c)
	}
	return 1, glob[0] == c
}

// inBrackets tells whether a byte is in a set such as "a-z[:digit:]".
func inBrackets(set string, c byte) bool {
	negated := set != "" && (set[0] == '!' || set[0] == '^')
	if negated {
		set = set[1:]
	}
	in := false
	for i := 0; i < len(set); i++ {
		if set[i] == '[' && i+1 < len(set) && set[i+1] == ':' {
			if end := strings.Index(set[i+2:], ":]"); end >= 0 {
				in = in || inClass(set[i+2:i+2+end], c)
				i += 2 + end + 1
				continue
			}
		}
		if set[i] == '\\' && i+1 < len(set) {
			i++
		}
		low, high := set[i], set[i]
		if i+2 < len(set) && set[i+1] == '-' {
			i += 2
			if set[i] == '\\' && i+1 < len(set) {
				i++
			}
			high = set[i]
		}
		in = in || low <= c && c <= high
	}
	return in != negated
}

func inClass(name string, c byte) bool {
	lower, upper, digit := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
	graph := c > ' ' && c < 0x7f
	switch name {
	case "alnum":
		return lower || upper || digit
	case "alpha":
		return lower || upper
	case "blank":
		return c == ' ' || c == '\t'
	case "cntrl":
		return c < ' ' || c == 0x7f
	case "digit":
		return digit
	case "graph":
		return graph
	case "lower":
		return lower
	case "print":
		return graph || c == ' '
	case "punct":
		return graph && !lower && !upper && !digit
	case "space":
		return c == ' ' || c >= '\t' && c <= '\r'
	case "upper":
		return upper
	case "xdigit":
		return digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	}
	return false
}
