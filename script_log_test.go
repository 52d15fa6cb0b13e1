//go:build unix

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/phero-agent/agent/session"
)

// checkLog compares the newest session's log with the script's. A program that runs
// still may write what its screen or a file told already.
func (r *scriptRun) checkLog() {
	r.t.Helper()
	want := r.section("log")
	if want == nil {
		return
	}
	got := r.logged()
	for deadline := time.Now().Add(patience); !updating() && got != string(want) && r.term != nil && !r.term.ended() && time.Now().Before(deadline); got = r.logged() {
		time.Sleep(5 * time.Millisecond)
	}
	if updating() && !r.plain {
		r.put("log", got)
		return
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		r.t.Errorf("the log (-want +got):\n%s", diff)
	}
}

// logged is the newest session's log in short.
func (r *scriptRun) logged() string {
	r.t.Helper()
	store, err := session.OpenStore(r.ws)
	if err != nil {
		r.t.Fatal(err)
	}
	latest, err := store.Latest(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	entries, notices, err := store.Read(latest.ID)
	if err != nil || len(notices) > 0 {
		r.t.Fatalf("the log: %v, %v", notices, err)
	}
	var got strings.Builder
	for _, e := range entries {
		if s := r.short(e); s != "" {
			fmt.Fprintf(&got, "%s\n", r.masked(s))
		}
	}
	return got.String()
}

// short is an entry on one line.
func (r *scriptRun) short(e session.Entry) string {
	switch e.Kind {
	case session.KindMessage:
		m := e.Message
		s := string(m.Role)
		if m.Status != "" {
			s += " " + string(m.Status)
		}
		if m.Cut {
			s += " cut"
		}
		if m.Role != session.RoleTool && m.Text != "" {
			s += fmt.Sprintf(" %q", m.Text)
		}
		for _, c := range m.Calls {
			s += " >" + c.Name
		}
		return s
	case session.KindChange:
		return fmt.Sprintf("change %s +%d -%d", strings.TrimPrefix(e.Change.Path, r.ws+"/"), e.Change.Added, e.Change.Removed)
	case session.KindFound:
		s := "found"
		for _, c := range e.Found.Changes {
			s += fmt.Sprintf(" %s +%d -%d", strings.TrimPrefix(c.Path, r.ws+"/"), c.Added, c.Removed)
		}
		for _, l := range e.Found.Lost {
			s += fmt.Sprintf(" lost %s", strings.TrimPrefix(l.Path, r.ws+"/"))
		}
		return s
	case session.KindUndo:
		if e.Undo.Redo {
			return "redo"
		}
		return "undo"
	case session.KindModel:
		return "model " + e.Model
	case session.KindTurn:
		return "turn " + string(e.Turn.Outcome)
	case session.KindTodo:
		return fmt.Sprintf("todo %d", len(e.Todo))
	}
	return string(e.Kind)
}
