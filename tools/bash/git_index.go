package bash

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/phero-agent/agent/tools/regular"
)

const maxIndex = 256 << 20

// linkedTrees are the paths of other repositories that an index names: git
// looks into them, with their own settings, when it looks at this one. It is
// empty for an index that cannot be read.
func linkedTrees(gitDir string) []string {
	hash := 20
	for _, format := range configValues(filepath.Join(gitDir, "config"), "objectformat") {
		if strings.EqualFold(format, "sha256") {
			hash = 32
		}
	}
	var found []string
	files, _ := filepath.Glob(filepath.Join(globQuote(gitDir), "sharedindex.*")) // a split index has its entries there
	for _, file := range append(files, filepath.Join(gitDir, "index")) {
		if data, err := regular.Read(file, maxIndex); err == nil && len(data) >= 12 && string(data[:4]) == "DIRC" {
			found = append(found, indexLinks(data, hash)...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// indexLinks reads the entries of an index that are links to commits.
func indexLinks(data []byte, hash int) []string {
	const (
		statBytes = 40 // before the hash; the mode is at 24
		modeAt    = 24
		gitLink   = 0o160000 // the mode of a link to a commit
		extended  = 0x4000   // two more bytes of flags follow
		fixed     = statBytes + 2
	)
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	var found []string
	var name []byte // version 4 tells what it has in common with the one before
	for rest := data[12:]; count > 0 && len(rest) > fixed+hash; count-- {
		head := fixed + hash
		if binary.BigEndian.Uint16(rest[head-2:])&extended != 0 {
			head += 2
		}
		if head > len(rest) {
			return found
		}
		text := rest[head:]
		if version == 4 {
			drop, n := indexVarint(text)
			if n == 0 || drop > len(name) {
				return found
			}
			name, text, head = name[:len(name)-drop], text[n:], head+n
		} else {
			name = name[:0]
		}
		end := bytes.IndexByte(text, 0)
		if end < 0 {
			return found
		}
		name = append(name, text[:end]...)
		if binary.BigEndian.Uint32(rest[modeAt:])&0o170000 == gitLink {
			found = append(found, string(name))
		}
		size := head + end + 1
		if version < 4 { // padded with NUL to a multiple of eight
			size = (head + end + 8) &^ 7
		}
		if size > len(rest) {
			return found
		}
		rest = rest[size:]
	}
	return found
}

// globQuote makes a path match itself alone.
func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// indexVarint reads the variable-length number of an index of version 4.
func indexVarint(b []byte) (value, size int) {
	for i, c := range b {
		if i > 0 {
			value++
		}
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
		if i == 4 {
			break
		}
	}
	return 0, 0
}

// linkedSuspects lists what can make git run programs in the repositories that
// hang on the index of one, and is not in the directory of modules, which is
// mounted. A command can make such a repository, and make git look into it.
func linkedSuspects(gitDir, tree, modules string, depth int) []string {
	if depth == 0 {
		return nil
	}
	var found []string
	for _, name := range linkedTrees(gitDir) {
		sub := filepath.Join(tree, name)
		dot := filepath.Join(sub, ".git")
		info, err := os.Lstat(dot)
		if err != nil || linkInside(tree, sub) != "" {
			continue
		}
		if info.IsDir() {
			found = append(found, dirSuspects(dot)...)
			found = append(found, linkedSuspects(dot, sub, filepath.Join(dot, "modules"), depth-1)...)
			continue
		}
		to, ok := readPath(dot, "gitdir: ", sub)
		if !info.Mode().IsRegular() || !ok || !contains(modules, to) {
			found = append(found, dot)
			continue
		}
		found = append(found, linkedSuspects(to, sub, filepath.Join(to, "modules"), depth-1)...)
	}
	return found
}

// dirSuspects lists what can make git run programs in a git directory that a
// command can write.
func dirSuspects(dir string) []string {
	var found []string
	for _, name := range []string{"commondir", "config.worktree"} {
		if path := filepath.Join(dir, name); isThere(path) {
			found = append(found, path)
		}
	}
	if config := filepath.Join(dir, "config"); namesPrograms(config) {
		found = append(found, config)
	}
	for _, hook := range activeHooks(filepath.Join(dir, "hooks")) {
		found = append(found, filepath.Join(dir, "hooks", hook))
	}
	return found
}
