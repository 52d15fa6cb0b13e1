// Package config gathers the settings: flags, then the environment.
package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/phero-agent/agent/permissions"
)

// Flags are what the command line said; "" where it said nothing.
type Flags struct {
	Dir     string // -C
	Model   string // -m
	BaseURL string // --base-url
	Sandbox string // --sandbox
	Mode    string // --permission-mode
	Yolo    bool   // --yolo

	Allow, Ask, Deny []string // --allow, --ask, --deny

	Timeout  time.Duration // --timeout
	MaxTurns int           // --max-turns

	AddDirs    []string // --add-dir
	Network    bool     // --network
	NetworkFor []string // --network-for
}

// Settings are the settings that hold.
type Settings struct {
	Workspace string // absolute, symlinks resolved (decision 22)
	Dir       string // where the person stands, likewise
	StateDir  string // $XDG_STATE_HOME/phero

	Model   string // a model, or provider/model; "" when nothing names one
	BaseURL string // of the model's server; "" when nothing names one
	Sandbox string // "auto", "bwrap", "landlock" or "none"

	Mode             permissions.Mode   // at the start
	Allow, Ask, Deny []permissions.Rule // of the person
	Timeout          time.Duration      // of a turn; 0: none
	MaxTurns         int                // requests to the model in a turn; 0: no limit

	Roots      []string // beside the workspace, absolute, symlinks resolved
	Network    bool     // commands have the network in the sandbox
	NetworkFor []string // patterns of command lines that have it: sandbox.network_for
}

// sandboxes are the values of --sandbox (decision 20).
var sandboxes = []string{"auto", "bwrap", "landlock", "none"}

// Load gathers the settings. Its errors name the flag or variable at fault.
func Load(flags Flags, getenv func(string) string) (Settings, error) {
	var s Settings
	var err error
	if s.Dir, err = resolveDir(flags.Dir); err != nil {
		return s, err
	}
	s.Workspace = FindWorkspace(s.Dir)
	s.StateDir = stateDir(getenv)
	s.Model = first(flags.Model, getenv("AGENT_MODEL"))
	s.BaseURL = strings.TrimRight(first(flags.BaseURL, getenv("OPENAI_BASE_URL")), "/")
	if s.BaseURL != "" && !strings.HasPrefix(s.BaseURL, "http://") && !strings.HasPrefix(s.BaseURL, "https://") {
		return s, fmt.Errorf("the base URL %q must begin with http:// or https:// (--base-url, OPENAI_BASE_URL)", s.BaseURL)
	}
	if s.Timeout, s.MaxTurns = flags.Timeout, flags.MaxTurns; s.Timeout < 0 || s.MaxTurns < 0 {
		return s, errors.New("--timeout and --max-turns must not be below 0; 0 is no limit")
	}
	for _, dir := range flags.AddDirs {
		root, err := realDir(dir)
		if err != nil {
			return s, fmt.Errorf("--add-dir %s: %w", dir, err)
		}
		s.Roots = append(s.Roots, root)
	}
	s.Network = flags.Network
	s.NetworkFor = append(lines(getenv("AGENT_NETWORK_FOR")), flags.NetworkFor...)
	s.Allow, s.Ask, s.Deny = rules("--allow", flags.Allow), rules("--ask", flags.Ask), rules("--deny", flags.Deny)
	if s.Mode, err = mode(flags); err != nil {
		return s, err
	}
	s.Sandbox = first(flags.Sandbox, "auto")
	if !slices.Contains(sandboxes, s.Sandbox) {
		return s, fmt.Errorf("--sandbox=%s: use one of %s", s.Sandbox, strings.Join(sandboxes, ", "))
	}
	return s, nil
}

func rules(flag string, texts []string) []permissions.Rule {
	list := make([]permissions.Rule, len(texts))
	for i, text := range texts {
		list[i] = permissions.Rule{Text: text, Source: flag}
	}
	return list
}

// mode is the permission mode of the flags. Yolo has a flag of its own, so that
// nobody comes to it by a list of modes (decision 1).
func mode(flags Flags) (permissions.Mode, error) {
	modes := []permissions.Mode{permissions.ModeAsk, permissions.ModeAcceptEdits, permissions.ModeAuto, permissions.ModePlan}
	named := first(flags.Mode, permissions.ModeAsk.String())
	i := slices.IndexFunc(modes, func(m permissions.Mode) bool { return m.String() == named })
	switch {
	case flags.Yolo && flags.Mode != "":
		return 0, fmt.Errorf("--yolo and --permission-mode=%s: give one of them", flags.Mode)
	case flags.Yolo:
		return permissions.ModeYolo, nil
	case i < 0 && named == permissions.ModeYolo.String():
		return 0, errors.New("--permission-mode=yolo: write --yolo")
	case i < 0:
		return 0, fmt.Errorf("--permission-mode=%s: use one of ask, accept-edits, auto, plan", named)
	}
	return modes[i], nil
}

// WorkspaceState is the directory for what the agent remembers of a workspace,
// out of the reach of the model and of the repository.
func WorkspaceState(stateDir, workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Join(stateDir, "workspaces", hex.EncodeToString(sum[:8]))
}

// FindWorkspace is the git top level of dir, found by walking up without git, or
// dir itself.
func FindWorkspace(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

func resolveDir(dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	abs, err := realDir(dir)
	if err != nil {
		return "", fmt.Errorf("-C %s: %w", dir, err)
	}
	return abs, nil
}

// realDir is a directory's absolute path without symlinks.
func realDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("the working directory is gone: %w", err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return "", err
	}
	info, err := os.Stat(abs)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	return abs, err
}

// lines are the lines of a variable that holds a list, without blanks around them.
func lines(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// stateDir is the agent's directory below $XDG_STATE_HOME; a relative value is
// ignored, as the specification says. Without a home it is in the temporary directory.
func stateDir(getenv func(string) string) string {
	base := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		home := getenv("HOME")
		if home == "" {
			home = filepath.Join(os.TempDir(), fmt.Sprintf("phero-%d", os.Getuid()))
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "phero")
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
