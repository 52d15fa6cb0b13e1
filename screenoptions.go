package main

import (
	"strconv"
	"strings"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/ui"
)

// screenOptions are the settings of the screen, with what the environment tells of
// the terminal.
func screenOptions(s config.UI, getenv func(string) string) ui.Options {
	return ui.Options{
		Theme: s.Theme, Colors: s.Colors, Keys: s.Keys, Vim: s.Vim, Still: !s.Motion, Mouse: s.Mouse,
		Notify: notifier(s.Notify, getenv), Progress: showsProgress(getenv),
		Light: lightByEnv(getenv), ASCII: ascii(getenv), Plain: s.Plain || getenv("TERM") == "dumb",
	}
}

// notifier is how this terminal tells of something while it has not the focus; ""
// is not at all. Within tmux and screen only the bell gets through.
func notifier(setting string, getenv func(string) string) string {
	if setting == "off" {
		return ""
	}
	if setting != "auto" {
		return setting
	}
	term := getenv("TERM")
	switch {
	case getenv("TMUX") != "" || strings.HasPrefix(term, "screen") || strings.HasPrefix(term, "tmux"):
		return "bell"
	case strings.HasPrefix(term, "foot") || strings.HasPrefix(term, "rxvt-unicode"):
		return "osc777"
	}
	switch getenv("TERM_PROGRAM") {
	case "ghostty", "iTerm.app", "WezTerm":
		return "osc9"
	}
	if term == "xterm-kitty" || term == "xterm-ghostty" {
		return "osc9"
	}
	return "bell"
}

// showsProgress tells whether the terminal takes OSC 9;4 for progress; others take
// it for a notification.
func showsProgress(getenv func(string) string) bool {
	if getenv("TMUX") != "" {
		return false
	}
	return getenv("WT_SESSION") != "" || getenv("ConEmuANSI") == "ON" || getenv("TERM") == "xterm-ghostty" || getenv("TERM_PROGRAM") == "WezTerm"
}

// lightByEnv is what COLORFGBG says of the background, for a terminal that does not
// answer.
func lightByEnv(getenv func(string) string) bool {
	v := getenv("COLORFGBG")
	n, err := strconv.Atoi(v[strings.LastIndexByte(v, ';')+1:])
	return err == nil && (n == 7 || n > 8 && n < 16)
}

// ascii tells whether the locale cannot show more, or the person wants no more.
func ascii(getenv func(string) string) bool {
	if getenv("AGENT_ASCII") == "1" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(name); v != "" {
			v = strings.ToLower(v)
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}
