package session_test

import (
	"fmt"
	"os"

	"github.com/phero-agent/agent/session"
)

// A session is written as it happens; opened again, it gives the model the same history.
func Example() {
	workspace, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(workspace)
	store, err := session.OpenStore(workspace)
	if err != nil {
		panic(err)
	}
	log, err := store.Create("v1")
	if err != nil {
		panic(err)
	}
	for _, m := range []session.Message{
		{Role: session.RoleUser, Text: "Say hello."},
		{Role: session.RoleAssistant, Text: "Hello."},
	} {
		if _, err := log.Append(session.Entry{Kind: session.KindMessage, Step: 1, Message: &m}); err != nil {
			panic(err)
		}
	}
	if err := log.Close(); err != nil {
		panic(err)
	}

	again, entries, notices, err := store.Open(log.ID())
	if err != nil {
		panic(err)
	}
	defer again.Close()
	for _, m := range session.History(entries) {
		fmt.Printf("%s: %s\n", m.Role, m.Text)
	}
	fmt.Println(session.TitleOf(entries), len(notices))
	// Output:
	// user: Say hello.
	// assistant: Hello.
	// Say hello. 0
}
