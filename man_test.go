package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const manPage = "docs/agent.1"

// TestManPage holds the manual page against the commands and flags; -update writes it.
func TestManPage(t *testing.T) {
	cmd := newCommand()
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	page := manual(cmd)
	if updating() {
		if err := os.WriteFile(manPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if document(t, manPage) != page {
		t.Errorf("%s is not what the program says: go test -run ManPage -update .", manPage)
	}
	// What a person sees: the lines of the help as they are, and no fault of the formatter.
	if _, err := exec.LookPath("groff"); err != nil {
		if os.Getenv("CI") != "" && os.Getenv("RUNNER_OS") != "macOS" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	var faults bytes.Buffer
	show := exec.CommandContext(t.Context(), "groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-P-cbou", "-rLL=140n", manPage)
	show.Stderr = &faults
	shown, err := show.Output()
	if err != nil || faults.Len() > 0 {
		t.Errorf("groff: %v: %s", err, &faults)
	}
	for _, want := range []string{
		"\n         git diff | agent -p \"review this\"\n", "\n         OPENAI_BASE_URL        any other server, as http://127.0.0.1:11434/v1; it gets OPENAI_API_KEY\n",
		"\n       -m, --model model\n", "\n   agent permissions check command [flags]\n",
	} {
		if !strings.Contains(string(shown), want) {
			t.Errorf("the manual does not show %q", want)
		}
	}
}

// manual is the manual page of a command and those below it.
func manual(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH AGENT 1 2026-11-01 agent \"User Commands\"\n.SH NAME\nagent \\- %s\n", strings.ToLower(root.Short[:1])+root.Short[1:])
	b.WriteString(".SH SYNOPSIS\n.B agent\n[\\fIflags\\fP] [\\fIprompt\\fP]\n.br\n.B agent\n\\fIcommand\\fP [\\fIflags\\fP] [\\fIarguments\\fP]\n")
	b.WriteString(".SH DESCRIPTION\n")
	manText(&b, root.Long)
	b.WriteString(".SH OPTIONS\n")
	manFlags(&b, root.LocalFlags())
	b.WriteString(".SH COMMANDS\n")
	manCommands(&b, root)
	return b.String()
}

// manCommands writes what the commands below one do, and their own flags.
func manCommands(b *strings.Builder, cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		c.InitDefaultHelpFlag()
		fmt.Fprintf(b, ".SS \"%s\"\n", strings.ReplaceAll(manEscape(c.UseLine()), `"`, `\(dq`))
		text := c.Short + "."
		if c.Long != "" {
			text = c.Long
		}
		if c.Example != "" {
			text += "\n\n" + c.Example
		}
		manText(b, text)
		manFlags(b, c.LocalNonPersistentFlags())
		manCommands(b, c)
	}
}

// manText writes paragraphs; lines that are set in stay as they are.
func manText(b *strings.Builder, text string) {
	asIs := false
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if in := strings.HasPrefix(line, "  "); in != asIs && line != "" {
			b.WriteString(map[bool]string{true: ".PP\n.EX\n", false: ".EE\n.PP\n"}[in])
			asIs = in
		}
		switch {
		case line != "":
			b.WriteString(manEscape(line) + "\n")
		case !asIs:
			b.WriteString(".PP\n")
		}
	}
	if asIs {
		b.WriteString(".EE\n")
	}
}

func manFlags(b *strings.Builder, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		name, use := flagWords(f)
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", manEscape(name), manEscape(use))
	})
}

// manEscape keeps a line from being read as a request of the formatter.
func manEscape(line string) string {
	line = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
