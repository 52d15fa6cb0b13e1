package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/phero-agent/agent/app"
)

// focus is who has the keys while no dialog is open.
type focus int

const (
	onComposer focus = iota
	onTranscript
	onPane
)

// Model is the root of the screen. Use a pointer to it as the tea.Model.
type Model struct {
	agent    Agent
	pump     *Pump
	opts     Options
	calls    calls
	exec     func(tea.ExecCommand, tea.ExecCallback) tea.Cmd // gives the terminal away
	clip     func(string) string                             // gives text to a program of this machine, and names it
	clipping func() (image []byte, text string, err error)   // is what such a program hands over
	table    []binding
	keys     keymap

	w, h    int
	dark    bool   // the terminal is
	theme   string // of themes
	profile colorprofile.Profile
	look    *look
	lay     layout

	session    string // the id of the open one; "" until it has one
	title      string
	spoken     bool // a message was said in it
	restart    bool // the application is to be made anew
	transcript *transcript
	composer   *composer
	vim        vim
	complete   *completion
	history    *history
	drafts     drafts
	status     *status
	queued     []string

	todos  *todos
	output *output
	shells *shells
	files  *files
	pane   int // of panes(), the one with the keys
	focus  focus

	questions []*question // the first one is shown
	modal     dialog      // what the person opened; above the questions
	finding   *finder

	begun    time.Time
	lastKey  time.Time
	held     held      // an enter in a burst
	quitAt   time.Time // until then ctrl+c quits
	escAt    time.Time // of an esc that did nothing
	blurred  bool
	ticking  bool
	spunAt   time.Time // when the spinner moved last
	foldedAt time.Time // when something came in last
	shellsAt time.Time // when the shells were looked at last
	commands []command
}

// New returns the screen of an application whose events go into p.
func New(a Agent, p *Pump, opts Options) *Model {
	m := &Model{
		agent: a, pump: p, opts: opts, exec: tea.Exec, clip: clipboardProgram, clipping: readClipboard,
		dark: !opts.Light, theme: cmp.Or(opts.Theme, themes[0]), profile: colorprofile.TrueColor,
		vim: vim{on: opts.Vim}, complete: &completion{}, history: &history{file: opts.historyFile()}, drafts: drafts{dir: opts.StateDir}, status: &status{},
		todos: &todos{}, output: newOutput(), shells: &shells{}, files: newFiles(),
	}
	if m.table, _ = rebind(bindings(), opts.Keys); m.table == nil { // Check told
		m.table = bindings()
	}
	m.keys = newKeymap(m.table)
	m.look = &look{theme: &theme{}, now: time.Now(), still: opts.Still}
	m.paint()
	m.transcript = newTranscript(m.look)
	m.composer = newComposer(m.look.theme)
	m.commands = commandTable(opts.Commands)
	return m
}

// firstFrame is when the first frame has been written: Bubble Tea draws at the ticks
// of a clock that starts with it, 60 times a second.
const firstFrame = 2 * time.Second / 60

// measure lets the width tables be made, in milliseconds, while the clock has yet to
// tick for the first time.
func measure() tea.Msg {
	ansi.StringWidthWc("│") // as the renderer counts
	return nil
}

// Init asks for what the first frame does not need.
func (m *Model) Init() tea.Cmd {
	m.begun = time.Now()
	cmds := []tea.Cmd{m.pump.next, m.history.load(), m.drafts.load(), m.readMode()}
	if !m.opts.Plain {
		cmds = append(cmds, tea.RequestBackgroundColor, measure)
	}
	if m.opts.Drawn != nil {
		cmds = append(cmds, tea.Tick(firstFrame, func(time.Time) tea.Msg { m.opts.Drawn(); return nil }))
	}
	if id := m.opts.Open; id != "" {
		cmds = append(cmds, m.calls.inOrder(func() { m.agent.Resume(id) }))
	}
	if m.opts.Prompt != "" {
		cmds = append(cmds, m.submit(m.opts.Prompt))
	}
	if m.opts.Ask {
		cmds = append(cmds, m.openSessions())
	}
	return tea.Batch(cmds...)
}

// Update routes a message to who it is for.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.look.now = time.Now()
	cmd := m.route(msg)
	return m, tea.Batch(cmd, m.tick(), m.keepDraft())
}

func (m *Model) route(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case batch:
		return tea.Batch(m.pump.next, m.fold(msg))
	case tea.KeyPressMsg:
		return tea.Batch(m.settleEnter(), m.key(msg))
	case sendMsg:
		return m.endHold(msg)
	case tea.PasteMsg:
		return m.paste(msg.Content)
	case tea.MouseMsg:
		return m.mouse(msg)
	case tickMsg:
		return m.ticked()
	case shellsMsg:
		m.shells.printed(msg)
	case armMsg:
		return m.arm(msg)
	case heldMsg:
		return m.decide(msg)
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		m.resize()
	case failure:
		return m.fail(msg.err)
	case said:
		m.transcript.note(app.Info, m.look.theme.sign.dot, string(msg))
	case draftMsg:
		m.draftLoaded(msg)
	case keepDraftMsg:
		return m.saveDraft()
	case historyMsg:
		m.history.loaded(msg)
	case matchesMsg:
		if msg.err != nil {
			m.fail(msg.err)
		}
		return m.complete.found(msg, m.opts.Files)
	case modeMsg:
		m.status.mode = msg.mode
	case unqueuedMsg:
		m.composer.prepend(string(msg))
	case editedMsg:
		m.composer.set(string(msg))
	case clippingMsg:
		return m.clipped(msg)
	case copiedMsg:
		m.copied(msg)
	case versionMsg:
		return m.gotVersion(msg)
	case ranMsg:
		return m.ran(msg)
	case revertMsg:
		m.modal = msg.dialog
	case effortsMsg:
		m.modal = msg.picker()
	case contextMsg:
		m.modal = newContextPage(app.ContextReport(msg))
	case backMsg:
		m.composer.set(string(msg))
	case promptsMsg:
		m.modal = newRewind(msg, m.look.now)
	case sessionsMsg:
		return m.showSessions(msg)
	case lookMsg:
		return m.lookAt(msg)
	case hitsMsg, previewMsg:
		return m.looked(msg)
	case modelsMsg:
		m.status.retract(askingModels)
		m.modal = msg.picker(m.status.state.Model)
	default:
		m.terminal(msg)
	}
	return nil
}

// terminal takes what the terminal says of itself.
func (m *Model) terminal(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
		m.newTheme()
	case tea.ColorProfileMsg:
		m.profile = msg.Profile
		m.newTheme()
	case tea.KeyboardEnhancementsMsg:
		m.composer.newlineKey = "shift+enter"
	case tea.FocusMsg:
		m.blurred = false
	case tea.BlurMsg:
		m.blurred = true
	}
}

// paint makes the theme as the person wants it and the terminal shows it.
func (m *Model) paint() {
	name := m.theme
	if name == themes[0] {
		name = "light"
		if m.dark {
			name = "dark"
		}
	}
	*m.look.theme = *newTheme(name, m.opts.ASCII, m.profile)
	m.look.theme.paint(m.opts.Colors)
	m.look.theme.keys = rebound(m.table)
	if m.opts.Plain {
		m.look.theme.sign = spokenSigns(m.look.theme.sign)
	}
}

func (m *Model) newTheme() {
	m.paint()
	m.transcript.restyle()
	m.composer.old = true
}

// themeCommand takes another theme until the program ends, or lets the person pick.
func (m *Model) themeCommand(args string) tea.Cmd {
	switch {
	case slices.Contains(themes[:], args):
		m.theme = args
		m.newTheme()
		return m.say("theme: " + args + "; ui.theme in the settings keeps it")
	case args != "":
		return m.fail(fmt.Errorf("the themes are %s, not %q", strings.Join(themes[:], ", "), args))
	}
	var rows []pick
	for _, name := range themes {
		row := pick{label: name, intent: doCommand{"theme " + name}}
		if name == m.theme {
			row.detail = "now"
		}
		rows = append(rows, row)
	}
	m.modal = newPicker("Themes", "no such theme", rows)
	return nil
}

// vimCommand turns the keys of vi on and off until the program ends.
func (m *Model) vimCommand(string) tea.Cmd {
	m.vim = vim{on: !m.vim.on}
	if m.vim.on {
		return m.say("the keys of vi are on: esc leaves the insert mode; ui.vim in the settings keeps them")
	}
	return m.say("the keys of vi are off")
}

func (m *Model) say(words string) tea.Cmd {
	m.status.say(app.Notice{Text: words}, m.look.now)
	return nil
}

func (m *Model) resize() {
	most := 8
	if m.h < smallH {
		most = 3
	}
	m.composer.resize(m.w-1, most)
}

// question is the one that is shown.
func (m *Model) question() *question {
	if len(m.questions) == 0 {
		return nil
	}
	return m.questions[0]
}

// asking is the dialog that has the keys, nil when there is none.
func (m *Model) asking() dialog {
	if m.modal != nil {
		return m.modal
	}
	if q := m.question(); q != nil {
		return q.dialog
	}
	return nil
}

// next shows the first question, if nothing is above it.
func (m *Model) nextQuestion() tea.Cmd {
	q := m.question()
	if q == nil || m.modal != nil {
		return nil
	}
	return q.show(m.look.now, m.lastKey)
}

func (m *Model) arm(msg armMsg) tea.Cmd {
	for _, q := range m.questions {
		if q.id == msg.id {
			return q.tick(m.look.now)
		}
	}
	return nil
}

// decide gives a decision that was held to its question.
func (m *Model) decide(msg heldMsg) tea.Cmd {
	q := m.question()
	if q == nil || q.id != msg.id || q.held == nil || q.holds != msg.holds {
		return nil
	}
	held := *q.held
	q.held = nil
	return m.act(q.dialog.key(held.String(), held, m.keys))
}

// act does what the person wants.
func (m *Model) act(in intent) tea.Cmd {
	switch in := in.(type) {
	case doAnswer:
		m.close(in.id)
		return tea.Batch(now(func() { m.agent.Answer(in.id, in.answer) }), m.nextQuestion())
	case doReply:
		m.close(in.id)
		return tea.Batch(now(func() { m.agent.Reply(in.id, in.answers) }), m.nextQuestion())
	case doConfirm:
		m.modal = in.dialog
		return nil
	case doShowChange:
		return m.showChange(in.path)
	case doOwnVersion:
		return m.ownVersion(in)
	case doLook:
		return waitToLook(in)
	case nil:
		return nil
	}
	m.modal = nil
	return tea.Batch(m.actModal(in), m.nextQuestion())
}

// actModal does what was chosen in a dialog that the person opened.
func (m *Model) actModal(in intent) tea.Cmd {
	switch in := in.(type) {
	case doCommand:
		return m.run(in.line)
	case doInsert:
		m.composer.set(in.text)
	case doResume:
		return m.calls.inOrder(func() { m.agent.Resume(in.id) })
	case doRevert:
		return m.revert(in)
	case doRewind:
		return m.goBack(in)
	case doKill:
		return now(func() { m.agent.Kill(in.id) })
	case doQuit:
		return tea.Quit
	}
	return nil
}

// close takes a question out of the queue.
func (m *Model) close(id string) {
	for i, q := range m.questions {
		if q.id == id {
			m.questions = append(m.questions[:i:i], m.questions[i+1:]...)
			m.answered(q)
			return
		}
	}
}

// paste puts text where the person writes. It never answers anything (decision 30).
func (m *Model) paste(s string) tea.Cmd {
	now := m.look.now
	defer func() { m.lastKey = now }()
	if m.modal != nil {
		m.modal.paste(s)
		return nil
	}
	if q := m.question(); q != nil {
		if q.armed {
			q.dialog.paste(s)
			return nil
		}
		q.pressed(now)
	}
	if m.finding != nil {
		insert(&m.finding.input, s)
		return nil
	}
	m.focus = onComposer
	m.composer.paste(s)
	return m.typed()
}

// unqueuedMsg is what comes back from the queue into the composer.
type unqueuedMsg string
