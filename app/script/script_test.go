package script

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

const branching = `# a comment
== start
Hello *you*.
## a heading
> bash {"command":"x",
  "timeout":5}
? denied -> no
? failed -> bad
== good
went well
-> start
== no
was denied
== bad
! 503 fell over
`

// play answers every call of a reply with the given ends and returns the texts of all replies.
func play(t *testing.T, ends ...session.Message) string {
	t.Helper()
	s, err := Parse(branching)
	if err != nil {
		t.Fatal(err)
	}
	p := New(s, 0, "over")
	messages := []session.Message{{Role: session.RoleUser, Text: "go"}}
	var said []string
	for _, end := range append(ends, session.Message{}) {
		var streamed string
		reply, err := p.Stream(t.Context(), app.Request{Messages: messages}, func(d app.Delta) { streamed += d.Text })
		var problem *app.ProviderError
		if errors.As(err, &problem) {
			return strings.Join(append(said, problem.Text), "|")
		}
		if err != nil || streamed != reply.Message.Text {
			t.Fatalf("streamed %q of %q, %v", streamed, reply.Message.Text, err)
		}
		said = append(said, reply.Message.Text)
		messages = append(messages, reply.Message)
		for range reply.Message.Calls {
			end.Role = session.RoleTool
			messages = append(messages, end)
		}
		if len(reply.Message.Calls) == 0 {
			messages = append(messages, session.Message{Role: session.RoleUser, Text: "next"})
		}
	}
	return strings.Join(said, "|")
}

func TestAScriptGoesWhereThingsWent(t *testing.T) {
	start := "Hello *you*.\n## a heading"
	for _, tt := range []struct {
		end  session.Message
		want string
	}{
		{session.Message{Status: session.StatusOK, Text: `{"exit_code":0}`}, start + "|went well"},
		{session.Message{Status: session.StatusDenied}, start + "|was denied"},
		{session.Message{Status: session.StatusFailed}, start + "|fell over"},
		{session.Message{Status: session.StatusOK, Text: `{"exit_code":1}`}, start + "|fell over"},
	} {
		if got := play(t, tt.end); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.end.Status, tt.end.Text, got, tt.want)
		}
	}
	if got, want := play(t, session.Message{}, session.Message{}), start+"|went well|"+start; got != want {
		t.Errorf("a script that goes back said %q, want %q", got, want)
	}
	if got, want := play(t, session.Message{Status: session.StatusDenied}, session.Message{}), start+"|was denied|fell over"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}

func TestAScriptNamesItsFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "no reply",
		"hello":                   "line 1",
		"== a\n== a\n":            "two replies",
		"== a\n-> b\n":            `"b"`,
		"== a\n> bash {\n":        "not JSON",
		"== a\n? denied\n":        "line 2",
		"== a\n> bash {}\nmore\n": "line 3",
		"== a\n! five hundred\n":  "line 2",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestAHangingReplyEndsWithItsContext(t *testing.T) {
	s, err := Parse("== a\nhalf\n~ hang\n")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	reply, err := New(s, 0, "").Stream(ctx, app.Request{}, func(d app.Delta) { cancel() })
	if !errors.Is(err, context.Canceled) || reply.Message.Text != "half" || !reply.Message.Cut {
		t.Fatalf("%+v, %v", reply, err)
	}
}

// Both demos make their files, and their scripts parse; the shell's one needs no Go.
func TestDemo(t *testing.T) {
	for _, path := range []string{os.Getenv("PATH"), t.TempDir()} {
		t.Setenv("PATH", path)
		dir := t.TempDir()
		s, err := Demo(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if s.place(nil) != 0 {
			t.Fatal("the script does not begin with its first reply")
		}
		if _, err := os.Stat(filepath.Join(dir, "README.md")); err != nil {
			t.Fatal(err)
		}
	}
}
