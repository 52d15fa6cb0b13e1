package ui

import "slices"

const maxCuts = 60 // pieces that the ring keeps

// killRing is what was cut, for putting it in again: ctrl+y the newest piece,
// alt+y after it the one before. Cuts in a row are one piece.
type killRing struct {
	cuts   []string // oldest first
	at     int      // the piece that was put in last
	inRow  bool     // the key before was a cut
	yanked bool     // the key before put a piece in
}

// cutKeys are the keys that cut, with whether they cut before the cursor.
func cutKey(k string) (cuts, before bool) {
	switch k {
	case "ctrl+u", "ctrl+w", "alt+backspace", "ctrl+backspace":
		return true, true
	case "ctrl+k", "alt+d", "alt+delete", "ctrl+delete":
		return true, false
	}
	return false, false
}

// cut keeps a piece; before says on which side of the pieces in a row it stood.
func (r *killRing) cut(s string, before bool) {
	last := len(r.cuts) - 1
	switch {
	case s == "":
		return
	case r.inRow && last >= 0 && before:
		r.cuts[last] = s + r.cuts[last]
	case r.inRow && last >= 0:
		r.cuts[last] += s
	default:
		r.cuts = append(r.cuts, s)
		if n := len(r.cuts) - maxCuts; n > 0 {
			r.cuts = slices.Delete(r.cuts, 0, n)
		}
	}
	r.inRow = true
}

// newest is the piece that was cut last.
func (r *killRing) newest() (string, bool) {
	r.at = len(r.cuts) - 1
	if r.at < 0 {
		return "", false
	}
	return r.cuts[r.at], true
}

// older is the piece before the one that was put in last; before the oldest
// stands the newest.
func (r *killRing) older() (string, bool) {
	if !r.yanked || len(r.cuts) < 2 {
		return "", false
	}
	r.at = (r.at + len(r.cuts) - 1) % len(r.cuts)
	return r.cuts[r.at], true
}

// other says that a key came that neither cuts nor puts in.
func (r *killRing) other() { r.inRow, r.yanked = false, false }
