package file

import (
	"bytes"
	"strings"
)

// maxIgnoreFile is how much of one .gitignore counts, in bytes.
const maxIgnoreFile = 4 << 20

// IgnoreRules is one .gitignore or .agentignore, compiled, with those of the directories above it.
// Patterns that are a plain name, or a star and an ending, are found by table; of
// the others only those are tried whose first byte can match.
type IgnoreRules struct {
	up       *IgnoreRules // of the nearest directory above that has one
	base     int          // length of the directory's path below the root of the walk, with its slash
	names    map[string][]int
	endings  map[string][]int // "*.log": by what follows the star
	sizes    []int            // lengths of the endings
	byFirst  [256][]int
	others   []int // begin with something that is no plain byte
	patterns []ignorePattern
}

type ignorePattern struct {
	negated  bool
	dirOnly  bool
	baseName bool // has no slash: any name below counts
	parts    []string
}

// ParseIgnore compiles the text of a .gitignore. base is the length of its
// directory's path below the root of the walk, with its slash; up are the rules of
// the nearest directory above that has some, nil for none. It returns up when there
// is no pattern in the text.
func ParseIgnore(text []byte, base int, up *IgnoreRules) *IgnoreRules {
	f := &IgnoreRules{up: up, base: base}
	text = bytes.TrimPrefix(text, []byte(bom))
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		f.add(string(bytes.TrimSuffix(line, []byte("\r"))))
	}
	if len(f.patterns) == 0 {
		return up
	}
	return f
}

func (f *IgnoreRules) add(line string) {
	if line == "" || line[0] == '#' {
		return
	}
	line = trimBlanks(line)
	var p ignorePattern
	if strings.HasPrefix(line, "!") {
		p.negated, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		p.dirOnly, line = true, line[:len(line)-1]
	}
	p.baseName = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return
	}
	p.parts = splitGlob(line)
	n := len(f.patterns)
	f.patterns = append(f.patterns, p)
	switch {
	case !p.baseName:
		if first := p.parts[0]; plainByte(first) {
			f.byFirst[first[0]] = append(f.byFirst[first[0]], n)
		} else {
			f.others = append(f.others, n)
		}
	case !strings.ContainsAny(line, `*?[\`):
		if f.names == nil {
			f.names = map[string][]int{}
		}
		f.names[line] = append(f.names[line], n)
	case line[0] == '*' && len(line) > 1 && !strings.ContainsAny(line[1:], `*?[\`):
		f.addEnding(line[1:], n)
	case plainByte(line):
		f.byFirst[line[0]] = append(f.byFirst[line[0]], n)
	default:
		f.others = append(f.others, n)
	}
}

func (f *IgnoreRules) addEnding(ending string, n int) {
	if f.endings == nil {
		f.endings = map[string][]int{}
	}
	f.endings[ending] = append(f.endings[ending], n)
	for _, size := range f.sizes {
		if size == len(ending) {
			return
		}
	}
	f.sizes = append(f.sizes, len(ending))
}

func plainByte(glob string) bool { return glob != "" && !strings.ContainsRune(`*?[\`, rune(glob[0])) }

// trimBlanks cuts the blanks at the end, as git does: one after a backslash stays.
func trimBlanks(line string) string {
	cut := -1
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			if cut < 0 {
				cut = i
			}
		case '\\':
			i++
			cut = -1
		default:
			cut = -1
		}
	}
	if cut >= 0 {
		return line[:cut]
	}
	return line
}

// Ignored tells whether git would ignore path, given below the root of the walk
// with slashes; name is its last part. Nil rules ignore nothing. Directories above it are taken as not ignored.
func (f *IgnoreRules) Ignored(path, name string, dir bool) bool {
	for ; f != nil; f = f.up {
		if n := f.last(path[f.base:], name, dir); n >= 0 {
			return !f.patterns[n].negated
		}
	}
	return false
}

// last returns the number of the last pattern that matches, -1 when none does.
func (f *IgnoreRules) last(path, name string, dir bool) int {
	best := f.latest(-1, f.names[name], path, name, dir, true)
	for _, size := range f.sizes {
		if size <= len(name) {
			best = f.latest(best, f.endings[name[len(name)-size:]], path, name, dir, true)
		}
	}
	best = f.latest(best, f.byFirst[path[0]], path, name, dir, false)
	if name[0] != path[0] {
		best = f.latest(best, f.byFirst[name[0]], path, name, dir, false)
	}
	return f.latest(best, f.others, path, name, dir, false)
}

// latest returns the largest of best and the patterns that match; known ones
// match by their table.
func (f *IgnoreRules) latest(best int, patterns []int, path, name string, dir, known bool) int {
	for i := len(patterns) - 1; i >= 0 && patterns[i] > best; i-- {
		p := &f.patterns[patterns[i]]
		if p.dirOnly && !dir {
			continue
		}
		if known || p.match(path, name) {
			return patterns[i]
		}
	}
	return best
}

func (p *ignorePattern) match(path, name string) bool {
	if p.baseName {
		return matchName(p.parts[0], name)
	}
	return matchParts(p.parts, path)
}
