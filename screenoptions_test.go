package main

import (
	"testing"

	"github.com/phero-agent/agent/app/config"
)

// What the environment tells of the terminal decides where the settings leave it open.
func TestScreenOptions(t *testing.T) {
	for _, tt := range []struct {
		name, notify    string
		env             map[string]string
		wantNotify      string
		light, progress bool
		plain           bool
	}{
		{name: "xterm", env: map[string]string{"TERM": "xterm-256color"}, wantNotify: "bell"},
		{name: "ghostty", env: map[string]string{"TERM": "xterm-ghostty"}, wantNotify: "osc9", progress: true},
		{name: "ghostty in tmux", env: map[string]string{"TERM": "tmux-256color", "TMUX": "/tmp/x", "TERM_PROGRAM": "tmux"}, wantNotify: "bell"},
		{name: "foot", env: map[string]string{"TERM": "foot"}, wantNotify: "osc777"},
		{name: "kitty over ssh", env: map[string]string{"TERM": "xterm-kitty"}, wantNotify: "osc9"},
		{name: "set", notify: "osc777", env: map[string]string{"TERM": "xterm"}, wantNotify: "osc777"},
		{name: "off", notify: "off", env: map[string]string{"TERM": "xterm-kitty"}},
		{name: "light", env: map[string]string{"COLORFGBG": "0;15"}, wantNotify: "bell", light: true},
		{name: "rxvt's light", env: map[string]string{"COLORFGBG": "0;default;7"}, wantNotify: "bell", light: true},
		{name: "dark", env: map[string]string{"COLORFGBG": "15;0"}, wantNotify: "bell"},
		{name: "grey", env: map[string]string{"COLORFGBG": "15;8"}, wantNotify: "bell"},
		{name: "dumb", env: map[string]string{"TERM": "dumb"}, wantNotify: "bell", plain: true}, // UI-23
	} {
		if tt.notify == "" {
			tt.notify = "auto"
		}
		o := screenOptions(config.UI{Notify: tt.notify}, func(name string) string { return tt.env[name] })
		if o.Notify != tt.wantNotify || o.Light != tt.light || o.Progress != tt.progress || o.Plain != tt.plain {
			t.Errorf("%s: notify %q, light %v, progress %v, plain %v", tt.name, o.Notify, o.Light, o.Progress, o.Plain)
		}
	}
}
