//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/ui"
)

// span is code within a document's text.
var span = regexp.MustCompile("`([^`\n]+)`")

var made = regexp.MustCompile(`(?s)<!-- \w+: made.*?<!-- /\w+ -->`)

// prose is a document without its blocks and what is made from the code.
func prose(t *testing.T, doc string) string {
	return fence.ReplaceAllString(made.ReplaceAllString(document(t, doc), ""), "")
}

// spanChecks are the checks of what stands as code within the text, by its form.
var spanChecks = []struct {
	form  *regexp.Regexp
	check func(t *testing.T, text string) error
}{
	{regexp.MustCompile(`^agent( .*)?$`), agentLine},
	{regexp.MustCompile(`^(\w+=\S+ )?go (test -run|generate) `), goCommand},
	{regexp.MustCompile(`^\{"type":`), streamed},
	{regexp.MustCompile(`^-update$`), func(*testing.T, string) error { return nil }}, // of the tests
	{regexp.MustCompile(`^--?[a-zA-Z]`), func(_ *testing.T, s string) error { return flagParses(s) }},
	{regexp.MustCompile(`^/[a-z]+( .*)?$`), slashCommand},
	{regexp.MustCompile(`^\$?[A-Z][A-Z0-9_]{3,}(=.*)?$`), func(t *testing.T, s string) error {
		name, _, _ := strings.Cut(strings.TrimPrefix(s, "$"), "=")
		return knownVariable(t, name)
	}},
	{regexp.MustCompile(`^(ui|web|sandbox|permissions|mcp)\.\w+$`), func(_ *testing.T, s string) error { return knownSetting(s) }},
	{regexp.MustCompile(`^((ctrl|alt|shift)\+\S+|esc|f1)$`), func(_ *testing.T, s string) error { return knownKey(s) }},
}

// TestDocsSpans checks commands, flags, slash commands, variables, settings and keys
// that a document names within its text.
func TestDocsSpans(t *testing.T) {
	checked := 0
	for _, doc := range documents(t) {
		for _, m := range span.FindAllStringSubmatch(prose(t, doc), -1) {
			text := strings.ReplaceAll(m[1], `\|`, "|")
			for _, c := range spanChecks {
				if !c.form.MatchString(text) {
					continue
				}
				checked++
				if err := c.check(t, text); err != nil {
					t.Errorf("%s: `%s`: %v", doc, text, err)
				}
				break
			}
		}
	}
	if checked < 200 {
		t.Errorf("%d spans were checked", checked)
	}
}

// agentLine checks a command line: a bare word that begins it is a command, no prompt.
func agentLine(_ *testing.T, s string) error {
	args := words(s)[1:]
	if cmd, _, err := newCommand().Find(args); err == nil && !cmd.HasParent() && len(args) > 0 && !strings.HasPrefix(args[0], "-") && !strings.Contains(s, `"`) {
		return fmt.Errorf("%s is no command", args[0])
	}
	return parses(s)
}

// flagParses checks flags as a document writes them: "-m/--model", "--sandbox auto|none".
func flagParses(s string) error {
	head, value, _ := strings.Cut(s, " ")
	if short, long, ok := strings.Cut(head, "/"); ok && strings.HasPrefix(long, "--") {
		if err := flagParses(strings.TrimSpace(short + " " + value)); err != nil {
			return err
		}
		head = long
	}
	head = strings.Replace(head, "=…", "=none", 1)
	value, _, _ = strings.Cut(value, "|")
	line := strings.TrimSpace(head + " " + strings.ReplaceAll(value, "'", `"`))
	// It is a flag of one of the commands, and may want a value that the text leaves out.
	var try func(c *cobra.Command) error
	try = func(c *cobra.Command) (err error) {
		for _, end := range []string{"", " 1", " 1s", " x=y"} {
			if err = parses(c.CommandPath() + " " + line + end); err == nil {
				return nil
			}
		}
		for _, sub := range c.Commands() {
			if try(sub) == nil {
				return nil
			}
		}
		return err
	}
	return try(newCommand())
}

// templates are words that stand for what a person has, and others' paths.
var templates = []string{"/name", "/file", "/tmp", "/run", "NAME", "ARGUMENTS"}

var goTest = regexp.MustCompile(`^(?:(\w+)=\S+ )?go test -run '?([\w|]+)'? (?:-update )?(\S+)$`)

// goCommand: each test that a line names is in the package that it names, and looks
// at the variable that it sets.
func goCommand(t *testing.T, s string) error {
	if dir, ok := strings.CutPrefix(s, "go generate ./"); ok {
		return contains("the package", packageText(t, dir), "//go:generate ")
	}
	m := goTest.FindStringSubmatch(s)
	if m == nil {
		return fmt.Errorf("no check knows this line")
	}
	tests := packageText(t, m[3])
	for name := range strings.SplitSeq(m[2], "|") {
		if !regexp.MustCompile(`(?m)^func Test\w*` + name).MatchString(tests) {
			return fmt.Errorf("%s has no test %s", m[3], name)
		}
	}
	return contains("the package", tests, m[1])
}

// packageText is the Go code in a directory.
func packageText(t *testing.T, dir string) (text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text += document(t, f)
	}
	return text
}

func slashCommand(_ *testing.T, s string) error {
	name, _, _ := strings.Cut(s, " ")
	if slices.Contains(templates, name) {
		return nil
	}
	if !slices.Contains(slashCommands(), name) {
		return fmt.Errorf("there is no such command")
	}
	return nil
}

var slashName = regexp.MustCompile("`(/[a-z]+)`")

// slashCommands are the commands of the screen, with their other names.
var slashCommands = sync.OnceValue(func() (names []string) {
	for _, m := range slashName.FindAllStringSubmatch(commandsReference(), -1) {
		names = append(names, m[1])
	}
	return names
})

func knownSetting(key string) error {
	if !strings.Contains(config.Reference(), "| `"+key+"` |") {
		return fmt.Errorf("there is no such setting")
	}
	return nil
}

func knownKey(key string) error {
	table := ui.KeysReference()
	for _, k := range strings.Fields(key) {
		if !regexp.MustCompile("[` ]" + regexp.QuoteMeta(k) + "[` ]").MatchString(table) {
			return fmt.Errorf("%s is in no row of the table of keys", k)
		}
	}
	return nil
}

// streamed: the program prints the line.
func streamed(t *testing.T, line string) error {
	out, err := headlessRun(t, "== one\nHello.\n", "-o", "stream-json", "go").Output()
	if err != nil {
		return err
	}
	return contains("the stream", "\n"+string(out), "\n"+line+"\n")
}

// source is all that the program is made of.
var source = sync.OnceValue(func() string {
	var all strings.Builder
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || filepath.Ext(path) != ".go" && filepath.Base(path) != "providers.json" {
			return err
		}
		data, err := os.ReadFile(path)
		all.Write(data)
		return err
	})
	if err != nil {
		panic(err)
	}
	return all.String()
})

// elsewhereRead are variables that libraries read: net/http and crypto/x509.
var elsewhereRead = []string{"NO_PROXY", "SSL_CERT_FILE"}

// knownVariable: the program reads the variable, by this name.
func knownVariable(_ *testing.T, name string) error {
	if slices.Contains(elsewhereRead, name) || slices.Contains(templates, name) || strings.Contains(source(), `"`+name+`"`) || strings.Contains(source(), `env:"`+name) {
		return nil
	}
	return fmt.Errorf("nothing reads the variable %s", name)
}
