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
	dark bool

	dim, accent, user, ok, fail, warn text.Style
	bold, selected                    text.Style

	sign signs
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

// newTheme makes the theme of a dark or light terminal with the given colours.
func newTheme(dark, ascii bool, profile colorprofile.Profile) *theme {
	t := &theme{
		dark: dark,
		bold: "1", dim: "2", selected: "7",
		fail: "31", ok: "32", warn: "33", user: "34", accent: "36",
		sign: unicodeSigns(),
	}
	if ascii {
		t.sign = asciiSigns()
	}
	if dark {
		t.user = "94"
	}
	t.md = &md.Theme{
		Heading: t.bold.With(t.accent), Code: t.accent, Link: "4", URL: t.dim, Quote: t.dim,
		Marker: t.dim, Rule: t.dim, Syntax: syntax.Light(), ASCII: ascii,
	}
	t.diff = &diff.Theme{
		Add: t.ok, Del: t.fail, Number: t.dim, Gap: t.dim, Mark: t.warn,
		Syntax: syntax.Light(), ASCII: ascii,
	}
	if dark {
		t.md.Syntax, t.diff.Syntax = syntax.Dark(), syntax.Dark()
	}
	if profile >= colorprofile.ANSI256 { // with 16 colours the signs and green and red say it
		t.diff.AddLine, t.diff.DelLine = "48;2;218;251;225", "48;2;255;235;233"
		t.diff.AddWord, t.diff.DelWord = "1;48;2;172;238;187", "1;48;2;255;206;203"
		if dark {
			t.diff.AddLine, t.diff.DelLine = "48;2;20;52;34", "48;2;67;26;30"
			t.diff.AddWord, t.diff.DelWord = "1;48;2;29;87;53", "1;48;2;112;38;44"
		}
	}
	return t
}

// words replaces arrows by their names where there is only ASCII.
func (t *theme) words(s string) string {
	if t.sign.up == "↑" {
		return s
	}
	return strings.NewReplacer("↑", "up", "↓", "down", "←", "left", "→", "right").Replace(s)
}
