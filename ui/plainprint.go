package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/ui/text"
)

// resumedItems is how many items of a resumed session are read.
const resumedItems = 20

// floodLines is how many lines of a command's output are printed in one go.
const floodLines = 40

// printed is what the line mode has said so far.
type printed struct {
	of      *transcript
	next    int             // items before it were said
	done    map[int]bool    // items from there on that were said
	started map[string]bool // calls that were said to run
	over    map[string]bool // calls whose end was said
	reply   int             // bytes that were said of the reply that comes in

	live   map[string]string // the line that comes in, by call
	echo   []string          // prompts that the person saw as they typed them
	notice string
	state  string
	queued int
	setUp  string
	draft  string
}

// spokenSigns are words where the screen has signs.
func spokenSigns(s signs) signs {
	s.running, s.done, s.failed, s.denied, s.waiting = "running:", "done:", "failed:", "denied:", "note:"
	s.user, s.folded, s.unfolded, s.prompt = "You:", "", "", ">"
	s.current, s.pending, s.ellipsis, s.minus, s.dash = "now:", "to do:", "...", "-", "-"
	return s
}

func (p *plainScreen) greet() {
	p.println("agent "+p.m.opts.Version+": type here. /help lists the commands. A \\ at a line's end goes on in the next line. ctrl+c stops a turn, ctrl+d quits.", "")
}

func (p *plainScreen) println(lines ...string) {
	for _, l := range lines {
		if p.atPrompt {
			p.atPrompt = false
			fmt.Fprintln(p.out)
		}
		fmt.Fprintln(p.out, strings.TrimRight(text.Strip(l), " "))
	}
}

// show prints what is new since the last look.
func (p *plainScreen) show() tea.Cmd {
	m := p.m
	if p.said.of != m.transcript {
		p.said = printed{of: m.transcript, done: map[int]bool{}, started: map[string]bool{}, over: map[string]bool{}, live: map[string]string{}, echo: p.said.echo, state: p.said.state}
		if n := len(m.transcript.items) - resumedItems; n > 0 {
			p.said.next = n
			p.println(plural(n, "earlier item", "earlier items") + " left out")
		}
	}
	items := p.said.items(m)
	p.println(items...)
	if s := p.state(); s != p.said.state {
		p.said.state = s
		p.println(s)
	}
	if s := m.status.state.SetUp; s != p.said.setUp {
		p.said.setUp = s
		p.println(text.Clean(s))
	}
	p.notices(strings.Join(items, " "))
	p.pane()
	if n := len(m.queued); n != p.said.queued {
		if n > p.said.queued {
			p.println("queued  " + text.Line(m.queued[n-1]))
		}
		p.said.queued = n
	}
	if d := m.asking(); d != nil || p.dialog != nil {
		return p.ask(d)
	}
	if s := m.composer.text(); s != "" && s != p.said.draft {
		p.println("Not sent yet: "+text.Clean(s), "An empty line sends it.")
	}
	p.said.draft = m.composer.text()
	if m.status.running || p.atPrompt {
		return nil
	}
	p.asked++
	asked := promptMsg(p.asked)
	return tea.Tick(promptAfter, func(time.Time) tea.Msg { return asked })
}

// promptAfter is how long it must be quiet before the prompt is printed, so that
// what a command answers comes before it.
const promptAfter = 30 * time.Millisecond

// promptMsg says that it was quiet since the look of this number.
type promptMsg int

func (p *plainScreen) promptIdle(msg promptMsg) {
	if int(msg) != p.asked || p.atPrompt || p.away.Load() || p.m.status.running || p.m.asking() != nil {
		return
	}
	p.atPrompt = true
	fmt.Fprint(p.out, "> ")
}

// state is what the screen always shows: where, with what, in which mode.
func (p *plainScreen) state() string {
	s := p.m.status
	if s.state.Workspace == "" || s.state.Sandbox == "" {
		return ""
	}
	mode := modeName(s.mode)
	if s.mode == permissions.ModeYolo {
		mode = "YOLO"
	}
	parts := []string{s.state.Workspace, s.state.Branch, sandboxName(s.state), mode, s.state.Model}
	if s.state.Root {
		parts = append(parts, "root")
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return text.Line(strings.Join(parts, " "+p.m.look.theme.sign.dot+" "))
}

// notices prints what the screen shows in its last row, unless it was just said.
func (p *plainScreen) notices(just string) {
	m := p.m
	words := text.Line(m.status.notice.Text)
	if words != p.said.notice && words != "" && !strings.Contains(strings.Join(strings.Fields(just), " "), strings.Join(strings.Fields(words), " ")) {
		p.println(words)
	}
	p.said.notice = words
	if m.look.now.Before(m.quitAt) && p.said.notice == "" {
		p.said.notice = "ctrl+c again to quit"
		p.println(p.said.notice)
	}
}

// pane prints a pane that the person opened.
func (p *plainScreen) pane() {
	m := p.m
	if m.focus != onPane {
		return
	}
	m.focus = onComposer
	pane := m.panes()[m.pane]
	p.println(pane.name() + "  " + pane.detail(m.look))
	lines := pane.view(m.look, spokenWidth, openRows, true)
	if len(lines) == 0 {
		lines = []string{"nothing to show"}
	}
	p.println(lines...)
}

// ask reads the dialog that is open, and its choices once it takes an answer.
func (p *plainScreen) ask(d dialog) tea.Cmd {
	m := p.m
	if d == nil {
		p.dialog, p.ready = nil, false
		p.showTyping()
		return p.show()
	}
	sp := d.spoken(m.look.theme, m.keys)
	if p.dialog != d || sp.take != nil && p.rows != len(sp.choices) {
		p.dialog, p.rows, p.ready = d, len(sp.choices), false
		left, right := d.title(m.look.theme)
		p.println("", strings.TrimRight(left+"  "+right, " "))
		p.println(sp.lines...)
	}
	if len(sp.choices) == 0 && sp.take == nil { // it was read
		p.dialog = nil
		return m.act(doClose{})
	}
	if q := m.question(); p.ready || m.modal == nil && !q.armed {
		return nil
	}
	p.ready = true
	for i, c := range sp.choices {
		label := c.label
		if c.word != "" && len(c.word) == 1 {
			label = "[" + c.word + "] " + label
		}
		p.println(fmt.Sprintf("%d. %s", i+1, label))
	}
	p.prompt(sp)
	return nil
}

func (p *plainScreen) prompt(sp spoken) {
	if sp.secret {
		p.hideTyping()
	}
	prompt := sp.prompt
	if prompt == "" {
		prompt = fmt.Sprintf("choose 1 to %d: ", len(sp.choices))
	}
	fmt.Fprint(p.out, prompt)
}

// typed keeps a prompt that the terminal has echoed.
func (s *printed) typed(prompt string) { s.echo = append(s.echo, prompt) }

// items are the lines of what is new in the transcript.
func (s *printed) items(m *Model) (lines []string) {
	for i := s.next; i < len(m.transcript.items); i++ {
		if s.done[i] {
			continue
		}
		last := i == len(m.transcript.items)-1
		said, done := s.item(m, m.transcript.items[i], last)
		lines = append(lines, said...)
		s.done[i] = done
	}
	for s.done[s.next] {
		delete(s.done, s.next)
		s.next++
	}
	return lines
}

// item is what is new of one item, and whether all of it was said.
func (s *printed) item(m *Model, it item, last bool) (lines []string, done bool) {
	switch it := it.(type) {
	case *userItem:
		if i := slices.Index(s.echo, it.text); i >= 0 {
			s.echo = slices.Delete(s.echo, i, i+1)
			return nil, true
		}
		return []string{"", "You: " + text.Clean(it.text)}, true
	case *replyItem:
		return s.replied(it)
	case *toolItem:
		return s.called(m, it.call, it.open), it.call.over()
	case *exploreItem:
		done = !last
		for _, c := range it.calls {
			lines = append(lines, s.called(m, c, false)...)
			done = done && c.over()
		}
		return lines, done
	}
	if !it.Final() {
		return nil, false
	}
	return it.Lines(spokenWidth), true
}

// replied is the lines of a reply that came since the last look, as Markdown.
func (s *printed) replied(r *replyItem) (lines []string, done bool) {
	source := r.doc.Source()
	end := len(source)
	if !r.done {
		end = strings.LastIndexByte(source, '\n') + 1
	}
	if s.reply == 0 && end > 0 {
		lines = append(lines, "")
	}
	if end > s.reply {
		lines = append(lines, text.Clean(strings.TrimSuffix(source[s.reply:end], "\n")))
		s.reply = end
	}
	if !r.done {
		return lines, false
	}
	s.reply = 0
	if r.cut {
		lines = append(lines, "... cut off")
	}
	return lines, true
}

// called says that a call began, and how it ended.
func (s *printed) called(m *Model, c *call, open bool) (lines []string) {
	head := func() string {
		h := text.Strip(header(m.look, c, spokenWidth))
		for strings.Contains(h, "   ") {
			h = strings.ReplaceAll(h, "   ", "  ")
		}
		return strings.TrimSuffix(h, "  "+m.look.theme.sign.running)
	}
	if c.state == callRunning && !s.started[c.ID] {
		s.started[c.ID] = true
		lines = append(lines, head())
	}
	if !c.over() || s.over[c.ID] {
		return lines
	}
	s.over[c.ID] = true
	printed := false
	if rest, ok := s.live[c.ID]; ok {
		printed = true
		delete(s.live, c.ID)
		if rest != "" {
			lines = append(lines, "    "+text.Clean(rest))
		}
	}
	lines = append(lines, head())
	if !printed || c.state != callDone && c.bash() == nil {
		for _, l := range body(m.look, c, spokenWidth-4, open) {
			lines = append(lines, "    "+l)
		}
	}
	return lines
}

// chunk is the whole lines of a command's output as it prints; where more than
// one prints, each line says whose it is.
func (s *printed) chunk(e app.ToolOutput, skipped int) (lines []string) {
	if s.live == nil {
		return nil
	}
	all := s.live[e.CallID] + string(e.Chunk)
	end := strings.LastIndexByte(all, '\n') + 1
	s.live[e.CallID] = all[end:]
	if end == 0 {
		return nil
	}
	head := "    "
	if len(s.live) > 1 {
		head += s.of.calls[e.CallID].name() + "  "
	}
	whole := strings.Split(text.Clean(all[:end-1]), "\n")
	if over := len(whole) - floodLines; over > 0 {
		skipped, whole = skipped+over, whole[over:]
	}
	if skipped > 0 {
		lines = append(lines, head+"... "+plural(skipped, "line", "lines")+" left out")
	}
	for _, l := range whole {
		lines = append(lines, head+l)
	}
	return lines
}

// name is the command in a word or two.
func (p *place) name() string {
	if p == nil {
		return ""
	}
	return text.Truncate(text.Line(p.call.arg("command")), 30, "...") + ":"
}
