package ui

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/ui/text"
)

const (
	noticeFor = 4 * time.Second
	fullFrom  = 80 // per cent of the context window
)

// status is the last row: what goes on at the left, where at the right.
type status struct {
	state   app.State
	usage   session.Usage
	window  int
	cost    float64 // dollars
	mode    permissions.Mode
	running bool
	since   time.Time // the turn, or the question
	doing   string    // what the model does, in words
	retry   *app.Retrying
	notice  app.Notice
	until   time.Time // of the notice; zero: until a key comes
	hint    string    // instead of everything at the left, as "again to quit"

	estimated bool // the usage
	alone     bool // what runs is no turn
}

// say shows a notice: a transient one for a while, an error until a key comes.
func (s *status) say(n app.Notice, now time.Time) {
	s.notice, s.until = n, time.Time{}
	if n.Level != app.Error {
		s.until = now.Add(noticeFor)
	}
}

// retract drops a notice that is no longer true.
func (s *status) retract(words string) {
	if s.notice.Text == words {
		s.notice, s.until = app.Notice{}, time.Time{}
	}
}

// pressed drops what stays until a key comes.
func (s *status) pressed() {
	if s.until.IsZero() {
		s.notice = app.Notice{}
	}
}

// expired says whether a notice's time is over, and drops it.
func (s *status) expired(now time.Time) {
	if !s.until.IsZero() && !now.Before(s.until) {
		s.notice, s.until = app.Notice{}, time.Time{}
	}
}

// view draws the row in w columns. spin is the spinner's present sign.
func (s *status) view(t *theme, w int, now time.Time, spin string) string {
	if s.mode == permissions.ModeYolo { // red, and never dropped (decision 1)
		sign := t.fail.With(t.selected).Render(" YOLO ")
		return sign + " " + s.row(t, max(0, w-7), now, spin)
	}
	return s.row(t, w, now, spin)
}

func (s *status) row(t *theme, w int, now time.Time, spin string) string {
	left := s.left(t, w, now, spin)
	right := s.right(t, w, text.Width(left))
	gap := max(1, w-text.Width(left)-text.Width(right))
	if text.Width(left)+text.Width(right)+1 > w {
		return text.Truncate(left, w, t.sign.ellipsis)
	}
	return left + strings.Repeat(" ", gap) + right
}

func (s *status) left(t *theme, w int, now time.Time, spin string) string {
	switch {
	case s.hint != "":
		return t.warn.Render(s.hint)
	case s.notice.Text != "":
		style, word := t.dim, ""
		switch s.notice.Level {
		case app.Warning:
			style = t.warn
		case app.Error:
			style, word = t.fail, t.sign.failed+" "
		}
		return style.Render(text.Truncate(word+text.Line(s.notice.Text), w, t.sign.ellipsis))
	case !s.running:
		return t.dim.Render("? keys")
	}
	parts := []string{spin + " " + s.what(now)}
	parts = append(parts, clock(now.Sub(s.since)))
	stop := "esc to stop"
	if w < plainBelowW {
		stop = "esc stop"
	}
	if s.doing != waitingForYou {
		parts = append(parts, stop)
	}
	if s.retry != nil {
		parts = append(parts, text.Line(s.retry.Reason))
	}
	return strings.Join(parts, " "+t.sign.dot+" ")
}

const waitingForYou = "Waiting for you"

func (s *status) what(now time.Time) string {
	if s.retry != nil {
		return "Trying again in " + clock(s.retry.Until.Sub(now)+time.Second-1) // rounded up: it never says that it waits for nothing
	}
	if s.doing == "" {
		return "Thinking"
	}
	return s.doing
}

// right lists what fits, the least important first; it is dropped first.
func (s *status) right(t *theme, w, left int) string {
	var parts []string
	add := func(p string) {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if s.state.Root {
		add("root")
	}
	if s.state.Workspace != "" && w >= 100 {
		where := text.Line(filepath.Base(s.state.Workspace))
		if s.state.Branch != "" {
			where += " " + text.Line(s.state.Branch)
		}
		add(where)
	}
	sandbox := sandboxName(s.state)
	if canAuto(s.state) { // as it should be: the first of the two to go
		add(sandbox)
	}
	if s.mode != permissions.ModeYolo {
		add(modeName(s.mode))
	}
	if !canAuto(s.state) {
		add(sandbox)
	}
	model := text.Line(s.state.Model)
	if s.state.Scripted {
		model = "script: no model"
	}
	add(model)
	if s.cost > 0 && w >= 100 {
		add(dollars(s.cost))
	}
	percent := s.percent(w)
	for {
		shown := parts
		if percent != "" {
			shown = append(append([]string(nil), parts...), percent)
		}
		out := strings.Join(shown, " "+t.sign.dot+" ")
		if text.Width(out)+left+2 <= w || len(shown) == 0 {
			if s.full() {
				return t.dim.Render(strings.TrimSuffix(out, percent)) + t.warn.Render(percent)
			}
			return t.dim.Render(out)
		}
		if len(parts) == 0 {
			return ""
		}
		parts = parts[1:]
	}
}

func (s *status) used() int {
	if s.window <= 0 {
		return 0
	}
	return min(100, (s.usage.Input+s.usage.Output)*100/s.window)
}

func (s *status) full() bool { return s.used() >= fullFrom }

// percent says how full the context window is.
func (s *status) percent(w int) string {
	about := ""
	if s.estimated {
		about = "~"
	}
	switch {
	case s.window <= 0 || s.usage.Input == 0:
		return ""
	case s.full():
		return fmt.Sprintf("%s%d%% full", about, s.used())
	case w < 100:
		return fmt.Sprintf("%s%d%%", about, s.used())
	}
	return fmt.Sprintf("%s%d%% of %s", about, s.used(), app.Tokens(s.window))
}

// clock is a time as 0:41 or 1:02:03.
func clock(d time.Duration) string {
	s := int(max(0, d).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// doingCall says that a call of a tool is arriving.
func doingCall(tool string, bytes int) string {
	return fmt.Sprintf("Writing %s %s", text.Line(tool), text.Size(int64(bytes)))
}
