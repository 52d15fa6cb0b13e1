package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// instead answers with the person's own version of the file.
func instead(content string) func(app.Asked) (app.Answer, bool) {
	return func(app.Asked) (app.Answer, bool) { return app.Answer{Allow: true, Version: &content}, true }
}

// Decision 12: what the person makes of a proposal is written to the byte, journaled
// as theirs, and the model is told what is different and may go on from it.
func TestTheirVersionIsWritten(t *testing.T) {
	r := newRig(t, `
== a
> read {"file_path":"f"}
== b
> edit {"file_path":"f","old_string":"A","new_string":"B"}
== c
> edit {"file_path":"f","old_string":"C","new_string":"D"}
== d
done
`, map[string]string{"f": "\ufeffA\r\nend\r\n"})
	asks := 0
	r.answer = func(q app.Asked) (app.Answer, bool) {
		if asks++; asks == 1 {
			return instead("C\nend\r\n\n")(q)
		}
		return yes(q)
	}
	r.turn("go")
	m := r.result(1)
	if m.Status != session.StatusOK || !strings.Contains(m.Text, "the user's version") || !strings.Contains(m.Text, "\n+C\n") || !strings.Contains(m.Text, "\n-\ufeffB\r\n") {
		t.Errorf("the model is told %+v", m)
	}
	if r.result(2).Status != session.StatusOK || r.file("f") != "D\nend\r\n\n" { // seen by the tracker, and not given the old form
		t.Errorf("the file is %q after %+v", r.file("f"), r.result(2))
	}
	c, _ := await(r, 0, func(c app.Committed) bool { return c.Entry.Change != nil })
	if c.Entry.Change.Tool != session.ByEditor || c.Entry.Change.CallID == "" {
		t.Errorf("the change is journaled as %+v", c.Entry.Change)
	}
	plan, err := r.app.PlanUndo(session.Scope{Turn: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	r.app.Undo(session.Scope{Turn: true}, []session.Pick{plan[0].Pick()})
	if got := r.file("f"); got != "\ufeffA\r\nend\r\n" {
		t.Errorf("undone, the file is %q", got)
	}
}

// FILE-69: a file that changed while the person wrote their version is kept.
func TestTheirVersionOverwritesNothing(t *testing.T) {
	r := newRig(t, editF, map[string]string{"f": "A\n"})
	r.answer = func(q app.Asked) (app.Answer, bool) {
		if err := os.WriteFile(filepath.Join(r.dir, "f"), []byte("A\nand more\n"), 0o644); err != nil {
			t.Error(err)
		}
		return instead("theirs\n")(q)
	}
	r.turn("go")
	if m := r.result(1); m.Status != session.StatusFailed || !strings.Contains(m.Text, "changed on disk") {
		t.Errorf("the model is told %+v", m)
	}
	if got := r.file("f"); got != "A\nand more\n" {
		t.Errorf("the file is %q", got)
	}
}

// A new file whose content the person empties is an empty file.
func TestTheirVersionOfANewFile(t *testing.T) {
	r := newRig(t, `
== a
> write {"file_path":"d/new","content":"x\n"}
== b
done
`, nil)
	r.answer = instead("")
	r.turn("go")
	if got := r.file("d/new"); got != "" || r.result(0).Status != session.StatusOK {
		t.Errorf("the file is %q after %+v", got, r.result(0))
	}
}
