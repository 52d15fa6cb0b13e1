package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
)

// draftEvery is how long after a change the draft is saved: what a crash can cost.
const draftEvery = time.Second

// drafts keeps what is written and not yet sent in a file, which a later start
// takes over when this program no longer runs.
type drafts struct {
	dir     string // "" keeps nothing
	pending bool   // a save is under way
	changes int    // of the composer, when it was saved
	kept    bool   // the file is there
}

// savedDraft is the file's content.
type savedDraft struct {
	Text  string      `json:"text"`
	Chips []savedChip `json:"chips,omitempty"`
}

type savedChip struct {
	Label   string `json:"label"`
	Content string `json:"content"`
}

// draftMsg brings the draft of before.
type draftMsg savedDraft

// keepDraftMsg says that it is time to save.
type keepDraftMsg struct{}

func (d *drafts) file() string {
	return filepath.Join(d.dir, fmt.Sprintf("draft-%d.json", os.Getpid()))
}

// load takes over the newest draft of a program that no longer runs.
func (d *drafts) load() tea.Cmd {
	if d.dir == "" {
		return nil
	}
	return func() tea.Msg {
		names, _ := filepath.Glob(filepath.Join(d.dir, "draft-*.json"))
		newest, when := "", time.Time{}
		for _, name := range names {
			info, err := os.Stat(name)
			if err == nil && !ownerRuns(name) && info.ModTime().After(when) {
				newest, when = name, info.ModTime()
			}
		}
		if newest == "" {
			return nil
		}
		var saved savedDraft
		data, err := os.ReadFile(newest)
		if err != nil || json.Unmarshal(data, &saved) != nil || saved.Text == "" {
			return nil
		}
		if os.Rename(newest, d.file()) != nil { // another start was faster
			return nil
		}
		return draftMsg(saved)
	}
}

// ownerRuns tells whether the program that saved a draft still runs, as far as
// its process number tells.
func ownerRuns(file string) bool {
	number, _ := strings.CutPrefix(strings.TrimSuffix(filepath.Base(file), ".json"), "draft-")
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 0 || pid == os.Getpid() { // ours, of a run before a reboot
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission) || runtime.GOOS == "windows"
}

// draftLoaded puts the draft of before into an empty composer.
func (m *Model) draftLoaded(msg draftMsg) {
	m.drafts.kept = true
	if !m.composer.empty() {
		return
	}
	for _, c := range msg.Chips {
		m.composer.chips = append(m.composer.chips, chip{c.Label, c.Content})
	}
	m.composer.set(msg.Text)
	m.status.say(app.Notice{Text: "what you wrote last time is back"}, m.look.now)
}

// keepDraft asks for a save some time after a change.
func (m *Model) keepDraft() tea.Cmd {
	d := &m.drafts
	if d.dir == "" || d.pending || d.changes == m.composer.changes {
		return nil
	}
	if m.composer.empty() { // it was sent: it must not come back
		return m.saveDraft()
	}
	d.pending = true
	return tea.Tick(draftEvery, func(time.Time) tea.Msg { return keepDraftMsg{} })
}

// saveDraft saves what is written now; nothing is written when it is sent.
func (m *Model) saveDraft() tea.Cmd {
	save := m.drafts.save(m.composer)
	return func() tea.Msg {
		if err := save(); err != nil {
			return failure{fmt.Errorf("what you write is not saved: %w", err)}
		}
		return nil
	}
}

// saveLastDraft saves when the program ends: nobody can be told any more.
func (m *Model) saveLastDraft() {
	if err := m.drafts.save(m.composer)(); err != nil {
		slog.Warn("the draft is not saved", "error", err)
	}
}

// save returns what brings the file to the composer's present state.
func (d *drafts) save(c *composer) func() error {
	d.pending, d.changes = false, c.changes
	if d.dir == "" {
		return func() error { return nil }
	}
	file, drop := d.file(), c.empty() && d.kept
	if d.kept = !c.empty(); !d.kept {
		return func() error {
			if drop {
				return os.Remove(file)
			}
			return nil
		}
	}
	saved := savedDraft{Text: c.shown()}
	for _, chip := range c.chips {
		if strings.Contains(saved.Text, chip.label) {
			saved.Chips = append(saved.Chips, savedChip{chip.label, chip.content})
		}
	}
	return func() error {
		data, err := json.Marshal(saved)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		temp := file + ".new"
		if err := os.WriteFile(temp, data, 0o600); err != nil {
			return err
		}
		return os.Rename(temp, file)
	}
}
