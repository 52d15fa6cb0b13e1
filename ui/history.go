package ui

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	tea "charm.land/bubbletea/v2"
)

const (
	maxHistory   = 1000      // prompts that are kept in memory
	historyBytes = 512 << 10 // how much of the file's end is read
)

// history is the prompts of before, oldest first. The file holds one JSON
// string a line and only grows.
type history struct {
	file    string // "" keeps nothing
	entries []string
	at      int    // what is shown; len(entries): the draft
	draft   string // what was in the composer before going back
}

// historyFile is where prompts are kept; "" for this run only.
func (o Options) historyFile() string {
	if o.StateDir == "" {
		return ""
	}
	return filepath.Join(o.StateDir, "history.jsonl")
}

// historyMsg brings the prompts of the file.
type historyMsg []string

// load reads the end of the file.
func (h *history) load() tea.Cmd {
	file := h.file
	if file == "" {
		return nil
	}
	return func() tea.Msg {
		f, err := os.Open(file)
		if err != nil {
			return nil
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.Size() > historyBytes {
			if _, err := f.Seek(-historyBytes, 2); err != nil {
				return nil
			}
		}
		var entries historyMsg
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, historyBytes+1)
		for lines.Scan() {
			var s string
			if json.Unmarshal(lines.Bytes(), &s) == nil && s != "" {
				entries = append(entries, s)
			}
		}
		return entries
	}
}

// loaded puts the prompts of the file before those of now.
func (h *history) loaded(old []string) {
	shown := len(h.entries) - h.at
	h.entries = append(slices.Clip(old), h.entries...)
	h.trim()
	h.at = max(0, len(h.entries)-shown)
}

func (h *history) trim() {
	if n := len(h.entries) - maxHistory; n > 0 {
		h.entries = append([]string(nil), h.entries[n:]...)
	}
}

// add keeps a prompt; the command writes it to the file.
func (h *history) add(prompt string) tea.Cmd {
	if n := len(h.entries); n == 0 || h.entries[n-1] != prompt {
		h.entries = append(h.entries, prompt)
		h.trim()
	}
	h.at, h.draft = len(h.entries), ""
	file := h.file
	if file == "" {
		return nil
	}
	return func() tea.Msg {
		if err := appendLine(file, prompt); err != nil {
			return failure{fmt.Errorf("the prompt history is not saved: %w", err)}
		}
		return nil
	}
}

func appendLine(file, prompt string) error {
	line, err := json.Marshal(prompt)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// back goes to the prompt before; current is what the composer shows.
func (h *history) back(current string) (string, bool) {
	if h.at == 0 {
		return "", false
	}
	if h.at == len(h.entries) {
		h.draft = current
	}
	h.at--
	return h.entries[h.at], true
}

// forward goes to the prompt after, and at last to the draft.
func (h *history) forward() (string, bool) {
	if h.at >= len(h.entries) {
		return "", false
	}
	h.at++
	if h.at == len(h.entries) {
		return h.draft, true
	}
	return h.entries[h.at], true
}
