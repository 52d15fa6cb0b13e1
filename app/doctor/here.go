package doctor

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Sandbox examines what commands run in. find is [app.CheckSandbox] with its options.
func Sandbox(wanted string, find func(context.Context) (string, error)) Check {
	return func(ctx context.Context, tell func(Finding)) {
		name, err := find(ctx)
		switch {
		case name == "bwrap":
			tell(Finding{OK, "sandbox", "commands run in bubblewrap, without network", ""})
		case name == "landlock":
			tell(Finding{Note, "sandbox", "commands run in Landlock, which covers less", "install bubblewrap and allow user namespaces"})
		case wanted == "none":
			tell(Finding{Note, "sandbox", "off (--sandbox=none): commands run with your rights", ""})
		default:
			tell(Finding{Bad, "sandbox", fmt.Sprint(err), "install bubblewrap (apt install bubblewrap), or use --sandbox=none"})
		}
	}
}

// Terminal examines whether the screen can be shown.
func Terminal(interactive bool, getenv func(string) string) Check {
	return func(_ context.Context, tell func(Finding)) {
		term := getenv("TERM")
		switch {
		case !interactive:
			tell(Finding{Note, "terminal", "there is none here", "agent -p works without"})
		case term == "dumb":
			tell(Finding{Note, "terminal", "TERM is \"dumb\": everything is shown line by line, as with --plain", "for the screen set TERM, as xterm-256color"})
		case term == "":
			tell(Finding{Bad, "terminal", fmt.Sprintf("TERM is %q: the screen cannot be shown", term), "set TERM, as xterm-256color"})
		case !utf8Locale(getenv):
			tell(Finding{Note, "terminal", term + ", and the locale is not UTF-8: plain signs are used", "set LANG, as C.UTF-8"})
		default:
			tell(Finding{OK, "terminal", term, ""})
		}
	}
}

func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true // unset: most terminals can
}

// Git examines git and whether the workspace is a repository.
func Git(repository bool) Check {
	return func(ctx context.Context, tell func(Finding)) {
		out, err := exec.CommandContext(ctx, "git", "--version").Output()
		version := strings.TrimSpace(string(out))
		switch {
		case err != nil:
			tell(Finding{Note, "git", "it is not installed", "the agent works without; its commands cannot use it"})
		case !repository:
			tell(Finding{Note, "git", version + "; this directory is in no repository", "the directory itself is the workspace"})
		default:
			tell(Finding{OK, "git", version, ""})
		}
	}
}
