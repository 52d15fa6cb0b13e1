package main

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/spf13/cobra/doc"
)

const manPage = "docs/agent.1"

// TestManPage holds the manual page against the commands and flags; -update writes it.
func TestManPage(t *testing.T) {
	cmd := newCommand()
	cmd.DisableAutoGenTag = true
	cmd.InitDefaultHelpFlag()
	date := time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	var page bytes.Buffer
	if err := doc.GenMan(cmd, &doc.GenManHeader{Title: "AGENT", Section: "1", Source: "agent", Manual: "User Commands", Date: &date}, &page); err != nil {
		t.Fatal(err)
	}
	if updating() {
		if err := os.WriteFile(manPage, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(manPage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, page.Bytes()) {
		t.Errorf("%s is not what the program says: go test -run ManPage -update .", manPage)
	}
}
