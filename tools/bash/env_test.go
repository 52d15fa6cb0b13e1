package bash

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestDefaultEnvAllowlist(t *testing.T) { // BASH-21
	t.Parallel()
	list := DefaultEnvAllowlist()
	for _, name := range []string{"PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR"} {
		if !slices.Contains(list, name) {
			t.Errorf("%s is missing", name)
		}
	}
	secret := regexp.MustCompile(`KEY|TOKEN|SECRET|PASSWORD|SOCK|PROXY|AWS|GITHUB|DOCKER|KUBE|HISTFILE|^LD_`)
	for _, name := range list {
		if secret.MatchString(name) || startsCode(name) {
			t.Errorf("%s is in the list", name)
		}
	}
	if list[0] = "X"; DefaultEnvAllowlist()[0] == "X" {
		t.Error("the list is shared")
	}
}

// environment is what env prints, by name.
func environment(t *testing.T, b *Tool) map[string]string {
	t.Helper()
	env := map[string]string{}
	for entry := range strings.SplitSeq(run(t, b, "env -0").Output, "\x00") {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[name] = value
		}
	}
	for _, name := range []string{"_", "PWD", "SHLVL", "OLDPWD", markerName} { // bash's own, and the tool's
		delete(env, name)
	}
	return env
}

func TestEnvironment(t *testing.T) { // BASH-20, BASH-22, BASH-23, SBX-13, S12, B9
	t.Setenv("SECRET_API_KEY", "sk-1")
	t.Setenv("SSH_AUTH_SOCK", "/tmp/agent")
	t.Setenv("LANG", "C.UTF-8")
	for name, v := range map[string]string{ // B10
		"BASH_ENV": "/tmp/evil", "ENV": "/tmp/evil", "BASH_FUNC_ls%%": "() { echo evil; }", "PS4": "$(id)",
		"SHELLOPTS": "xtrace", "BASHOPTS": "extglob", "PROMPT_COMMAND": "id", "CDPATH": "/", "GLOBIGNORE": "*", "POSIXLY_CORRECT": "1",
	} {
		t.Setenv(name, v)
	}
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		inside := strings.HasSuffix(t.Name(), "bubblewrap")
		for _, tt := range []struct {
			name   string
			opts   []Option
			secret bool
			given  string
			exact  []string
		}{
			{"default", nil, !inside, "", nil},
			{"env", []Option{WithEnv("GIVEN=x=y\nz", "EMPTY=", "GIVEN=2=\n3")}, !inside, "2=\n3", nil}, // B11
			{"allowlist", []Option{WithEnvAllowlist("PATH", "NOT_SET"), WithEnvAllowlist("LANG")}, false, "", []string{"LANG", "PATH"}},
			{"both", []Option{WithEnvAllowlist("PATH"), WithEnv("GIVEN=1")}, false, "1", []string{"GIVEN", "PATH"}},
			{"wins", []Option{WithEnvAllowlist("LANG"), WithEnv("LANG=xx")}, false, "", []string{"LANG"}},
			{"none", []Option{WithEnvAllowlist()}, false, "", []string{}},
		} {
			env := environment(t, make(tt.opts...))
			if _, ok := env["SECRET_API_KEY"]; ok != tt.secret {
				t.Errorf("%s: the secret is there: %v", tt.name, ok)
			}
			if _, ok := env["SSH_AUTH_SOCK"]; ok != tt.secret {
				t.Errorf("%s: the agent's socket is there: %v", tt.name, ok)
			}
			if env["GIVEN"] != tt.given {
				t.Errorf("%s: GIVEN is %q", tt.name, env["GIVEN"])
			}
			if tt.name == "wins" && env["LANG"] != "xx" {
				t.Errorf("LANG is %q", env["LANG"])
			}
			if _, ok := env["EMPTY"]; ok != (tt.name == "env") {
				t.Errorf("%s: EMPTY", tt.name)
			}
			for name := range env {
				if startsCode(name) {
					t.Errorf("%s: %s is there", tt.name, name)
				}
				if tt.exact != nil && !slices.Contains(tt.exact, name) {
					t.Errorf("%s: %s is there", tt.name, name)
				}
			}
			if tt.exact != nil && len(env) != len(tt.exact) {
				t.Errorf("%s: %v", tt.name, env)
			}
		}
	})
}

func TestInvalidEnv(t *testing.T) { // BASH-23, B11
	t.Parallel()
	for _, e := range []string{"A", "", "=x", "A=\x00", "BASH_ENV=/x", "BASH_FUNC_ls%%=() { :; }"} {
		if _, err := New(WithEnv(e)); !errors.Is(err, ErrInvalidEnv) {
			t.Errorf("%q: %v", e, err)
		}
	}
}

func TestLocale(t *testing.T) { // B12
	for _, lang := range []string{"C", "tr_TR.UTF-8"} {
		t.Setenv("LANG", lang)
		t.Setenv("LC_ALL", lang)
		if out := run(t, newTool(t), "printf 'I é%s\\n' i"); !strings.HasSuffix(out.Output, "I éi\n") {
			t.Errorf("%s: %q", lang, out.Output)
		}
	}
}
