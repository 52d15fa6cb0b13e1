package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
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
	whole, _, _ := strings.Cut(page.String(), ".SH SEE ALSO")
	page.Reset()
	page.WriteString(whole + ".SH COMMANDS\n")
	manCommands(&page, cmd)
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

// manCommands writes what the commands below one do, and their own flags.
func manCommands(page *bytes.Buffer, cmd *cobra.Command) {
	plain := strings.NewReplacer("\\", "\\e", "\n.", "\n\\&.", "\n'", "\n\\&'")
	for _, c := range cmd.Commands() {
		if c.Hidden || !c.IsAvailableCommand() {
			continue
		}
		c.InitDefaultHelpFlag()
		text := c.Short + "."
		if c.Long != "" {
			text = c.Long
		}
		fmt.Fprintf(page, ".SS %s\n%s\n", c.UseLine(), plain.Replace(text))
		for _, part := range []string{c.Example, c.LocalNonPersistentFlags().FlagUsages()} {
			if part != "" {
				fmt.Fprintf(page, ".PP\n.EX\n%s\n.EE\n", plain.Replace(strings.TrimRight(part, "\n")))
			}
		}
		manCommands(page, c)
	}
}
