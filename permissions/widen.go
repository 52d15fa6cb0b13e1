package permissions

import (
	"net/url"
	"path/filepath"
	"strings"
)

// Wider lists rules that allow more than a subject of the tool, the narrowest
// first, for a person who wants to be asked less. There is none for commands that
// destroy, send away, or run what their arguments say, such as rm, curl and
// shells, none for a subject with assignments, and none outside the working
// directory and the roots.
func (p *Policy) Wider(tool, subject string) []string {
	s := p.current()
	argument, known := s.subjects[tool]
	switch {
	case !known || strings.ContainsAny(subject, "*\n"):
		return nil
	case tool == "bash":
		return widerCommand(subject)
	case isPath(argument):
		return s.widerPath(tool, subject)
	case argument == "url":
		return widerURL(tool, subject)
	}
	return nil
}

// widerCommand keeps the program and its subcommand: "go test ./ui" becomes "go test *".
func widerCommand(subject string) []string {
	command, ok := ParseCommand(subject)
	if !ok {
		return nil
	}
	words := command.Words
	name := words[0].Text
	program := filepath.Base(name)
	if runsAnything(program) || destroys(program) {
		return nil
	}
	if !hasSubcommands(program) {
		return []string{"bash(" + name + " *)"}
	}
	if len(words) < 2 || words[1].Kind != Literal || !plainWord(words[1].Text) {
		return nil
	}
	sub := words[1].Text
	if runsArguments(program, sub) {
		return nil
	}
	if sub == "run" || sub == "run-script" { // npm run build
		if len(words) < 3 || words[2].Kind != Literal || !plainWord(words[2].Text) {
			return nil
		}
		sub += " " + words[2].Text
	}
	return []string{"bash(" + name + " " + sub + " *)"}
}

// plainWord tells whether a word needs no quotes and is no option.
func plainWord(s string) bool {
	return s != "" && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return notInName(r) && r != ':' && r != '/'
	})
}

// destroys tells whether a program removes, overwrites, changes rights or state,
// runs what it is given, or sends data away: a rule for all its arguments is never
// proposed.
func destroys(program string) bool {
	switch program {
	case "cd", "rm", "rmdir", "unlink", "shred", "dd", "truncate", "mv", "cp", "ln", "install", "tee", "sed", "find", "fd", "sponge",
		"chmod", "chown", "chgrp", "chattr", "setfacl", "mount", "umount", "mkfs", "fdisk", "parted", "wipefs", "crontab", "at",
		"kill", "pkill", "killall", "shutdown", "reboot", "halt", "poweroff", "systemctl", "service", "iptables",
		"curl", "wget", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "sftp", "scp", "rsync", "rclone", "gh", "glab", "hub",
		"aws", "gcloud", "az", "terraform", "tofu", "kubectl", "helm", "ansible", "ansible-playbook", "pulumi", "vagrant",
		"docker", "podman", "nerdctl", "psql", "mysql", "sqlite3", "mongo", "mongosh", "redis-cli",
		"apt", "apt-get", "dnf", "yum", "pacman", "apk", "brew", "snap", "dpkg", "rpm", "gem", "tar", "unzip", "7z", "cpio", "pax",
		"make", "just", "task", "rake", "ninja", "vi", "vim", "nvim", "emacs", "ed", "ex", "man", "less", "more", "git-shell", "gdb", "lldb",
		"m4", "sqlplus", "Rscript", "julia", "ghci", "runghc", "scala", "clojure", "elixir", "iex", "erl", "swift", "dotnet-script", "java", "jshell", "groovy", "kotlin",
		"tclsh", "guile", "racket", "sbcl", "ocaml", "ts-node", "tsx", "nodemon", "concurrently", "flock", "entr", "hyperfine", "perf", "valgrind", "tmux", "screen", "systemd-run",
		"dbus-run-session", "firejail", "bwrap", "fakeroot", "direnv", "nix", "nix-shell", "mise", "asdf", "conda", "tox", "nox", "act", "foreman", "wine", "mono", "qemu":
		return true
	}
	return strings.HasPrefix(program, "mkfs.")
}

// hasSubcommands tells whether a program's first argument says what it does.
func hasSubcommands(program string) bool {
	switch program {
	case "go", "git", "npm", "pnpm", "yarn", "cargo", "pip", "pip3", "uv", "poetry", "bundle", "mvn", "gradle", "dotnet", "composer", "mix",
		"rustup", "rebar3", "stack", "cabal", "bazel", "nx", "turbo", "hg", "svn", "jj", "flutter", "dart", "zig", "deno", "bun":
		return true
	}
	return false
}

// runsArguments tells whether a subcommand runs, removes or publishes what its
// arguments say, or changes settings.
func runsArguments(program, sub string) bool {
	switch program {
	case "go":
		return sub != "test" && sub != "build" && sub != "vet" && sub != "doc" && sub != "list" && sub != "fmt"
	case "git":
		switch sub {
		case "status", "diff", "log", "show", "blame", "add", "fetch", "grep", "ls-files", "stash", "describe", "shortlog", "rev-parse":
			return false
		}
		return true // push, reset, clean, checkout, rebase, config …
	}
	switch sub {
	case "run", "run-script":
		return program != "npm" && program != "pnpm" && program != "yarn" && program != "bun" && program != "composer"
	case "exec", "x", "dlx", "install", "i", "add", "get", "update", "upgrade", "publish", "login", "logout", "unpublish", "owner", "token", "config", "set", "clean", "remove", "uninstall", "deploy":
		return true
	}
	return false
}

// widerPath is the file's directory, and then the working directory or the root
// that holds it.
func (s *state) widerPath(tool, subject string) []string {
	paths := newPaths(s.dir)
	for _, root := range append([]string{s.dir}, s.roots...) {
		real, _, err := paths.resolve(root)
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(real, subject)
		if err != nil || rel == "." || !filepath.IsLocal(rel) {
			continue
		}
		all := tool + "(" + filepath.Join(real, "*") + ")"
		if dir := filepath.Dir(subject); dir != real {
			return []string{tool + "(" + filepath.Join(dir, "*") + ")", all}
		}
		return []string{all}
	}
	return nil
}

// widerURL is every page of the address's host (IMP-19).
func widerURL(tool, subject string) []string {
	u, err := url.Parse(subject)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil
	}
	if !strings.HasPrefix(subject, u.Scheme+"://"+u.Host) {
		return nil // written in a way that the rule would not match
	}
	return []string{tool + "(" + u.Scheme + "://" + u.Host + "/*)"}
}
