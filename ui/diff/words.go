package diff

import (
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// maxWords is the length in bytes of a line in which changes are looked for
// character by character; of a longer one everything between what is the same
// at its ends counts as changed.
const maxWords = 600

// span is a range of bytes of a line.
type span struct{ from, to int }

// changes returns what changed between two lines: ranges of a that went, ranges
// of b that came.
func changes(a, b string) (gone, come []span) {
	if len(a) > maxWords || len(b) > maxWords || !utf8.ValidString(a) || !utf8.ValidString(b) {
		return middle(a, b)
	}
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // else the result depends on the machine's load
	diffs := d.DiffCleanupSemanticLossless(d.DiffCleanupSemantic(d.DiffMain(a, b, false)))
	i, j := 0, 0
	for _, e := range diffs {
		n := len(e.Text)
		switch e.Type {
		case diffmatchpatch.DiffDelete:
			gone = append(gone, span{i, i + n})
			i += n
		case diffmatchpatch.DiffInsert:
			come = append(come, span{j, j + n})
			j += n
		default:
			i += n
			j += n
		}
	}
	return gone, come
}

// middle returns what is between the common beginning and end of two lines.
func middle(a, b string) (gone, come []span) {
	pre := commonPrefix(a, b)
	for pre > 0 && pre < len(a) && !utf8.RuneStart(a[pre]) {
		pre--
	}
	suf := commonSuffix(a[pre:], b[pre:])
	for suf > 0 && !utf8.RuneStart(a[len(a)-suf]) {
		suf--
	}
	if pre+suf < len(a) {
		gone = []span{{pre, len(a) - suf}}
	}
	if pre+suf < len(b) {
		come = []span{{pre, len(b) - suf}}
	}
	return gone, come
}
