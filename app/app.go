// Package app is the application without a screen: it drives the agent loop.
//
//	Submit ──► queue ──► steps: model ──reply──► runCalls ──results──► model …
//	                       │                        │
//	                       └── commit: log, then emit(Committed) ──► screen, or headless run
//
// Commands come down as methods, events go up through Options.Emit. All state
// that both sides touch stands behind App.mu; the conversation itself belongs
// to the goroutine of work while a turn runs, and to App.idle's caller otherwise.
package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/mcp"
	"github.com/phero-agent/agent/app/trust"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/human"
	"github.com/phero-agent/agent/tools/todo"
)

// Options say what an App works on and with.
type Options struct {
	Workspace string // absolute, symlinks resolved; confines tools, policy, sandbox and .phero
	Dir       string // where the person stands, in the workspace
	Version   string // of the program
	StateDir  string // for what must be out of the model's reach
	ConfigDir string // of the person's settings, skills and commands; "" for none
	Home      string // of the person, where other agents' skills are; "" for none

	// NewProvider makes the provider of a model, "" for the one of the settings. It
	// is called at the first turn and after each change of the model.
	NewProvider func(ctx context.Context, model string) (Provider, error)
	Model       string                                         // as the status line names it, "" until it is found
	Host        string                                         // of the provider
	KeepModel   bool                                           // the model was named for this run: a resumed session does not change it
	Models      func(ctx context.Context) ([]ModelInfo, error) // what SetModel can choose, by the ids that it takes; nil: nothing
	SetUp       SetUp                                          // asks for a model where there is none; nil: it cannot be
	Scripted    bool                                           // the model is a script

	WebHosts []string // that web_fetch may reach; none: every public one
	WebProxy string   // of web_fetch, "" for none

	Servers      []config.Server // of the Model Context Protocol, those that count
	ServerLimits mcp.Limits      // the times that they get; zero: the defaults

	Sandbox     string             // "auto", "bwrap", "landlock" or "none"
	Roots       []string           // directories beside the workspace that tools, policy and sandbox reach as well
	Network     bool               // commands have the network in the sandbox
	NetworkFor  []string           // patterns of command lines that have it, as "npm install *" (sandbox.network_for)
	Mode        permissions.Mode   // at the start
	Allow       []permissions.Rule // of the person, beside the presets
	Ask, Deny   []permissions.Rule
	Untrusted   []trust.Item  // of the repository, which do not count yet
	Trust       *trust.Store  // needed when something is untrusted
	Notices     []string      // of the settings, for the person
	ShareCaches bool          // commands build into the host's caches, as bash.WithSharedCaches
	Interactive bool          // somebody answers questions
	Foreign     bool          // a session that was not made here opens unasked
	NoSession   bool          // nothing is saved: the session ends with the program
	AddPrompt   string        // at the end of the system prompt; "" for nothing
	Timeout     time.Duration // of a turn; 0: none
	MaxTurns    int           // requests to the model in a turn; 0: no limit

	// Emit takes the events. It must return at once and must not call the App.
	Emit func(Event)
}

// SetUp lets the person choose a model and keeps the choice. secret hides what is
// written as an answer. It returns [human.ErrDeclined] from ask when nothing is wanted.
type SetUp func(ctx context.Context, ask func(ctx context.Context, q human.Question, secret bool) (human.Answer, error)) error

// App is one agent at work in one workspace.
type App struct {
	opts      Options
	life      context.Context // ends when the App is closed
	die       context.CancelFunc
	emit      func(Event)
	perms     *Permissions
	sandbox   *sandbox
	reach     *commandReach
	sessions  *Sessions
	skills    *skills
	questions *questions
	tracker   *file.ReadTracker
	trusting  *trusting
	watch     *watch
	over      shellsOver
	servers   *mcp.Servers

	// Made by equip at the first turn.
	box *toolbox
	own *thread // the session's own conversation

	mu      sync.Mutex
	running bool // work runs, or somebody holds the App idle
	stop    bool // Cancel came before the turn had begun
	closed  bool
	cancel  context.CancelCauseFunc // of the turn that runs
	clock   *deadline               // of the same
	queue   []queued                // messages that wait
	notes   notes                   // for the model, at its next request
	model   model
	effort  string         // of the model's reasoning
	working sync.WaitGroup // work, and the search for a model

	// Of the conversation.
	log       *session.Log // nil until there is something to save
	blobs     *session.Blobs
	journal   *session.Journal
	todos     *todo.List
	talk      *session.Conversation
	turn      int
	commanded int // the last turn in which the model wanted commands; 0 is none
	saving    saving
	gauge     gauge
	tally     *tally
	git       gitLook
	layout    layoutLook
}

// ErrBusy says that a turn runs.
var ErrBusy = errors.New("a turn is running: stop it first (esc)")

// New makes an App. Nothing is written until the first message.
func New(opts Options) (*App, error) {
	a := &App{opts: opts, emit: opts.Emit, tracker: file.NewReadTracker(), watch: newWatch(), own: &thread{}}
	a.life, a.die = context.WithCancel(context.Background())
	a.questions = newQuestions(a.emit, a.pauseClock)
	var err error
	if a.sessions, err = OpenSessions(opts); err != nil {
		return nil, err
	}
	if a.skills, err = openSkills(opts, a.skillLoaded); err != nil {
		return nil, err
	}
	a.trusting = newTrusting(a.life, opts, append(opts.Untrusted, a.skills.untrusted()...))
	if a.sandbox, err = openSandbox(opts, a.skills.roots(), a.question); err != nil {
		return nil, err
	}
	if a.reach, err = newCommandReach(opts.NetworkFor); err != nil {
		return nil, err
	}
	if a.perms, err = newPermissions(opts, a.asker, a.sandbox.name, a.directory); err != nil {
		return nil, err
	}
	if err := a.perms.begin(a.sandbox); err != nil {
		return nil, err
	}
	a.servers = a.openServers()
	a.model.making = make(chan struct{}, 1)
	a.reset()
	return a, nil
}

// Start tells the screen what it is about. Call it once, after New.
func (a *App) Start() {
	a.emit(a.state())
	a.emit(Opened{Notices: append(a.opts.Notices, a.perms.warnings...)})
	if len(a.trusting.items) > 0 {
		a.working.Go(a.askTrust)
	}
}

// Prepare begins in the background what the first turn needs and the first frame
// does not: it would take processors away from that. Call it once, after Start.
func (a *App) Prepare() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.sandbox.start(func() {
		a.emit(a.state())
		a.lookAtGit()
		if a.sandbox.notice != "" {
			a.emit(Notice{Level: Warning, Text: a.sandbox.notice})
		}
	})
	a.servers.Start()
	if a.opts.Model == "" {
		a.working.Go(a.findModel)
	}
}

func (a *App) state() State {
	s := State{
		Workspace: a.opts.Workspace, Branch: branch(a.opts.Workspace),
		Model: a.opts.Model, Provider: a.opts.Host, Scripted: a.opts.Scripted,
		Sandbox: a.sandbox.name(), Network: a.opts.Network, Root: os.Geteuid() == 0,
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.model.provider; p != nil {
		info := p.Info()
		s.Model = info.ID
		if info.Host != "" {
			s.Provider = info.Host
		}
	} else if a.model.err != nil {
		s.SetUp = a.model.err.Error()
	}
	return s
}

// queued is a message that waits for its turn or step.
type queued struct {
	shown  string                                    // as the person wrote it
	expand func(ctx context.Context) (string, error) // to what is sent, when it is; nil: as it was written
}

// Submit sends a prompt: it starts a turn, or waits for the next step of the one that runs.
func (a *App) Submit(text string) { a.submit(queued{shown: text}) }

func (a *App) submit(q queued) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.queue = append(a.queue, q)
	a.tellQueue()
	if a.running {
		return
	}
	a.running = true
	a.working.Go(a.work)
}

// tellQueue tells the screen what waits. It is called with a.mu held.
func (a *App) tellQueue() {
	texts := make([]string, len(a.queue))
	for i, q := range a.queue {
		texts[i] = q.shown
	}
	a.emit(Queued{Texts: texts})
}

// Unqueue takes the last waiting message back.
func (a *App) Unqueue() (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.queue)
	if n == 0 {
		return "", false
	}
	shown := a.queue[n-1].shown
	a.queue = a.queue[:n-1]
	a.tellQueue()
	return shown, true
}

func (a *App) waiting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.queue)
}

// Cancel stops the turn: the stream closes, commands are killed, questions
// close, and every call gets its result (LOOP-08, LOOP-09).
func (a *App) Cancel() {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.cancel != nil:
		a.cancel(errInterrupted)
	case a.running:
		a.stop = true
	}
}

// directory is where the next command starts.
func (a *App) directory() string {
	if shells := a.shells(); shells != nil {
		return shells.Directory()
	}
	return a.opts.Workspace
}

func (a *App) pauseClock(on bool) {
	a.mu.Lock()
	clock := a.clock
	a.mu.Unlock()
	if clock != nil {
		clock.pause(on)
	}
}

// Background moves a running command to the background (IMP-31).
func (a *App) Background(callID string) bool {
	shells := a.shells()
	return shells != nil && shells.Background(callID)
}

// Kill ends a background shell.
func (a *App) Kill(shellID string) {
	if shells := a.shells(); shells != nil {
		if err := shells.Kill(shellID); err != nil {
			a.emit(Notice{Level: Warning, Text: err.Error()})
		}
	}
}

// idle runs fn while no turn runs and none can start, or says ErrBusy.
func (a *App) idle(fn func() error) error {
	a.mu.Lock()
	if a.running || a.closed {
		a.mu.Unlock()
		return ErrBusy
	}
	a.running = true
	a.mu.Unlock()
	defer a.release()
	return fn()
}

// release ends what held the App idle.
func (a *App) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running, a.stop = false, false
	if len(a.queue) > 0 && !a.closed { // somebody sent a prompt meanwhile
		a.running = true
		a.working.Go(a.work)
	}
}

// try runs fn while idle and shows its error.
func (a *App) try(what string, fn func() error) {
	if err := a.idle(fn); err != nil {
		a.emit(Notice{Level: Error, Text: fmt.Sprintf("%s: %v", what, err)})
	}
}

// Close stops the turn, kills the background shells and closes the log. It
// waits for all of it. A second call does nothing.
func (a *App) Close() error {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return nil
	}
	a.closed = true
	a.die()
	if a.cancel != nil {
		a.cancel(errInterrupted)
	}
	if a.model.stop != nil {
		a.model.stop()
	}
	a.mu.Unlock()
	a.watch.stop()
	a.working.Wait()
	a.servers.Close()
	var err error
	if a.box != nil {
		a.settleFound()
		err = a.box.bash.Close()
	}
	return errors.Join(err, a.sandbox.close(), a.closeLog())
}
