package ui

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/muesli/cancelreader"
	"golang.org/x/term"

	"github.com/phero-agent/agent/app"
)

// pasteGap is the longest time between two lines of a paste.
const pasteGap = 20 * time.Millisecond

// plainScreen is the line mode: the same [Model] with another front. What happens
// is printed once, from the top down, and never drawn again; a line that is typed
// is a prompt, a command or the answer to a numbered question.
type plainScreen struct {
	m   *Model
	in  *os.File
	out *gate

	msgs  chan tea.Msg
	keys  cancelreader.CancelReader // of the lines that are read now
	read  chan struct{}             // closed when their reader ended
	away  atomic.Bool               // another program has the terminal
	ended bool

	asked    int  // counts the looks after which the prompt may come
	atPrompt bool // the last thing printed was the prompt

	part   string   // of a line that is continued, with its line end
	burst  []string // lines that came as fast as no one types: one paste
	bursts int      // counts the lines
	dialog dialog   // that was read out
	ready  bool     // its choices were
	rows   int      // how many
	said   printed
	shown  func() // lets the terminal show again what is typed; nil: it does
}

// lineMsg is a line that was typed; eofMsg is ctrl+d in an empty one.
type (
	lineMsg string
	eofMsg  struct{}
)

// runPlain is [Run] in line mode; SIGINT is ctrl+c.
func runPlain(ctx context.Context, m *Model, in *os.File, out io.Writer) error {
	p := &plainScreen{m: m, in: in, out: &gate{to: out}, msgs: make(chan tea.Msg)}
	m.exec = p.exec
	m.look.still = true
	m.profile = colorprofile.NoTTY
	m.newTheme()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	run := func(cmd tea.Cmd) { p.run(ctx, cmd) }
	p.listen(ctx)
	defer p.hush()
	defer p.showTyping()
	run(m.Init())
	p.greet()
	err := p.loop(ctx, run, signals)
	m.pump.Close()
	m.saveLastDraft()
	fmt.Fprintln(out)
	if m.restart && err == nil {
		return ErrRestart
	}
	m.howToResume(out)
	return err
}

func (p *plainScreen) loop(ctx context.Context, run func(tea.Cmd), signals <-chan os.Signal) error {
	for {
		var cmd tea.Cmd
		select {
		case <-ctx.Done():
			return ctx.Err()
		case s := <-signals:
			if s != os.Interrupt {
				return &SignalError{s}
			}
			if p.away.Load() { // it is for the other program
				continue
			}
			p.part = ""
			cmd = p.update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
		case msg := <-p.msgs:
			switch msg := msg.(type) {
			case tea.QuitMsg:
				return nil
			case tea.BatchMsg:
				for _, c := range msg {
					run(c)
				}
				continue
			case lineMsg:
				cmd = p.line(string(msg))
			case eofMsg:
				if p.ended {
					return nil
				}
				p.ended = true // a second one quits whatever runs
				run(p.flush())
				cmd = p.m.quit()
			case burstMsg:
				if int(msg) == p.bursts {
					cmd = p.flush()
				}
			case promptMsg:
				p.promptIdle(msg)
				continue
			case batch:
				p.output(msg)
				cmd = p.update(msg)
			case execDone:
				p.out.open()
				p.listen(ctx)
				cmd = p.update(msg.msg)
			default:
				cmd = p.update(msg)
			}
		}
		run(cmd)
		run(p.show())
	}
}

func (p *plainScreen) update(msg tea.Msg) tea.Cmd {
	_, cmd := p.m.Update(msg)
	return cmd
}

// run runs a command and brings its message.
func (p *plainScreen) run(ctx context.Context, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() { // ends with its command; what comes too late is dropped
		if msg := cmd(); msg != nil {
			p.send(ctx, msg)
		}
	}()
}

func (p *plainScreen) send(ctx context.Context, msg tea.Msg) {
	select {
	case p.msgs <- msg:
	case <-ctx.Done():
	}
}

// listen reads lines.
func (p *plainScreen) listen(ctx context.Context) {
	keys, err := cancelreader.NewReader(p.in)
	if err != nil {
		return // nobody can type: the end of ctx or a signal ends it
	}
	p.keys, p.read = keys, make(chan struct{})
	go func(read chan struct{}) { // ends by Cancel, or with the input
		defer close(read)
		for in := bufio.NewReader(keys); ; {
			line, err := in.ReadString('\n')
			switch {
			case line != "":
				p.send(ctx, lineMsg(strings.TrimRight(line, "\r\n")))
			case errors.Is(err, io.EOF):
				p.send(ctx, eofMsg{})
				if !term.IsTerminal(int(p.in.Fd())) {
					return
				}
			case err != nil:
				return
			}
		}
	}(p.read)
}

// hush stops reading.
func (p *plainScreen) hush() {
	if p.keys != nil && p.keys.Cancel() {
		<-p.read
		p.keys.Close()
	}
}

// exec gives the terminal to a command, and takes it back.
func (p *plainScreen) exec(c tea.ExecCommand, done tea.ExecCallback) tea.Cmd {
	return func() tea.Msg {
		p.away.Store(true)
		defer p.away.Store(false)
		p.hush()
		p.out.close()
		c.SetStdin(p.in)
		c.SetStdout(p.out.to)
		c.SetStderr(p.out.to)
		err := c.Run()
		return execDone{done(err)}
	}
}

// gate holds back what is printed while another program has the terminal.
type gate struct {
	to io.Writer

	mu     sync.Mutex
	closed bool
	held   bytes.Buffer
}

func (g *gate) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return g.held.Write(b)
	}
	return g.to.Write(b)
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// open prints what was held back; that it cannot be printed is noticed at the next line.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = false
	_, _ = g.held.WriteTo(g.to)
}

// execDone says that the terminal is ours again.
type execDone struct{ msg tea.Msg }

// line does what was typed: it answers the dialog that is open, else it is sent.
func (p *plainScreen) line(s string) tea.Cmd {
	m := p.m
	m.look.now = time.Now()
	defer func() { m.lastKey = m.look.now }()
	m.status.pressed()
	p.showTyping()
	p.atPrompt, p.ended = false, false // the terminal went to the next line
	if d := m.asking(); d != nil && p.part == "" {
		if cmd, taken := p.answer(d, s); taken {
			return cmd
		}
	}
	p.burst = append(p.burst, s)
	p.bursts++
	msg := burstMsg(p.bursts)
	return tea.Tick(pasteGap, func(time.Time) tea.Msg { return msg })
}

// burstMsg says that nothing came for a while after the line of this number.
type burstMsg int

// flush submits the lines that wait for more of a paste.
func (p *plainScreen) flush() tea.Cmd {
	lines := p.burst
	if p.burst = nil; len(lines) == 0 {
		return nil
	}
	return p.submit(strings.Join(lines, "\n"))
}

// submit sends a prompt, does a command, or goes on with a line that is continued.
func (p *plainScreen) submit(s string) tea.Cmd {
	m := p.m
	if rest, more := strings.CutSuffix(s, `\`); more {
		p.part += rest + "\n"
		return nil
	}
	s, p.part = p.part+s, ""
	if s == "" { // the draft, if there is one
		return m.send()
	}
	draft := m.composer.text()
	m.composer.set(cleanPaste(s))
	p.said.typed(strings.TrimSpace(m.composer.text()))
	cmd := m.send()
	if draft != "" {
		m.composer.set(draft)
	}
	return cmd
}

// answer gives a line to a dialog, and tells whether it was for it. Nothing that
// was typed before the choices were read answers anything.
func (p *plainScreen) answer(d dialog, s string) (tea.Cmd, bool) {
	m := p.m
	message := strings.HasPrefix(s, "/") || strings.HasPrefix(s, "!") || strings.Contains(s, " ")
	if q := m.question(); m.modal == nil && (!q.armed || !p.ready) {
		if !message && s != "" {
			if d.spoken(m.look.theme, m.keys).secret {
				s = "a secret"
			}
			p.println("That came before the choices were read; it answers nothing: " + s)
			q.pressed(m.look.now)
			return nil, true
		}
		return nil, s == ""
	}
	sp := d.spoken(m.look.theme, m.keys)
	c := sp.find(strings.TrimSpace(s))
	switch {
	case c != nil:
		p.dialog = nil // it is read again if it stays
		return m.act(c.do()), true
	case strings.TrimSpace(s) == "esc":
		p.dialog = nil
		return m.act(d.key("esc", tea.KeyPressMsg{}, m.keys)), true
	case sp.take != nil:
		p.dialog = nil
		return m.act(sp.take(s)), true
	case message:
		return nil, false
	}
	p.println(fmt.Sprintf("There is no choice %q: type a number from 1 to %d.", s, len(sp.choices)))
	p.prompt(sp)
	return nil, true
}

// hideTyping keeps what is typed from the terminal, for a secret. Where that cannot be
// it is said.
func (p *plainScreen) hideTyping() {
	if p.shown != nil {
		return
	}
	show, err := hideEcho(p.in)
	if err != nil {
		p.println("What you type can be seen here.")
		return
	}
	p.shown = show
}

func (p *plainScreen) showTyping() {
	if p.shown != nil {
		p.shown()
		p.shown = nil
	}
}

// output prints what commands print.
func (p *plainScreen) output(b batch) {
	for _, e := range b.events {
		if out, ok := e.(app.ToolOutput); ok {
			p.println(p.said.chunk(out, b.skipped[out.CallID])...)
		}
	}
}
