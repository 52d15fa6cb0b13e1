package skill

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
)

// maxCommandFiles is how many files and directories a root of commands may have.
const maxCommandFiles = 2000

var errTooManyCommands = fmt.Errorf("there are more than %d files; the rest was not read", maxCommandFiles)

// Command is a Markdown file that a person can send as a prompt, by its name.
type Command struct {
	Name         string // of letters, digits and - _ . of ASCII; "dir:file" for a file in a directory
	Description  string // one line, the file's first one when its front matter has none
	ArgumentHint string // one line, such as "[file]"
	AllowedTools []string
	Path         string // absolute
	Body         string
}

// Commands reads the commands below the roots. Front matter is optional; its
// keys are description, argument-hint and allowed-tools. Earlier roots win. What
// cannot be used is skipped; a root that does not exist has no commands.
func Commands(roots ...string) ([]Command, []Skipped) {
	var found []Command
	var skipped []Skipped
	taken := map[string]string{}
	for _, root := range roots {
		skipped = append(skipped, walkCommands(root, func(c Command, err error) {
			key := strings.ToLower(c.Name)
			if other, ok := taken[key]; ok && err == nil {
				err = &DuplicateSkillNameError{Name: c.Name, ExistingDir: other, DuplicateDir: c.Path}
			}
			if err != nil {
				skipped = append(skipped, Skipped{Dir: c.Path, Err: err})
				return
			}
			taken[key] = c.Path
			found = append(found, c)
		})...)
	}
	return found, skipped
}

// walkCommands reads each command of a root, in the order of their paths, and
// tells why the root itself could not be read.
func walkCommands(dir string, add func(Command, error)) []Skipped {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return []Skipped{{Dir: dir, Err: err}}
	}
	root, err := os.OpenRoot(abs)
	if errors.Is(err, fs.ErrNotExist) || dir == "" {
		return nil
	}
	if err != nil {
		return []Skipped{{Dir: abs, Err: err}}
	}
	defer root.Close()
	n := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if n++; n > maxCommandFiles {
			return errTooManyCommands
		}
		if err != nil {
			add(Command{Path: filepath.Join(abs, filepath.FromSlash(name))}, err)
			return nil
		}
		if !entry.IsDir() && path.Ext(name) == ".md" {
			add(readCommand(root, abs, name))
		}
		return nil
	})
	if err != nil {
		return []Skipped{{Dir: abs, Err: err}}
	}
	return nil
}

func readCommand(root *os.Root, dir, name string) (Command, error) {
	c := Command{
		Name: strings.ReplaceAll(strings.TrimSuffix(name, ".md"), "/", ":"),
		Path: filepath.Join(dir, filepath.FromSlash(name)),
	}
	if len(c.Name) > maxName || strings.ContainsFunc(c.Name, notOfNames) || strings.Contains(c.Name, " ") {
		return c, fmt.Errorf("%w, and a command's no blanks", ErrInvalidSkillName)
	}
	data, err := readRegular(root, name)
	if err != nil {
		return c, err
	}
	return c, c.parse(data)
}

// parse reads what a command's file holds.
func (c *Command) parse(data []byte) error {
	var fm struct {
		Description  string `yaml:"description"`
		AllowedTools any    `yaml:"allowed-tools"`
	}
	head, body, err := split(data)
	if err == nil {
		head, c.ArgumentHint = takeHint(head)
		err = decodeYAML(head, &fm)
	} else if body = strings.TrimSpace(text(data)); !strings.HasPrefix(body, "---\n") {
		err = nil // there is no front matter
	}
	if err != nil {
		return fmt.Errorf("the front matter: %w", err)
	}
	if c.AllowedTools, err = allowedTools(fm.AllowedTools); err != nil {
		return err
	}
	if body == "" {
		return errors.New("the command is empty")
	}
	first, _, _ := strings.Cut(body, "\n")
	c.AllowedTools, c.Body = cleanAll(c.AllowedTools), body
	c.Description = clip(cmp.Or(clean(fm.Description), clean(strings.TrimLeft(first, "# "))), maxDescription)
	return nil
}

// takeHint takes the argument hint out of front matter, since what people write
// there, such as "[file] [line]", is often no YAML.
func takeHint(head string) (rest, hint string) {
	lines := strings.Split(head, "\n")
	for i, line := range lines {
		if value, ok := strings.CutPrefix(line, "argument-hint:"); ok {
			lines[i] = "" // so that errors name the right line
			hint = clip(clean(strings.Trim(strings.TrimSpace(value), `"'`)), maxName)
		}
	}
	return strings.Join(lines, "\n"), hint
}

// Expand is the prompt: $ARGUMENTS stands for all arguments, $1 to $9 for one
// each, in quotes where it holds blanks. Arguments of a command without any of
// these come after its text. What the arguments hold is not expanded again.
func (c Command) Expand(arguments string) (string, error) {
	arguments = strings.TrimSpace(arguments)
	words := fields(arguments)
	var b strings.Builder
	used := false
	for i := 0; i < len(c.Body); {
		rest := c.Body[i:]
		switch n, ok := position(rest); {
		case strings.HasPrefix(rest, placeholder):
			b.WriteString(arguments)
			i, used = i+len(placeholder), true
		case ok:
			if n <= len(words) {
				b.WriteString(words[n-1])
			}
			i, used = i+len("$1"), true
		default:
			b.WriteByte(c.Body[i])
			i++
		}
		if b.Len() > maxExpanded {
			return "", ErrArgumentsTooLong
		}
	}
	if !used && arguments != "" {
		b.WriteString("\n\nARGUMENTS: " + arguments)
	}
	return b.String(), nil
}

// position reads $1 to $9 at the start of a text; $10 is none of them.
func position(s string) (int, bool) {
	digit := func(i int) bool { return i < len(s) && '0' <= s[i] && s[i] <= '9' }
	if s[0] != '$' || !digit(1) || s[1] == '0' || digit(2) {
		return 0, false
	}
	return int(s[1] - '0'), true
}

// fields splits at blanks outside of quotes, and takes the quotes away. A quote
// in a word is an apostrophe.
func fields(s string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	open := false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case !open && (r == '"' || r == '\''):
			quote, open = r, true
		case quote == 0 && unicode.IsSpace(r):
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words
}
