package ui

import "testing"

// UI-18: ui.md, Layout.
func TestArrange(t *testing.T) {
	tests := []struct {
		name string
		in   wishes
		want layout
	}{
		{"wide", wishes{w: 120, h: 40, side: true, todo: true, composer: 1}, layout{main: 36, composer: 1, gap: 1, mainW: 85, sideW: 34}},
		{"wide, nothing at the side", wishes{w: 120, h: 40, composer: 1}, layout{main: 36, composer: 1, gap: 1, mainW: 120}},
		{"usual", wishes{w: 80, h: 24, side: true, todo: true, composer: 1, queued: 1}, layout{main: 17, todoRow: 1, queue: 1, composer: 1, gap: 1, mainW: 80}},
		{"queue of many", wishes{w: 80, h: 24, composer: 1, queued: 9}, layout{main: 16, queue: 3, composer: 1, gap: 1, mainW: 80}},
		{"long text", wishes{w: 80, h: 24, composer: 30}, layout{main: 13, composer: 8, gap: 1, mainW: 80}},
		{"long text, low", wishes{w: 80, h: 15, composer: 30}, layout{main: 9, composer: 3, gap: 1, mainW: 80}},
		{"small", wishes{w: 40, h: 10, side: true, todo: true, composer: 1}, layout{main: 6, composer: 1, gap: 1, mainW: 40}},
		{"least", wishes{w: 20, h: 6, composer: 8}, layout{main: 2, composer: 2, mainW: 20}},
		{"too narrow", wishes{w: 19, h: 40}, layout{tooSmall: true, mainW: 19}},
		{"too low", wishes{w: 80, h: 5}, layout{tooSmall: true, mainW: 80}},
		{"sheet", wishes{w: 80, h: 24, sheet: 9, composer: 3}, layout{main: 13, sheet: 9, gap: 1, mainW: 80}},
		{"sheet of at least 6", wishes{w: 80, h: 24, sheet: 2}, layout{main: 16, sheet: 6, gap: 1, mainW: 80}},
		{"sheet of at most 60 %", wishes{w: 80, h: 40, sheet: 99}, layout{main: 14, sheet: 24, gap: 1, mainW: 80}},
		{"sheet, full", wishes{w: 80, h: 40, sheet: 9, full: true}, layout{sheet: 38, gap: 1, mainW: 80}},
		{"sheet, low", wishes{w: 40, h: 10, sheet: 9}, layout{sheet: 8, gap: 1, mainW: 40}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := arrange(tt.in); got != tt.want {
				t.Errorf("arrange(%+v)\n got %+v\nwant %+v", tt.in, got, tt.want)
			}
		})
	}
}

func TestArrangeUsesEveryRow(t *testing.T) {
	for w := leastW; w < 150; w += 13 {
		for h := leastH; h < 60; h++ {
			for _, q := range []wishes{{}, {todo: true, queued: 5, composer: 9}, {side: true, sheet: 30}, {sheet: 4, full: true}, {composer: 3, queued: 1}} {
				q.w, q.h, q.composer = w, h, max(1, q.composer)
				l := arrange(q)
				rows := l.main + l.todoRow + l.sheet + l.gap + 1
				if l.sheet == 0 {
					rows += l.composer + 1
				}
				if l.queue > 0 {
					rows += l.queue + 1
				}
				if rows != h {
					t.Fatalf("arrange(%+v) = %+v: %d rows of %d", q, l, rows, h)
				}
				if l.main < 0 || l.sheet == 0 && (l.composer < 1 || l.main < 1) {
					t.Fatalf("arrange(%+v) = %+v: no room for the transcript or the text", q, l)
				}
			}
		}
	}
}
