package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// twoTurns answers the second message, and what is said in its place, alike.
const twoTurns = `
== a
> todo_write {"todos":[{"content":"First","status":"in_progress"}]}
== b
> write {"file_path":"f","content":"one\n"}
== c
First done.
== d
> todo_write {"todos":[{"content":"Second","status":"in_progress"}]}
> edit {"file_path":"f","old_string":"one","new_string":"two"}
> write {"file_path":"g","content":"new\n"}
== e
Second done.
`

func said(messages []session.Message) string {
	var words []string
	for _, m := range messages {
		if m.Role != session.RoleTool && m.Text != "" {
			text, _, _ := strings.Cut(m.Text, "\n")
			words = append(words, text)
		}
	}
	return strings.Join(words, "|")
}

// The conversation goes back to a message, with the files or without; the model
// is told, the log keeps everything, and a resume shows the same (decision 29).
func TestRewind(t *testing.T) {
	r := newRig(t, twoTurns, nil)
	r.turn("first")
	r.turn("second")
	prompts, err := r.app.Prompts()
	if err != nil || len(prompts) != 2 || prompts[0].Files != 2 || prompts[1].Files != 2 || prompts[1].Text != "second" {
		t.Fatalf("prompts: %+v, %v", prompts, err)
	}
	if err := r.app.Rewind(prompts[1].Seq + 1); !errors.Is(err, session.ErrNoMessage) {
		t.Errorf("to no message: %v", err)
	}
	// With the files: they are undone first.
	from := r.seen()
	plan, err := r.app.PlanUndo(session.Scope{From: prompts[1].Seq}, false)
	if err != nil || len(plan) != 2 {
		t.Fatalf("plan: %+v, %v", plan, err)
	}
	r.app.Undo(session.Scope{From: prompts[1].Seq}, []session.Pick{plan[1].Pick()})
	if err := r.app.Rewind(prompts[1].Seq); err != nil {
		t.Fatal(err)
	}
	if r.file("f") != "one\n" {
		t.Errorf("f holds %q", r.file("f"))
	}
	todos, _ := await(r, from, func(e app.Committed) bool { return e.Entry.Kind == session.KindTodo })
	if len(todos.Entry.Todo) != 1 || todos.Entry.Todo[0].Content != "First" {
		t.Errorf("the task list is %+v", todos.Entry.Todo)
	}
	if _, i := await(r, from, func(e app.Usage) bool { return e.Estimated && e.Last.Input > 0 }); i == 0 {
		t.Error("the gauge says nothing")
	}
	r.turn("third")
	if got := said(r.last()); got != "first|First done.|third" {
		t.Errorf("the model sees %s", got)
	}
	note := r.last()[6].Text
	for _, want := range []string{"took the conversation back", "still in them: g.", "Read a file again", "The task list as it is now", "First"} {
		if !strings.Contains(note, want) {
			t.Errorf("no %q in the note: %s", want, note)
		}
	}
	if res := r.result(3); res.Status != session.StatusFailed || r.file("f") != "one\n" { // it is read no more
		t.Errorf("an edit of a file that was not read again: %+v, %q", res, r.file("f"))
	}
	checkValid(t, r.last())

	// A resume is where the conversation was.
	live := r.last()
	if err := r.app.Close(); err != nil {
		t.Fatal(err)
	}
	again := rigIn(t, r.dir, twoTurns+"== f\nAgain.\n")
	if err := again.app.Open(""); err != nil {
		t.Fatal(err)
	}
	again.turn("go on")
	if got := said(again.last()); got != said(live)+"|Second done.|go on" {
		t.Errorf("resumed, the model sees %s", got)
	}
	// What was made behind the message can still be undone.
	again.app.Undo(session.Scope{}, nil)
	if _, err := os.Stat(filepath.Join(r.dir, "g")); !os.IsNotExist(err) {
		t.Errorf("g: %v", err)
	}
}

func TestRewindWhileATurnRuns(t *testing.T) {
	r := newRig(t, "== a\n> bash {\"command\":\"true\"}\n== b\ndone\n", nil)
	r.answer = open
	from := r.seen()
	r.app.Submit("go")
	asked, _ := await[app.Asked](r, from, nil)
	if err := r.app.Rewind(2); !errors.Is(err, app.ErrBusy) {
		t.Errorf("while a turn runs: %v", err)
	}
	if err := r.app.Fork(0); !errors.Is(err, app.ErrBusy) {
		t.Errorf("while a turn runs: %v", err)
	}
	r.app.Answer(asked.ID, app.Answer{})
	await[app.TurnEnded](r, from, nil)
}

// Everything can be gone back behind: then it is a new conversation in an old log.
func TestRewindToTheStart(t *testing.T) {
	r := newRig(t, "== a\nYes.\n== b\nNo.\n", nil)
	r.turn("first")
	prompts, _ := r.app.Prompts()
	if err := r.app.Rewind(prompts[0].Seq); err != nil {
		t.Fatal(err)
	}
	r.turn("other")
	if got := said(r.last()); got != "other" || !strings.Contains(r.last()[0].Text, "Today is") {
		t.Errorf("the model sees %+v", r.last())
	}
}

// A fork goes on in a copy; the session stays as it was.
func TestFork(t *testing.T) {
	r := newRig(t, "== a\nOne.\n== b\nTwo.\n== c\nThree.\n", nil)
	if err := r.app.Fork(0); err == nil || !strings.Contains(err.Error(), "nothing was said") {
		t.Errorf("of nothing: %v", err)
	}
	r.turn("first")
	r.turn("second")
	prompts, _ := r.app.Prompts()
	list, _ := r.app.Sessions()
	from := r.seen()
	if err := r.app.Fork(prompts[1].Seq); err != nil {
		t.Fatal(err)
	}
	opened, _ := await[app.Opened](r, from, nil)
	if opened.ID == list[0].ID {
		t.Error("it is no other session")
	}
	r.turn("third")
	if got := said(r.last()); got != "first|One.|third" {
		t.Errorf("the model sees %s", got)
	}
	if err := r.app.Rename("the copy"); err != nil {
		t.Fatal(err)
	}
	titles := map[string]string{}
	list, _ = r.app.Sessions()
	for _, info := range list {
		titles[info.ID] = info.Title
		if info.Foreign {
			t.Errorf("foreign: %+v", info)
		}
	}
	if len(titles) != 2 || titles[opened.ID] != "the copy" {
		t.Errorf("sessions: %v", titles)
	}
}

func TestExport(t *testing.T) {
	r := newRig(t, "== a\nYes.\n", nil)
	if _, err := r.app.Export(""); err == nil {
		t.Error("nothing was exported")
	}
	r.turn("first")
	for name, want := range map[string]string{"": "## You", "x.JSON": `"entries": [`, "x.md": "Yes."} {
		path, err := r.app.Export(name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(data), want) || filepath.Dir(path) != r.dir {
			t.Errorf("%s holds %s, %v", path, data, err)
		}
	}
	if _, err := r.app.Export("x.md"); err == nil || !strings.Contains(err.Error(), "there already") {
		t.Errorf("over a file: %v", err)
	}
}
