package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/phero-agent/agent/tools/regular"
)

const (
	fileName = "SKILL.md"

	// maxFile is how many bytes a SKILL.md may have: all of it goes into the conversation.
	maxFile = 128 << 10
)

// Parser finds and reads skills.
type Parser interface {
	// List returns the parser's names for its skills, in the order in which they count.
	List() ([]string, error)
	// Parse reads one skill of List; its body may be newer than at the last time.
	Parse(dir string) (*Skill, error)
}

// NewParser reads the skills of a directory's direct subdirectories, links to
// directories included. A root that does not exist has none.
func NewParser(root string) Parser { return directory(root) }

type directory string

func (d directory) List() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the skills cannot be listed: %w", err)
	}
	var dirs []string
	for _, e := range entries {
		if _, err := os.Lstat(filepath.Join(string(d), e.Name(), fileName)); err == nil {
			dirs = append(dirs, e.Name())
		}
	}
	return dirs, nil
}

func (d directory) Parse(dir string) (*Skill, error) {
	if filepath.Base(dir) != dir || dir == "." || !filepath.IsLocal(dir) {
		return nil, fmt.Errorf("%q is not the name of a skill's directory", dir)
	}
	path, err := filepath.Abs(filepath.Join(string(d), dir))
	if err != nil {
		return nil, err
	}
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	s, err := parseSkill(data)
	if err != nil {
		return nil, err
	}
	s.RootPath = path
	return s, nil
}

// readFile reads the SKILL.md of a directory.
func readFile(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readRegular(root, fileName)
}

// readRegular reads a regular file, or a link to one that does not lead out of the root.
func readRegular(root *os.Root, name string) ([]byte, error) {
	data, err := regular.ReadIn(root, name, maxFile)
	switch {
	case errors.Is(err, regular.ErrNotRegular):
		return nil, fmt.Errorf("%s is not a regular file", name)
	case errors.Is(err, regular.ErrTooLong):
		return nil, fmt.Errorf("%s is longer than %d KiB; move parts of it into files beside it", name, maxFile>>10)
	case err != nil:
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	return data, nil
}
