package ui

import (
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/todo"
)

// working is a turn in the middle of its work.
func working(s *stage) {
	s.emit(app.TurnStarted{Turn: 1}, userSays("rename Foo to Bar everywhere and run the tests"),
		modelSays("I'll find the uses first.",
			aCall("c1", "grep", `{"pattern":"Foo","glob":"*.go","output_mode":"content"}`),
			aCall("c2", "read", `{"file_path":"/home/me/acme/app/loop.go"}`)),
		result("c1", session.StatusOK, `{"output":["a.go:1:Foo","b.go:2:Foo"],"truncated":false}`),
		result("c2", session.StatusOK, "1\tpackage app\n2\t\n3\tfunc x() {}\n"),
		app.Committed{Entry: session.Entry{Kind: session.KindTodo, Todo: []todo.Item{
			{Content: "Find the uses", Status: todo.Completed}, {Content: "Rename in app/", Status: todo.Completed},
			{Content: "Run the tests", Status: todo.InProgress}, {Content: "Update the docs", Status: todo.Pending},
		}}},
		modelSays("", aCall("c3", "edit", `{"file_path":"/home/me/acme/app/loop.go"}`)),
		app.Committed{Entry: session.Entry{Kind: session.KindChange, Change: &session.Change{
			ID: "ch1", CallID: "c3", Tool: "edit", Path: "/home/me/acme/app/loop.go", Existed: true, Added: 1, Removed: 1,
			Hunks: []file.Hunk{{Old: 118, New: 118, Lines: []string{" func run(ctx context.Context) error {", "-\tx := Foo{}", "+\tx := Bar{}", " \treturn x.Do(ctx)"}}},
		}}},
		app.Committed{Entry: session.Entry{Kind: session.KindDone, Done: "ch1"}},
		result("c3", session.StatusOK, "ok"),
		modelSays("", aCall("c4", "bash", `{"command":"go test ./..."}`)),
		app.ToolStarted{Call: aCall("c4", "bash", `{"command":"go test ./..."}`), Time: time.Now().Add(-11 * time.Second)},
		app.ToolOutput{CallID: "c4", Chunk: []byte("ok  \tacme/app\t0.412s\nok  \tacme/tools\t1.031s\n--- FAIL: TestRename (0.00s)\n")},
		app.Queued{Texts: []string{"and then bump the version"}},
		app.Usage{Last: session.Usage{Input: 43520}, Window: 128000},
	)
	s.Wait(time.Second)
}

func askEdit(s *stage) {
	s.emit(app.Asked{ID: "q1", Call: aCall("c5", "edit", `{"file_path":"app/loop.go"}`),
		Request: permissions.Request{Tool: "edit", CallID: "c5", Subject: "/home/me/acme/app/loop.go", Raw: "app/loop.go", Subjects: []string{"/home/me/acme/app/loop.go"}},
		Offers:  []app.Offer{{Always: app.Always{Tool: "edit", Subject: "/home/me/acme/app/loop.go"}, Wider: []app.Always{{Rule: "edit(/home/me/acme/app/*)"}, {Rule: "edit(/home/me/acme/*)"}}}},
		Change:  &file.Change{Path: "/home/me/acme/app/loop.go", Existed: true, Before: []byte("package app\n\nfunc x() {\n\tx := Foo{}\n\tdefer x.Close()\n\treturn\n}\n"), After: []byte("package app\n\nfunc x() {\n\tx := Bar{}\n\treturn\n}\n")},
	})
}

func askBash(s *stage) {
	s.emit(app.Asked{ID: "q2", Call: aCall("c4", "bash", `{"command":"go test ./... && git push origin main","description":"tests and pushes"}`),
		Request: permissions.Request{Tool: "bash", CallID: "c4", Subject: "go test ./... && git push origin main", Raw: "go test ./... && git push origin main", Subjects: []string{"git push origin main"}},
		Trace: permissions.Trace{Tool: "bash", Decision: permissions.Ask, By: permissions.ByDefault, Steps: []permissions.Step{
			{Subject: "go test ./...", Decision: permissions.Allow, By: permissions.ByAllowRule, Rule: permissions.Rule{Text: "bash(go test *)", Source: "--allow"}},
			{Subject: "git push origin main", Decision: permissions.Ask, By: permissions.ByDefault},
		}},
		Offers: offered("bash", "git push origin main"),
	})
}
