// Package config gathers the settings: files, then the environment, then flags.
//
//	File ──read──► layers ──merge──► Settings
//
// File is the one place that says what settings there are.
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

	"github.com/phero-agent/agent/app/trust"
	"github.com/phero-agent/agent/permissions"
)

// Flags are what the command line said; nil or "" where it said nothing.
type Flags struct {
	Dir     string // -C
	Model   string // -m
	BaseURL string // --base-url
	Sandbox string // --sandbox
	Mode    string // --permission-mode
	Yolo    bool   // --yolo

	Allow, Ask, Deny []string // --allow, --ask, --deny

	Timeout  *time.Duration // --timeout
	MaxTurns *int           // --max-turns

	AddDirs    []string // --add-dir
	Network    *bool    // --network
	NetworkFor []string // --network-for

	Plain *bool // --plain
}

// Settings are the settings that hold.
type Settings struct {
	Workspace string // absolute, symlinks resolved (decision 22)
	Dir       string // where the person stands, likewise
	StateDir  string // $XDG_STATE_HOME/phero
	ConfigDir string // $XDG_CONFIG_HOME/phero

	Model   string // a model, or provider/model; "" when nothing names one
	BaseURL string // of the model's server; "" when nothing names one
	Sandbox string // "auto", "bwrap", "landlock" or "none"

	Mode             permissions.Mode   // at the start
	Allow, Ask, Deny []permissions.Rule // of the person
	Timeout          time.Duration      // of a turn; 0: none
	MaxTurns         int                // requests to the model in a turn; 0: no limit

	Roots       []string // beside the workspace, absolute, symlinks resolved
	Network     bool     // commands have the network in the sandbox
	NetworkFor  []string // patterns of command lines that have it: sandbox.network_for
	ShareCaches bool     // commands build into the host's caches

	WebHosts []string // that web_fetch may reach; none: every public one
	WebProxy string   // of web_fetch
	Servers  []Server // of the Model Context Protocol, by name
	UI       UI

	// Getenv is the environment with the person's file of keys below it.
	Getenv func(string) string

	Untrusted []trust.Item // of the project's files: they would loosen what holds
	Notices   []string     // what the person should know of the settings
	merged    *merged
}

// UI is how the screen looks and behaves.
type UI struct {
	Theme        string   // "auto", "dark", "light" or "contrast"
	Colors, Keys []string // of the person, as the reference says
	Vim, Motion  bool
	Mouse        bool
	Notify       string // "auto", "bell", "osc9", "osc777" or "off"
	Plain        bool   // line by line
}

// Load gathers the settings: the person's file, the project's, the person's own for
// the project, the environment, the flags; later ones win (decision 23). Its errors
// name the file and line, the variable or the flag at fault.
func Load(flags Flags, getenv func(string) string) (Settings, error) {
	var s Settings
	var err error
	if s.Dir, err = resolveDir(flags.Dir); err != nil {
		return s, err
	}
	s.Workspace = FindWorkspace(s.Dir)
	s.StateDir = xdg(getenv, "XDG_STATE_HOME", ".local/state")
	s.ConfigDir = xdg(getenv, "XDG_CONFIG_HOME", ".config")
	layers, err := s.files()
	if err != nil {
		return s, err
	}
	s.Getenv = s.withKeys(getenv)
	layers = append(layers, environment(s.Getenv), flags.layer())
	s.merged = merge(layers)
	return s, s.fill(flags)
}

// files are the defaults and the settings files.
func (s *Settings) files() ([]*layer, error) {
	layers := []*layer{defaults()}
	var errs []error
	for _, path := range s.Paths() {
		l, err := readFile(path, path != s.Paths()[0])
		if err != nil {
			errs = append(errs, err)
		}
		if l == nil || err != nil {
			continue
		}
		if l.project {
			s.distrust(l)
		}
		layers = append(layers, l)
	}
	// Other agents' file counts less than one of our own.
	l, notices := readMCPJSON(s.Workspace)
	s.Notices = append(s.Notices, notices...)
	if l != nil {
		s.distrust(l)
		at := slices.IndexFunc(layers, func(other *layer) bool { return other.project })
		if at < 0 {
			at = len(layers)
		}
		layers = slices.Insert(layers, at, l)
	}
	return layers, errors.Join(errs...)
}

// distrust takes from a project's file what the person has not accepted (IMP-03).
func (s *Settings) distrust(l *layer) {
	name, err := filepath.Rel(s.Workspace, l.name)
	if err != nil {
		name = l.name
	}
	if keys := l.drop("no"); keys != nil {
		s.Notices = append(s.Notices, fmt.Sprintf("%s: %s cannot be set by a project and does not count", name, strings.Join(keys, ", ")))
	}
	item := trust.Item{Name: filepath.ToSlash(name), Content: l.data, Effects: l.effects()}
	store := trust.Open(WorkspaceState(s.StateDir, s.Workspace))
	if err := store.Err(); err != nil {
		s.Notices = append(s.Notices, err.Error())
	}
	if len(item.Effects) == 0 || store.Trusts(item) {
		return
	}
	s.Untrusted = append(s.Untrusted, item)
	l.drop("")
}

// Paths are the settings files: the person's, the project's, and the person's own
// for the project.
func (s *Settings) Paths() []string {
	return []string{
		filepath.Join(s.ConfigDir, "config.toml"),
		filepath.Join(s.Workspace, ".phero", "config.toml"),
		filepath.Join(s.Workspace, ".phero", "local.toml"),
	}
}

// layer is what the flags say as a file would.
func (f Flags) layer() *layer {
	l := &layer{source: func(s setting) string { return s.tag.Get("flag") }}
	said := func(text string) *string {
		if text == "" {
			return nil
		}
		return &text
	}
	l.file.Model, l.file.BaseURL = said(f.Model), said(f.BaseURL)
	l.file.Timeout, l.file.MaxTurns = (*Duration)(f.Timeout), f.MaxTurns
	p, b := &l.file.Permissions, &l.file.Sandbox
	p.Mode, p.Allow, p.Ask, p.Deny = said(f.Mode), f.Allow, f.Ask, f.Deny
	l.file.UI.Plain = f.Plain
	b.Runner, b.Network, b.NetworkFor, b.AddDirs = said(f.Sandbox), f.Network, f.NetworkFor, f.AddDirs
	return l
}

// fill takes over what the layers come to, and checks it.
func (s *Settings) fill(flags Flags) error {
	f, m := &s.merged.file, s.merged
	s.Model, s.BaseURL = deref(f.Model), strings.TrimRight(deref(f.BaseURL), "/")
	if s.BaseURL != "" && !strings.HasPrefix(s.BaseURL, "http://") && !strings.HasPrefix(s.BaseURL, "https://") {
		return m.fault("base_url", fmt.Errorf("the base URL %q must begin with http:// or https://", s.BaseURL))
	}
	if s.Timeout = time.Duration(deref(f.Timeout)); s.Timeout < 0 {
		return m.fault("timeout", errors.New("it must not be below 0; 0 is no limit"))
	}
	if s.MaxTurns = deref(f.MaxTurns); s.MaxTurns < 0 {
		return m.fault("max_turns", errors.New("it must not be below 0; 0 is no limit"))
	}
	for i, dir := range f.Sandbox.AddDirs {
		from := m.from["sandbox.add_dirs"][i]
		root, err := s.root(dir, from)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", from, dir, err)
		}
		s.Roots = append(s.Roots, root)
	}
	s.Network, s.NetworkFor, s.ShareCaches = deref(f.Sandbox.Network), f.Sandbox.NetworkFor, deref(f.Sandbox.ShareCaches)
	s.WebHosts, s.WebProxy = f.Web.AllowedHosts, deref(f.Web.Proxy)
	var err error
	if s.Servers, err = m.servers(); err != nil {
		return err
	}
	u := &f.UI
	s.UI = UI{
		Theme: deref(u.Theme), Colors: u.Colors, Keys: u.Keys, Vim: deref(u.Vim), Motion: deref(u.Motion),
		Mouse: deref(u.Mouse), Notify: deref(u.Notify), Plain: deref(u.Plain),
	}
	s.Allow, s.Ask, s.Deny = m.rules("permissions.allow", f.Permissions.Allow), m.rules("permissions.ask", f.Permissions.Ask), m.rules("permissions.deny", f.Permissions.Deny)
	if s.Mode, err = mode(flags, deref(f.Permissions.Mode)); err != nil {
		return err
	}
	s.Sandbox = deref(f.Sandbox.Runner)
	runner, _ := find("sandbox.runner")
	if err := runner.check(s.Sandbox); err != nil {
		return m.fault("sandbox.runner", err)
	}
	return nil
}

// fault is an error of a setting, with where it comes from.
func (m *merged) fault(key string, err error) error {
	return fmt.Errorf("%s: %w", m.from[key][0], err)
}

// rules are a setting's rules with where each comes from.
func (m *merged) rules(key string, texts []string) []permissions.Rule {
	list := make([]permissions.Rule, len(texts))
	for i, text := range texts {
		list[i] = permissions.Rule{Text: text, Source: m.from[key][i]}
	}
	return list
}

// root is a directory beside the workspace: a file's is absolute, below the home,
// or in the workspace.
func (s *Settings) root(dir, from string) (string, error) {
	if from == "--add-dir" {
		return realDir(dir)
	}
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		return realDir(filepath.Join(home, rest))
	}
	if !filepath.IsAbs(dir) {
		if strings.HasPrefix(from, s.Paths()[0]+":") {
			return "", errors.New("write an absolute path, or one that begins with ~/")
		}
		dir = filepath.Join(s.Workspace, dir)
	}
	return realDir(dir)
}

// mode is the permission mode at the start. Yolo has a flag of its own, so that
// nobody comes to it by a list of modes (decision 1).
func mode(flags Flags, named string) (permissions.Mode, error) {
	modes := []permissions.Mode{permissions.ModeAsk, permissions.ModeAcceptEdits, permissions.ModeAuto, permissions.ModePlan}
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

// xdg is the agent's directory below one of the XDG base directories; a relative
// value is ignored, as the specification says. Without a home it is in the temporary
// directory.
func xdg(getenv func(string) string, name, below string) string {
	base := getenv(name)
	if !filepath.IsAbs(base) {
		home := getenv("HOME")
		if home == "" {
			home = filepath.Join(os.TempDir(), fmt.Sprintf("phero-%d", os.Getuid()))
		}
		base = filepath.Join(home, filepath.FromSlash(below))
	}
	return filepath.Join(base, "phero")
}

// deref is the value of a setting; the zero value where nothing says it.
func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
