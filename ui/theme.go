package ui

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/phero-agent/agent/ui/diff"
	"github.com/phero-agent/agent/ui/md"
	"github.com/phero-agent/agent/ui/text"
	"github.com/phero-agent/agent/ui/text/syntax"
)

// theme is the roles of colours and the signs, as the terminal can show
// them. The renderer brings the colours down to what the terminal has; under
// NO_COLOR only bold, faint and reverse are left, so a sign or a word always
// says the same as a colour.
type theme struct {
	dim, accent, user, ok, fail, warn text.Style
	bold, selected                    text.Style

	sign signs
	keys map[string]string // other keys than those of the table, by these
	md   *md.Theme
	diff *diff.Theme
}

// signs are the symbols of the chrome, all of one cell.
type signs struct {
	running, done, failed, denied, waiting, warning string
	current, pending                                string
	user, prompt, line, thumb, track                string
	selection, ellipsis, folded, unfolded           string
	minus, dot, down, dash, block                   string
	upDown, leftRight, up                           string
	spinner                                         []string
}

func unicodeSigns() signs {
	return signs{
		running: "●", done: "✓", failed: "✗", denied: "⊘", waiting: "?", warning: "▲",
		current: "▸", pending: "·",
		user: "▌", prompt: "›", line: "─", thumb: "┃", track: "│",
		selection: "▎", ellipsis: "…", folded: "▸", unfolded: "▾",
		minus: "−", dot: "·", down: "↓", dash: "—", block: "█",
		upDown: "↑↓", leftRight: "←→", up: "↑",
		spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
	}
}

func asciiSigns() signs {
	return signs{
		running: "*", done: "+", failed: "x", denied: "/", waiting: "?", warning: "!",
		current: ">", pending: "-",
		user: "|", prompt: ">", line: "-", thumb: "#", track: "|",
		selection: "|", ellipsis: "~", folded: ">", unfolded: "v",
		minus: "-", dot: "-", down: "v", dash: "-", block: "#",
		upDown: "up/down", leftRight: "left/right", up: "up",
		spinner: []string{"|", "/", "-", "\\"},
	}
}

// newTheme makes the theme "dark", "light" or "contrast" for the given colours.
// Contrast has no faint text, and leaves the choice of colours to the terminal.
func newTheme(name string, ascii bool, profile colorprofile.Profile) *theme {
	t := &theme{
		bold: style(lipgloss.NewStyle().Bold(true)), dim: style(lipgloss.NewStyle().Faint(true)), selected: style(lipgloss.NewStyle().Reverse(true)),
		fail: colored(lipgloss.Red), ok: colored(lipgloss.Green), warn: colored(lipgloss.Yellow),
		user: colored(lipgloss.Blue), accent: colored(lipgloss.Cyan),
		sign: unicodeSigns(),
		md:   &md.Theme{Link: style(lipgloss.NewStyle().Underline(true)), Syntax: syntax.Light(), ASCII: ascii},
		diff: &diff.Theme{Syntax: syntax.Light(), ASCII: ascii},
	}
	if ascii {
		t.sign = asciiSigns()
	}
	switch name {
	case "dark":
		t.user = colored(lipgloss.BrightBlue)
		t.md.Syntax, t.diff.Syntax = syntax.Dark(), syntax.Dark()
	case "contrast":
		t.dim, t.user, t.accent = "", t.bold, t.bold
		t.fail, t.ok, t.warn = t.bold.With(t.fail), t.bold.With(t.ok), t.bold.With(t.warn)
		t.md.Syntax, t.diff.Syntax = syntax.Theme{}, syntax.Theme{}
		t.diff.AddWord = style(lipgloss.NewStyle().Bold(true).Underline(true))
		t.diff.DelWord = t.diff.AddWord
	}
	if profile >= colorprofile.ANSI256 && name != "contrast" { // with 16 colours the signs and green and red say it
		t.tints("#dafbe1", "#ffebe9", "#aceebb", "#ffcecb")
		if name == "dark" {
			t.tints("#143422", "#431a1e", "#1d5735", "#70262c")
		}
	}
	t.share()
	return t
}

func style(s lipgloss.Style) text.Style { return text.StyleOf(s.Render) }

func colored(c color.Color) text.Style { return style(lipgloss.NewStyle().Foreground(c)) }

// tints sets the backgrounds of a diff: of lines, and of the words that changed in them.
func (t *theme) tints(add, del, addWord, delWord string) {
	on := func(c string) lipgloss.Style { return lipgloss.NewStyle().Background(lipgloss.Color(c)) }
	t.diff.AddLine, t.diff.DelLine = style(on(add)), style(on(del))
	t.diff.AddWord, t.diff.DelWord = style(on(addWord).Bold(true)), style(on(delWord).Bold(true))
}

// share gives the roles to what draws Markdown and diffs.
func (t *theme) share() {
	t.md.Heading, t.md.Code, t.md.URL, t.md.Quote = t.bold.With(t.accent), t.accent, t.dim, t.dim
	t.md.Marker, t.md.Rule = t.dim, t.dim
	t.diff.Add, t.diff.Del, t.diff.Number, t.diff.Gap, t.diff.Mark = t.ok, t.fail, t.dim, t.dim, t.warn
}

// key is the key that does what a key of the table does.
func (t *theme) key(name string) string {
	if other, ok := t.keys[name]; ok {
		return t.words(other)
	}
	return t.words(strings.ReplaceAll(name, "+up", "+↑"))
}

// words replaces arrows by their names where there is only ASCII.
func (t *theme) words(s string) string {
	if t.sign.up == "↑" {
		return s
	}
	return strings.NewReplacer("↑", "up", "↓", "down", "←", "left", "→", "right").Replace(s)
}
