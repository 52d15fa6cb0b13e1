package ui

// The measures of the screen; ui.md has the drawings.
const (
	sideWidth    = 34 // columns of the side column, without its line
	sideFromW    = 110
	sideFromH    = 24
	todoRowFromH = 14
	smallH       = 16 // below it a sheet takes the whole screen
	gapFromH     = 10 // from it an empty row sets the status line apart
	leastW       = 20
	leastH       = 6
	plainBelowW  = 60 // below it details at the right go
)

// wishes is what the layout is made from.
type wishes struct {
	w, h     int
	side     bool // some pane has something to show
	todo     bool // the todo row has something to show
	composer int  // rows that the text wants
	queued   int  // messages that wait
	sheet    int  // rows that a dialog wants; 0: no dialog
	full     bool // the dialog wants the whole screen
}

// layout is how many rows and columns everything gets. Rows are listed from the
// top of the screen to its bottom.
type layout struct {
	tooSmall bool

	main     int // rows of the transcript and the side column
	todoRow  int // 0 or 1
	queue    int // queued messages that are shown, below a rule of their own
	composer int // rows of text, below a rule
	sheet    int // rows of a dialog, instead of the composer
	gap      int // 0 or 1
	// The status line is the last row, always.

	mainW int // columns of the transcript, with its margin
	sideW int // columns of the side column, without its line; 0: there is none
}

// arrange gives every part of the screen its place. It is pure.
func arrange(q wishes) layout {
	l := layout{mainW: q.w}
	if q.w < leastW || q.h < leastH {
		l.tooSmall = true
		return l
	}
	rows := q.h - 1
	if q.side && q.w >= sideFromW && q.h >= sideFromH {
		l.sideW = sideWidth
		l.mainW = q.w - sideWidth - 1
	}
	if q.h >= gapFromH {
		l.gap = 1
		rows--
	}
	if q.sheet > 0 {
		if q.full || q.h < smallH {
			l.sheet = rows
			return l
		}
		l.sheet = min(rows, max(6, min(q.sheet, q.h*60/100)))
		l.main = rows - l.sheet
		return l
	}
	most := 8
	if q.h < smallH {
		most = 3
	}
	l.composer = max(1, min(q.composer, most, rows-3))
	rows -= l.composer + 1
	if q.queued > 0 && rows >= 4 {
		l.queue = min(q.queued, 3, rows-3)
		rows -= l.queue + 1
	}
	if q.todo && l.sideW == 0 && q.h >= todoRowFromH {
		l.todoRow = 1
		rows--
	}
	l.main = rows
	return l
}
