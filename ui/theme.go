package ui

import (
	"strings"

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
	running, done, failed, denied, waiting string
	current, pending                       string
	user, prompt, line, thumb, track       string
	selection, ellipsis, folded, unfolded  string
	minus, dot, down, dash, block          string
	upDown, leftRight, up                  string
	spinner                                []string
}

func unicodeSigns() signs {
	return signs{
		running: "●", done: "✓", failed: "✗", denied: "⊘", waiting: "?",
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
		running: "*", done: "x", failed: "!", denied: "/", waiting: "?",
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
		bold: "1", dim: "2", selected: "7",
		fail: "31", ok: "32", warn: "33", user: "34", accent: "36",
		sign: unicodeSigns(),
		md:   &md.Theme{Link: "4", Syntax: syntax.Light(), ASCII: ascii},
		diff: &diff.Theme{Syntax: syntax.Light(), ASCII: ascii},
	}
	if ascii {
		t.sign = asciiSigns()
	}
	switch name {
	case "dark":
		t.user = "94"
		t.md.Syntax, t.diff.Syntax = syntax.Dark(), syntax.Dark()
	case "contrast":
		t.dim, t.user, t.accent = "", "1", "1"
		t.fail, t.ok, t.warn = "1;31", "1;32", "1;33"
		t.md.Syntax, t.diff.Syntax = syntax.Theme{}, syntax.Theme{}
		t.diff.AddWord, t.diff.DelWord = "1;4", "1;4"
	}
	if profile >= colorprofile.ANSI256 && name != "contrast" { // with 16 colours the signs and green and red say it
		t.diff.AddLine, t.diff.DelLine = "48;2;218;251;225", "48;2;255;235;233"
		t.diff.AddWord, t.diff.DelWord = "1;48;2;172;238;187", "1;48;2;255;206;203"
		if name == "dark" {
			t.diff.AddLine, t.diff.DelLine = "48;2;20;52;34", "48;2;67;26;30"
			t.diff.AddWord, t.diff.DelWord = "1;48;2;29;87;53", "1;48;2;112;38;44"
		}
	}
	t.share()
	return t
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
