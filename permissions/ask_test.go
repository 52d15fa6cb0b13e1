package permissions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/file"
)

// tool makes a tool that counts its runs.
func tool(t testing.TB, name string, runs *atomic.Int32) *tools.Tool {
	t.Helper()
	out, err := tools.NewRawTool(name, "", nil, func(context.Context, string) (any, error) {
		runs.Add(1)
		return "done", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// answers is an Asker that gives its answers in turn and keeps the requests.
type answers struct {
	mu       sync.Mutex
	give     []Answer
	requests []Request
}

func (a *answers) ask(_ context.Context, req Request) (Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, req)
	answer := a.give[0]
	if len(a.give) > 1 {
		a.give = a.give[1:]
	}
	return answer, nil
}

func (a *answers) last() Request { return a.requests[len(a.requests)-1] }

// TestApply: PERM-08, PERM-09, PERM-10, PERM-11; A1, A3, A4.
func TestApply(t *testing.T) {
	var runs atomic.Int32
	asker := &answers{give: []Answer{AllowOnce, Reject, 99, 0, AllowAlways}}
	p := newPolicy(t, WithAsker(asker.ask), WithDeny("bash(rm *)"), WithAllow("bash(ls)"))
	bash := tool(t, "bash", &runs)
	p.Apply(bash, bash)
	p.Apply(bash) // PERM-10: asked once
	call := func(line string) error {
		_, err := bash.Handle(context.Background(), command(line))
		return err
	}
	if err := call("ls"); err != nil || runs.Load() != 1 {
		t.Error("allowed:", err)
	}
	var denied *DeniedError
	err := call("rm x")
	if !errors.Is(err, ErrDenied) || !errors.As(err, &denied) || denied.Rule != "bash(rm *)" || denied.Tool != "bash" || denied.Subject != "rm x" || runs.Load() != 1 {
		t.Errorf("denied: %#v", err)
	}
	if len(asker.requests) != 0 {
		t.Error("asked about a denied call")
	}
	if err := call("make"); err != nil || runs.Load() != 2 || len(asker.requests) != 1 {
		t.Error("AllowOnce:", err, len(asker.requests))
	}
	for range 3 { // PERM-08: unknown and zero answers reject
		if err := call("make"); !errors.Is(err, ErrDenied) || runs.Load() != 2 {
			t.Error("rejected:", err)
		}
	}
	for range 2 {
		if err := call("make"); err != nil {
			t.Error("AllowAlways:", err)
		}
	}
	if len(asker.requests) != 5 {
		t.Errorf("AllowAlways: asked %d times", len(asker.requests))
	}
	for _, want := range []string{"rule", "bash(rm *)"} {
		if !strings.Contains(err.Error(), want) {
			t.Error("text:", err)
		}
	}
	// PERM-09
	lonely := newPolicy(t)
	if err := lonely.Authorize(context.Background(), "bash", command("make")); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "nobody") {
		t.Error(err)
	}
	if err := newPolicy(t, WithDefault(Deny)).Authorize(context.Background(), "x", "{}"); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "no rule") {
		t.Error(err)
	}
	if err := newPolicy(t, WithMode(ModePlan)).Authorize(context.Background(), "write", args("file_path", "x")); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "plan") {
		t.Error(err)
	}
}

// TestDeniedText: A18: the model's text carries no terminal bytes.
func TestDeniedText(t *testing.T) {
	e := &DeniedError{Tool: "a\x1bb", Err: errors.New("x\x1b[2K\u202ey")}
	if s := e.Error(); strings.ContainsAny(s, "\x1b\u202e") {
		t.Errorf("%q", s)
	}
}

// TestAskerFails: PERM-68 and what an Asker may do wrong; A2, B5.
func TestAskerFails(t *testing.T) {
	sentinel := errors.New("the screen is gone")
	var asker Asker
	p := newPolicy(t, WithAsker(func(ctx context.Context, r Request) (Answer, error) { return asker(ctx, r) }))
	call := func() error { return p.Authorize(context.Background(), "bash", command("make")) }

	asker = func(context.Context, Request) (Answer, error) { return AllowAlways, sentinel }
	if err := call(); !errors.Is(err, sentinel) || !errors.Is(err, ErrDenied) || len(p.Always()) != 0 {
		t.Error(err)
	}
	asker = func(context.Context, Request) (Answer, error) { panic("boom") }
	if err := call(); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "boom") {
		t.Error(err)
	}
	asker = func(context.Context, Request) (Answer, error) { return Reject, Feedback("use npm ci") }
	var denied *DeniedError
	if err := call(); !errors.As(err, &denied) || denied.Feedback != "use npm ci" || !strings.Contains(err.Error(), "use npm ci") {
		t.Error(err)
	}
	// A call made by the Asker for its question cannot wait for that question.
	asker = func(ctx context.Context, _ Request) (Answer, error) {
		return AllowOnce, p.Authorize(ctx, "bash", command("other"))
	}
	if err := call(); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "inside the question") {
		t.Error(err)
	}
	asker = func(context.Context, Request) (Answer, error) { return AllowOnce, nil }
	if err := call(); err != nil {
		t.Error("the next question must work:", err)
	}
}

// TestOneQuestion: PERM-61, PERM-62, PERM-63, PERM-64; B1 to B4.
func TestOneQuestion(t *testing.T) {
	open, answer := make(chan Request), make(chan Answer)
	var inside, asked atomic.Int32
	p := newPolicy(t, WithAllow("bash(ls)"), WithAsker(func(ctx context.Context, r Request) (Answer, error) {
		asked.Add(1)
		if inside.Add(1) > 1 {
			t.Error("two questions at once")
		}
		defer inside.Add(-1)
		select {
		case open <- r:
		case <-ctx.Done():
			return Reject, ctx.Err()
		}
		return <-answer, nil
	}))
	ctx := context.Background()
	errs := make(chan error)
	call := func(ctx context.Context, line string) {
		go func() { errs <- p.Authorize(ctx, "bash", command(line)) }()
	}
	call(ctx, "make")
	<-open
	// While it is open everything else goes on (PERM-62, PERM-63).
	p.Grant(Grant{"bash", "npm ci"})
	if p.Decide("bash", command("npm ci")) != Allow || len(p.Always()) != 1 || !p.Forget("bash", "npm ci") || p.Forget("bash", "npm ci") {
		t.Error("the policy is locked")
	}
	if err := p.Authorize(ctx, "bash", command("ls")); err != nil {
		t.Error(err)
	}
	// Ten more wait; a cancelled one leaves the queue at once (PERM-68).
	cancelled, cancel := context.WithCancel(ctx)
	call(cancelled, "other")
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) || !errors.Is(err, ErrDenied) {
		t.Error(err)
	}
	for range 9 {
		call(ctx, "make")
	}
	call(ctx, "deploy")
	answer <- AllowAlways
	rejected := 0
	for range 11 {
		select {
		case r := <-open:
			if r.Subject != "deploy" { // PERM-64: the answer just given counts
				t.Error("asked again:", r.Subject)
			}
			answer <- Reject
			rejected++
			if err := <-errs; err != nil && !errors.Is(err, ErrDenied) {
				t.Error(err)
			}
		case err := <-errs:
			if err != nil && !errors.Is(err, ErrDenied) {
				t.Error(err)
			}
		}
	}
	if asked.Load() != 2 || rejected != 1 {
		t.Error("questions:", asked.Load())
	}
}

// TestAlways: PERM-65, PERM-66, PERM-67, PERM-69, PERM-78, PERM-79, PERM-80; A5 to A11, A13 to A15.
func TestAlways(t *testing.T) {
	asker := &answers{give: []Answer{AllowAlways}}
	p := newPolicy(t, WithAsker(asker.ask), WithAsk("bash(git *)"), WithDeny("bash(rm *)"), WithAllow("bash(tee *)"))
	ctx := context.Background()
	ask := func(tool, arguments string) Request {
		t.Helper()
		n := len(asker.requests)
		if err := p.Authorize(ctx, tool, arguments); err != nil {
			t.Error(err)
		}
		if len(asker.requests) != n+1 {
			t.Fatalf("%d questions about %s", len(asker.requests)-n, arguments)
		}
		return asker.last()
	}
	subjects := func(want ...string) {
		t.Helper()
		if got := asker.last().Subjects; !slices.Equal(got, want) {
			t.Errorf("subjects %q, want %q", got, want)
		}
	}
	decide := func(line string, want Decision) {
		t.Helper()
		if got := p.Decide("bash", command(line)); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	ask("bash", command("go  vet ./... && make;make | tee f"))
	subjects("go vet ./...", "make", "tee f") // PERM-78, PERM-79; what a rule allows stays in
	decide("go vet ./...", Allow)
	decide("go\tvet   ./...", Allow) // PERM-65
	decide("go vet ./x", Ask)
	decide("make", Allow) // PERM-69
	ask("bash", command("make && npm ci"))
	subjects("npm ci") // answered already: left out

	ask("bash", command("git push && cargo"))
	subjects("cargo") // PERM-80
	decide("git push", Ask)
	decide("cargo", Allow)
	ask("bash", command("git push"))
	subjects() // always has no effect

	ask("bash", command("ls *.go")) // a stored * is no pattern
	decide("ls *.go", Allow)
	decide("ls x.go", Ask)

	ask("bash", command("python3 <<E\nprint(1)\nE"))
	subjects("python3 <<E\nprint(1)\nE")
	decide("python3 <<E\nprint(1)\nE", Allow)
	decide("python3 <<E\nprint(2)\nE", Ask) // PERM-32

	ask("bash", command("A=1 make x >/dev/null 2>&1"))
	subjects("A=1 make x")
	decide("make x", Ask)

	ask("bash", command(" echo $(id) > f"))
	subjects(" echo $(id) > f") // PERM-81: an opaque line is stored whole
	decide(" echo $(id) > f", Allow)
	decide("echo $(id) > f", Ask)
	decide("echo", Ask)
	decide("id", Ask)
	ask("bash", command("git log > f"))
	subjects() // an ask rule would ask again

	p.Grant(Grant{"bash", "rm x"}, Grant{"bash", "x $(rm y)"}, Grant{"bash", "make"})
	decide("rm x", Deny)
	decide("x $(rm y)", Deny)
	if n := len(p.Always()); n != 11 {
		t.Error("answers:", n, p.Always())
	}
	if first := p.Always()[0]; first != (Grant{"bash", "go vet ./..."}) { // PERM-66
		t.Error(first)
	}
	p.Always()[0] = Grant{}
	if p.Forget("bash", "go  vet ./...") || p.Forget("read", "go vet ./...") || !p.Forget("bash", "go vet ./...") {
		t.Error("Forget")
	}
	decide("go vet ./...", Ask) // PERM-67

	// A tool without a subject is allowed as a whole; an empty subject is not stored.
	ask("todo_write", "{}")
	subjects("")
	if p.Decide("todo_write", `{"x":1}`) != Allow || p.Decide("user_interaction", "{}") != Ask {
		t.Error("tool without a subject")
	}
	ask("web_fetch", "{}")
	subjects()
	ask("bash", command("# nothing"))
	subjects() // PERM-47

	restored := newPolicy(t, WithAlways(p.Always()...))
	if restored.Decide("bash", command("cargo")) != Allow || restored.Decide("bash", command("ls x.go")) != Ask || len(restored.Always()) != len(p.Always()) {
		t.Error("WithAlways")
	}
}

// TestRequest: PERM-74, PERM-75, PERM-76, PERM-77, PERM-81; A16, A17.
func TestRequest(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	asker := &answers{give: []Answer{AllowOnce}}
	p := newPolicy(t, WithAsker(asker.ask), WithWorkingDir(dir), WithAsk("edit("+dir+"/go.mod)", "bash(git *)"))
	ctx := tools.ContextWithToolCall(context.Background(), tools.ToolCall{ID: "call-7"})
	for _, c := range []struct {
		tool, argument, raw, subject string
		reason                       Reason
		rule, opaque                 string
	}{
		{"bash", "command", "a \t'x  y' &&\n b", "a \t'x  y' &&\n b", ReasonNoRule, "", ""},
		{"bash", "command", "git x > f", "git x > f", ReasonAskRule, "bash(git *)", "> f"},
		{"bash", "command", "a `b` c", "a `b` c", ReasonOpaque, "", "`b`"},
		{"bash", "command", "a '$(b)' c", "a '$(b)' c", ReasonOpaque, "", "'$(b)'"},
		{"edit", "file_path", "./x", dir + "/x", ReasonNoRule, "", ""},
		{"edit", "file_path", "./y/../go.mod", dir + "/go.mod", ReasonAskRule, "edit(" + dir + "/go.mod)", ""},
		{"web_fetch", "url", "http://x/?a b", "http://x/?a b", ReasonNoRule, "", ""},
		{"unknown", "x", "", "", ReasonNoRule, "", ""},
	} {
		arguments := args(c.argument, c.raw)
		if err := p.Authorize(ctx, c.tool, arguments); err != nil {
			t.Error(err)
		}
		r := asker.last()
		if r.Tool != c.tool || r.CallID != "call-7" || r.Arguments != arguments || r.Raw != c.raw || r.Subject != c.subject ||
			r.Reason != c.reason || r.Rule != c.rule || r.Opaque != c.opaque {
			t.Errorf("%q: %+v", c.raw, r)
		}
	}
}

// TestChangedMeanwhile: A12, B6: what runs is what was shown.
func TestChangedMeanwhile(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	point := func(to string) {
		_ = os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	point("a")
	next := "b"
	p := newPolicy(t, WithWorkingDir(dir), WithDeny("edit("+dir+"/secret)"), WithAsker(func(context.Context, Request) (Answer, error) {
		point(next)
		return AllowAlways, nil
	}))
	arguments := args("file_path", "link")
	if err := p.Authorize(context.Background(), "edit", arguments); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "changed") || len(p.Always()) != 0 {
		t.Error(err)
	}
	next = "secret"
	var denied *DeniedError
	if err := p.Authorize(context.Background(), "edit", arguments); !errors.As(err, &denied) || denied.Rule == "" {
		t.Error(err)
	}
	// An always answer is for the resolved path, not for the link.
	point("c")
	next = "c"
	if err := p.Authorize(context.Background(), "edit", arguments); err != nil {
		t.Error(err)
	}
	if p.Decide("edit", arguments) != Allow || p.Decide("edit", args("file_path", "c")) != Allow {
		t.Error("always")
	}
	point("d")
	if p.Decide("edit", arguments) != Ask {
		t.Error("the link points elsewhere")
	}
}

// TestRun: PERM-70, PERM-71, PERM-73.
func TestRun(t *testing.T) {
	p := newPolicy(t, WithDeny("bash(git push *)"), WithAsk("bash(git reset *)"))
	other := newPolicy(t)
	background := context.Background()
	if err := p.AllowForRun(background, "read"); !errors.Is(err, ErrNoRun) {
		t.Error(err)
	}
	one, two := WithRun(background), WithRun(background)
	if err := p.AllowForRun(one, "bash(git *)", "bash("); !errors.Is(err, ErrInvalidRule) {
		t.Error(err)
	}
	var wg sync.WaitGroup
	for _, rule := range []string{"bash(git *)", "read", "bash(ls)"} {
		wg.Go(func() {
			if err := p.AllowForRun(one, rule); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	sub, cancel := context.WithCancel(WithRun(one)) // a sub-agent's
	defer cancel()
	for _, c := range []struct {
		p    *Policy
		ctx  context.Context
		line string
		ok   bool
	}{
		{p, one, "git log", true}, {p, one, "ls", true}, {p, sub, "git log", true},
		{p, two, "git log", false}, {p, background, "git log", false}, {other, one, "git log", false},
		{p, one, "git push x", false}, {p, one, "git reset x", false},
	} {
		if err := c.p.Authorize(c.ctx, "bash", command(c.line)); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.line, err)
		}
	}
	if tr := p.ExplainIn(one, "bash", command("git log && make")); tr.Steps[0].By != ByRun || !slices.Equal(tr.Uncovered(), []string{"make"}) {
		t.Error(shown(tr))
	}
	if len(p.Always()) != 0 || p.Decide("bash", command("git log")) != Ask {
		t.Error("a run's rules outlive it")
	}
}

// TestSkillGrants: PERM-72; D4.
func TestSkillGrants(t *testing.T) {
	kept := []string{"read", "glob", "grep", "todo_write", "bash_output", "skill", "read(/docs/*)", "bash(go test *)", "bash(./gen.sh *)", "bash(pdftotext)", "bash(git)"}
	dropped := []string{"bash", "bash(*)", "bash(* x)", "bash(git*)", "bash(sh *)", "bash(/bin/sh *)", "bash(python3.12 x.py)", "bash(node *)", "bash(sudo *)", "bash(env *)", "bash(xargs *)",
		"bash(X=1 ls)", "bash($x)", `bash(\ls)`, "bash('ls' x)", "write", "edit", "multi_edit", "web_fetch", "agent", "bash(", "", "Read", "mcp_x_*", "kill_shell", "mcp_x_y"}
	if got := SkillGrants(append(slices.Clone(dropped), kept...)); !slices.Equal(got, kept) {
		t.Errorf("%q", got)
	}
}

// TestEverythingAtOnce is for the race detector.
func TestEverythingAtOnce(t *testing.T) {
	p := newPolicy(t, WithAllow("bash(ls *)"), WithAsker(func(context.Context, Request) (Answer, error) { return AllowAlways, nil }))
	ctx := WithRun(context.Background())
	var wg sync.WaitGroup
	for i := range 100 {
		line := command("x" + string(rune('a'+i%7)) + " && ls y")
		wg.Go(func() {
			switch i % 8 {
			case 0:
				p.Decide("bash", line)
			case 1:
				p.Explain("read", args("file_path", "x"))
			case 2:
				p.Grant(Grant{"bash", "y"})
				p.Forget("bash", "y")
			case 3:
				rule := Rule{"bash(z)", fmt.Sprint(i)}
				if p.AddAllow(rule) != nil || !p.Remove(rule) {
					t.Error("AddAllow, Remove")
				}
			case 4:
				p.SetMode(Mode(i % 2))
			case 5:
				_ = p.AllowForRun(ctx, "bash(w *)")
			case 6:
				p.Always()
				p.Rules()
			default:
				if err := p.Authorize(ctx, "bash", line); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestSubjectIsWhatFileToolsOpen: PERM-50.
func TestSubjectIsWhatFileToolsOpen(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"a/b", "c"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"l": "a/b", "a/m": "../c", "a/b/n": "../../l"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", dir)
	p := newPolicy(t, WithWorkingDir(dir))
	pieces := []string{"a", "b", "c", "l", "m", "n", "..", ".", "", "new", "~"}
	var walk func(path string, depth int)
	walk = func(path string, depth int) {
		if depth == 0 {
			want, err := file.ResolvePath(dir, path)
			if err != nil {
				return // outside
			}
			if got := p.Explain("read", args("file_path", path)).Subject; got != want && path != "" {
				t.Errorf("%q: %s, the file tools open %s", path, got, want)
			}
			return
		}
		for _, piece := range pieces {
			walk(path+piece+"/", depth-1)
			walk(path+piece, 0)
		}
	}
	walk("", 3)
	walk("~/", 2)
}
