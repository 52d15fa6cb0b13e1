package file

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxCompared is how large a file may be for the search for the nearest text, in bytes.
const maxCompared = 2 << 20

// fold is a way to look at text in which one kind of difference is not seen. No
// fold changes the number of "\n".
type fold struct {
	what string // that differs
	fold func(string) string
}

func folds() []fold {
	return []fold{
		{"line ends (\\r\\n and \\n)", strings.NewReplacer("\r\n", "\n").Replace},
		{"blanks at the ends of lines", trimLineEnds},
		{"tabs and spaces", squeeze},
		{"quotes or dashes", strings.NewReplacer("‘", "'", "’", "'", "‚", "'", "‛", "'", "“", `"`, "”", `"`, "„", `"`, "‟", `"`, "«", `"`, "»", `"`, "‐", "-", "‑", "-", "–", "-", "—", "-", "−", "-", "…", "...").Replace},
		{"special blanks such as U+00A0", strings.NewReplacer("\u00a0", " ", "\u2002", " ", "\u2003", " ", "\u2007", " ", "\u2009", " ", "\u200a", " ", "\u202f", " ", "\u3000", " ").Replace},
		{"invisible characters", strings.NewReplacer("\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "", "\ufeff", "", "\u00ad", "").Replace},
		{"full-width characters", narrow},
		{"composed and decomposed letters (NFC and NFD)", norm.NFC.String},
		{"upper and lower case", strings.ToLower},
	}
}

func trimLineEnds(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t")
	}
	return strings.Join(lines, "\n")
}

// squeeze takes the blanks around lines away, and makes one of those inside.
func squeeze(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.FieldsFunc(l, func(r rune) bool { return r == ' ' || r == '\t' }), " ")
	}
	return strings.Join(lines, "\n")
}

func narrow(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '！' && r <= '～' {
			return r - '！' + '!'
		}
		return r
	}, text)
}

// notFound says where the nearest text is and what differs there. It only tells:
// what is not equal is never replaced.
func notFound(content []byte, old string) error {
	text := string(content)
	hint := "read the file again and copy the text exactly"
	switch {
	case len(content) > maxCompared:
		hint = "find the place with grep, read it, and copy the text exactly"
	case strings.TrimSpace(old) == "":
	default:
		for _, look := range []func(text, old string) string{escaped, numbered, unreadable, folded, nearLines, nearLine} {
			if h := look(text, old); h != "" {
				hint = h
				break
			}
		}
	}
	return fmt.Errorf("%w: %s", ErrOldStringNotFound, hint)
}

// escaped finds a text that was escaped once too often.
func escaped(text, old string) string {
	plain := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, "'", `\\`, `\`).Replace(old)
	if plain == old || len(find([]byte(text), plain)) == 0 {
		return ""
	}
	return `it was escaped once too often: the file has it without the backslashes`
}

// numbered finds a text that was copied with its line numbers.
func numbered(text, old string) string {
	plain := regexp.MustCompile(`(?m)^ *\d+\t`).ReplaceAllString(old, "")
	if plain == old || plain == "" || len(find([]byte(text), plain)) == 0 {
		return ""
	}
	return "it holds the line numbers that read shows; leave them and the tab after them out"
}

// unreadable finds a text that was copied with bytes as read shows them.
func unreadable(text, old string) string {
	at := 0
	if strings.Contains(old, `\x`) && !utf8.ValidString(text) {
		at = lineOf(showBytes(text), old)
	}
	if at == 0 {
		return ""
	}
	return fmt.Sprintf(`the text at %s has bytes that are not UTF-8, which read shows as \xNN; choose parts of it without them`, lineRange(at, strings.Count(old, "\n")+1))
}

// folded finds text that differs in characters that look alike.
func folded(text, old string) string {
	all := folds()
	for _, f := range all {
		if at := lineOf(f.fold(text), f.fold(old)); at > 0 {
			return lookAlike(text, old, at, f.what)
		}
	}
	without := func(skip int, s string) string {
		for i, f := range all {
			if i != skip {
				s = f.fold(s)
			}
		}
		return s
	}
	at := lineOf(without(-1, text), without(-1, old))
	if at == 0 {
		return ""
	}
	var what []string
	for i, f := range all {
		if lineOf(without(i, text), without(i, old)) == 0 {
			what = append(what, f.what)
		}
	}
	return lookAlike(text, old, at, strings.Join(what, ", "))
}

// lineOf returns the number of the line in which part begins, 0 when it is not there.
func lineOf(text, part string) int {
	i := -1
	if strings.TrimSpace(part) != "" {
		i = strings.Index(text, part)
	}
	if i < 0 {
		return 0
	}
	return strings.Count(text[:i], "\n") + 1
}

// lookAlike shows the first lines that differ, with what cannot be seen made visible.
func lookAlike(text, old string, at int, what string) string {
	const most = 3
	sent, lines := strings.Split(old, "\n"), strings.Split(text, "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "the text at %s differs in %s:", lineRange(at, len(sent)), what)
	shown := 0
	for i, s := range sent {
		if at-1+i >= len(lines) || shown == most {
			break
		}
		has := lines[at-1+i]
		if has == s || len(sent) == 1 && strings.Contains(has, s) || i == 0 && len(sent) > 1 && strings.HasSuffix(has, s) || i > 0 && i == len(sent)-1 && strings.HasPrefix(has, s) {
			continue
		}
		shown++
		fmt.Fprintf(&b, "\n  sent      %s\n  line %-4d %s", visible(s), at+i, visible(has))
	}
	b.WriteString("\nCopy it exactly as the file has it (· is a blank, → a tab, ␍ a carriage return).")
	return b.String()
}

func lineRange(first, n int) string {
	if n <= 1 {
		return fmt.Sprintf("line %d", first)
	}
	return fmt.Sprintf("lines %d-%d", first, first+n-1)
}

// visible shows blanks, and names characters that look like others or like nothing.
func visible(line string) string {
	const most = 160
	var b strings.Builder
	for _, r := range clip(showBytes(line), most) {
		switch {
		case r == ' ':
			b.WriteRune('·')
		case r == '\t':
			b.WriteRune('→')
		case r == '\r':
			b.WriteRune('␍')
		case unicode.IsSpace(r), unicode.Is(unicode.Mn, r), unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// nearLines finds the place that shares most lines with old.
func nearLines(text, old string) string {
	lines, sent := splitLines([]byte(text)), splitLines([]byte(old))
	if len(sent) < 2 {
		return ""
	}
	at := map[string][]int{}
	for i, l := range sent {
		if key := strings.TrimSpace(string(l)); len(key) > 2 {
			at[key] = append(at[key], i)
		}
	}
	votes, best := map[int]int{}, 0
	for j, l := range lines {
		key := strings.TrimSpace(string(l))
		for _, i := range at[key] {
			votes[j-i] += len(key)
			if v := votes[j-i]; v > votes[best] || v == votes[best] && j-i < best {
				best = j - i
			}
		}
	}
	if votes[best] == 0 {
		return ""
	}
	from, to := max(best-len(sent)/2-1, 0), min(best+len(sent)+len(sent)/2+1, len(lines))
	pairs := matchLines(sent, lines[from:to])
	if len(pairs) == 0 { // they differ in blanks at least
		pairs = [][2]int{{0, max(best, 0) - from}, {len(sent) - 1, min(best+len(sent), len(lines)) - 1 - from}}
	}
	first, last := pairs[0], pairs[len(pairs)-1]
	start := max(from+first[1]-first[0], 0)
	end := min(from+last[1]+len(sent)-last[0], len(lines))
	var b strings.Builder
	fmt.Fprintf(&b, "the nearest text is at %s (- was sent, + is in the file):", lineRange(start+1, end-start))
	has := bytes.Join(lines[start:end], nil)
	// Whether the last line ends is no difference that matters here.
	has, was := append(bytes.TrimSuffix(has, []byte("\n")), '\n'), []byte(strings.TrimSuffix(old, "\n")+"\n")
	left := changedLines
	for _, h := range Hunks(was, has, 1) {
		for _, l := range h.Lines {
			if left--; left < 0 {
				return b.String()
			}
			b.WriteString("\n" + clip(showBytes(l), changedWidth))
		}
	}
	return b.String()
}

// nearLine finds the line that is most like the longest line of old.
func nearLine(text, old string) string {
	longest := ""
	for l := range strings.SplitSeq(old, "\n") {
		if len(strings.TrimSpace(l)) > len(longest) {
			longest = strings.TrimSpace(l)
		}
	}
	want := likenessTo(longest)
	best, bestLine, bestAt := 0.5, "", 0 // less than half alike is no help
	n := 0
	for l := range strings.SplitSeq(text, "\n") {
		n++
		if s := want.of(strings.TrimSpace(l)); s > best {
			best, bestLine, bestAt = s, l, n
		}
	}
	if bestAt == 0 {
		return "no similar text is in the file; read it again"
	}
	return fmt.Sprintf("the nearest line is\n  sent      %s\n  line %-4d %s", clip(longest, changedWidth), bestAt, clip(showBytes(strings.TrimSpace(bestLine)), changedWidth))
}

// likeness compares lines with a wanted one by the pairs of bytes that they share.
type likeness struct {
	length     int
	want, left [1 << 16]uint16 // how often each pair occurs; those not yet found in a line
}

func likenessTo(text string) *likeness {
	l := &likeness{length: len(text)}
	for i := range max(len(text)-1, 0) {
		l.want[pair(text, i)]++
	}
	l.left = l.want
	return l
}

func pair(text string, i int) int { return int(text[i])<<8 | int(text[i+1]) }

// of is the share of pairs that a line has in common with the wanted one, from 0 to 1.
// Lines of quite another length are not looked at.
func (l *likeness) of(line string) float64 {
	if len(line) < 2 || l.length < 2 || len(line) > 3*l.length || l.length > 3*len(line) || !utf8.ValidString(line) {
		return 0
	}
	both := 0
	for i := range len(line) - 1 {
		if p := pair(line, i); l.left[p] > 0 {
			l.left[p]--
			both++
		}
	}
	for i := range len(line) - 1 {
		p := pair(line, i)
		l.left[p] = l.want[p]
	}
	return 2 * float64(both) / float64(len(line)-1+l.length-1)
}
