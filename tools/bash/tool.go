package bash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/phero-agent/agent/tools"
)

// Limits and their defaults.
const (
	DefaultTimeout             = 120 * time.Second // of a command for which the model gives none
	MaxTimeout                 = 600 * time.Second // the most that the model can ask for
	SafeModeTimeout            = 30 * time.Second
	DefaultMaxOutputChars      = 30_000  // bytes of one result
	DefaultMaxBackgroundOutput = 1 << 20 // bytes kept of each background shell
	MaxShells                  = 100     // background shells that run or have output nobody read
)

// Errors that the model or the caller can act on.
var (
	ErrNilInput            = errors.New("the input is missing: give a JSON object")
	ErrCommandRequired     = errors.New("command is required")
	ErrCommandInvalid      = errors.New("the command holds a NUL byte, which no program can be given: remove it")
	ErrCommandBlocked      = errors.New("the command is blocked")
	ErrCommandNotAllowed   = errors.New("the command is not in the allowlist")
	ErrInvalidTimeout      = errors.New("a timeout must not be negative")
	ErrInvalidEnv          = errors.New("an environment entry must be NAME=value")
	ErrBashIDRequired      = errors.New("bash_id is required")
	ErrShellIDRequired     = errors.New("shell_id is required")
	ErrShellNotFound       = errors.New("no such background shell, or its output was already read to the end")
	ErrInvalidOutputFilter = errors.New("the filter is not a valid regular expression")
	ErrTooManyShells       = errors.New("too many background shells: read the output of finished ones with bash_output, or end some with kill_shell")
	ErrClosed              = errors.New("the shell tool is closed: no new background command can start")
	ErrBashNotFound        = errors.New("bash was not found in PATH: install bash")
	ErrReachUnsupported    = errors.New("the command cannot be run with that reach")
)

// Tool is the shell: three tools for the model that share background shells
// and, with [WithPersistentShell], a state.
type Tool struct {
	run, output, kill *tools.Tool

	runner, hostRunner Runner
	reach              ReachFunc
	dir                string
	env                []string // WithEnv entries
	envAllowlist       []string
	envLimited         bool
	blocklist          []string
	allowlist          []string
	allowLimited       bool
	safe               bool
	limits             limits
	persistent         bool
	rerun              RerunFunc
	handler            OutputHandler
	silentAfter        time.Duration
	silence            SilenceHandler
	shellsHandler      func([]ShellInfo)
	marker             string

	notify sync.Mutex // orders the calls of shellsHandler; never taken with mu held

	mu      sync.Mutex
	closed  bool
	lastID  int
	lastSeq int64
	shells  map[string]*shell
	pending int                    // shells that are being started
	calls   map[string]*foreground // by the id of their call
	running map[*foreground]bool
	state   state

	ready ready
}

// New makes the shell tool.
//
// It also marks the descriptors above 2 that the program was started with, so
// that no command inherits them.
func New(opts ...Option) (*Tool, error) {
	t := &Tool{
		runner:  LocalRunner{},
		limits:  defaultLimits(),
		shells:  map[string]*shell{},
		calls:   map[string]*foreground{},
		running: map[*foreground]bool{},
		marker:  markerName + "=" + nonce(),
		ready:   ready{life: readyLife, ending: map[*standby]bool{}},
	}
	for _, o := range opts {
		o(t)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	closeInherited()
	return t, t.makeTools()
}

func (t *Tool) check() error {
	if err := t.limits.check(); err != nil {
		return err
	}
	for _, e := range t.env {
		name, _, ok := strings.Cut(e, "=")
		if !ok || name == "" || strings.ContainsRune(e, 0) {
			return fmt.Errorf("%w: %q", ErrInvalidEnv, name)
		}
		if startsCode(name) {
			return fmt.Errorf("%w: %s would run code before the command", ErrInvalidEnv, name)
		}
	}
	if t.safe {
		t.blocklist = append(t.blocklist, safeModeBlocklist()...)
	}
	if t.dir == "" {
		return nil
	}
	dir, err := filepath.Abs(t.dir)
	if err != nil {
		return fmt.Errorf("working directory %s: %w", t.dir, err)
	}
	t.dir = dir
	return t.checkDir()
}

// checkDir says what is wrong with the working directory (BASH-07).
func (t *Tool) checkDir() error {
	info, err := os.Stat(t.dir)
	if err != nil {
		return fmt.Errorf("working directory %s: %w", t.dir, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return fmt.Errorf("working directory %s is not a directory", t.dir)
	}
	return nil
}

// Tool is `bash`.
func (t *Tool) Tool() *tools.Tool { return t.run }

// OutputTool is `bash_output`.
func (t *Tool) OutputTool() *tools.Tool { return t.output }

// KillTool is `kill_shell`.
func (t *Tool) KillTool() *tools.Tool { return t.kill }
