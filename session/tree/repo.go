package tree

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/regular"
)

// repo is a repository of git. It is read, and git is asked, but nothing in it changes.
type repo struct {
	top    string // absolute
	base   string // the top below the workspace, "" or with a slash at the end
	prefix string // the workspace below the top, likewise; one of the two is ""
	dir    string // the git directory
	common string // the same, or that of the repository whose worktree this is
	hash   int    // bytes of an object id

	outer    *file.IgnoreRules // of .git/info/exclude and the user's own file
	indexSig sig
	racy     bool // the index may have changed in the moment it was read
	index    []tracked
	reads    bool            // the files are read: git may have translated them
	dirs     map[string]bool // that hold tracked files
	at       string          // the head at the last scan
}

// openRepo looks at what .git of a directory is; nil when that is no repository.
func openRepo(top, base, prefix string) *repo {
	dot := filepath.Join(top, ".git")
	r := &repo{top: top, base: base, prefix: prefix, dir: dot, hash: sha1.Size}
	if text, err := readSmall(dot); err == nil {
		to, ok := strings.CutPrefix(text, "gitdir: ")
		if !ok {
			return nil
		}
		r.dir = absolute(to, top)
	}
	if info, err := os.Stat(filepath.Join(r.dir, "HEAD")); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	r.common = r.dir
	if text, err := readSmall(filepath.Join(r.dir, "commondir")); err == nil {
		r.common = absolute(text, r.dir)
	}
	if config, err := regular.Read(filepath.Join(r.common, "config"), maxSettings); err == nil && bytes.Contains(bytes.ToLower(config), []byte("objectformat = sha256")) {
		r.hash = sha256.Size
	}
	if path := r.setting("excludesfile"); path != "" {
		r.exclude(path)
	} else if dir := userDir(); dir != "" {
		r.exclude(filepath.Join(dir, "ignore"))
	}
	r.exclude(filepath.Join(r.common, "info", "exclude"))
	return r
}

// userDir is where the user's own settings of git are, "" when that is not known.
func userDir() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config", "git")
}

// setting is the value of a key, whatever its section, in the most particular config
// that has it; "" when there is none. It is no parser: it follows no include.
func (r *repo) setting(key string) string {
	home, _ := os.UserHomeDir()
	for _, path := range []string{filepath.Join(r.common, "config"), filepath.Join(home, ".gitconfig"), filepath.Join(userDir(), "config"), "/etc/gitconfig"} {
		text, err := regular.Read(path, maxSettings)
		if err != nil {
			continue
		}
		value := ""
		for line := range strings.Lines(string(text)) {
			k, v, ok := strings.Cut(line, "=")
			k = k[strings.LastIndexByte(k, ']')+1:] // a key can follow its section
			if ok && strings.EqualFold(strings.TrimSpace(k), key) {
				value = strings.Trim(strings.TrimSpace(v), `"`)
			}
		}
		if rest, ok := strings.CutPrefix(value, "~/"); ok {
			value = filepath.Join(home, rest)
		}
		if value != "" {
			return value
		}
	}
	return ""
}

// translates tells whether git may keep other bytes in an object than there are in
// the file: by a filter, an encoding, or a change of line ends. What an attribute
// means for which file is not asked: then each file is read instead.
func (r *repo) translates() bool {
	if v := strings.ToLower(r.setting("autocrlf")); v != "" && v != "false" {
		return true
	}
	if config, err := regular.Read(filepath.Join(r.common, "config"), maxSettings); err != nil || bytes.Contains(config, []byte("[include")) {
		return true
	}
	files := []string{filepath.Join(r.common, "info", "attributes"), filepath.Join(userDir(), "attributes"), "/etc/gitattributes"}
	if path := r.setting("attributesfile"); path != "" {
		files = append(files, absolute(path, r.top))
	}
	for i := range r.index {
		if p := r.index[i].path; p == ".gitattributes" || strings.HasSuffix(p, "/.gitattributes") {
			files = append(files, filepath.Join(r.top, filepath.FromSlash(p)))
		}
	}
	files = append(files, filepath.Join(r.top, ".gitattributes"))
	for _, path := range files {
		text, err := regular.Read(path, maxSettings)
		if err != nil {
			continue
		}
		for _, word := range []string{"filter", "working-tree-encoding", "ident", "text", "eol", "crlf"} {
			if bytes.Contains(text, []byte(word)) {
				return true
			}
		}
	}
	return false
}

func (r *repo) exclude(path string) {
	if text, err := regular.Read(absolute(path, r.top), maxSettings); err == nil {
		r.outer = file.ParseIgnore(text, 0, r.outer)
	}
}

func absolute(path, base string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// readSmall reads a file of one line.
func readSmall(path string) (string, error) {
	text, err := regular.Read(path, 4096)
	return strings.TrimRight(string(text), "\r\n"), err
}

// maxSettings is how much is read of a config and the like, in bytes.
const maxSettings = 4 << 20

// path is where git sees a path of the workspace.
func (r *repo) path(path string) string {
	if r == nil {
		return path
	}
	return r.prefix + path[len(r.base):]
}

// load reads the index where it changed, and tells whether tracked files are in
// other directories now.
func (r *repo) load(now int64) (moved bool) {
	path := filepath.Join(r.dir, "index")
	s, err := sigOfFile(path)
	if err == nil && s == r.indexSig && !r.racy {
		return false
	}
	r.indexSig, r.racy = s, s.racy(now)
	if r.index, err = readIndex(path, r.hash); err != nil {
		r.index = nil
	}
	r.reads = r.translates()
	dirs := directories(r.index)
	moved = !maps.Equal(dirs, r.dirs)
	r.dirs = dirs
	return moved
}

// moves tells whether another commit is checked out than at the last scan.
func (r *repo) moves() bool {
	was := r.at
	r.at = r.head()
	return was != "" && r.at != was
}

// head is what says which commit is checked out.
func (r *repo) head() string {
	head, _ := readSmall(filepath.Join(r.dir, "HEAD"))
	ref, ok := strings.CutPrefix(head, "ref: ")
	if !ok || !filepath.IsLocal(ref) {
		return head
	}
	at, _ := readSmall(filepath.Join(r.common, ref))
	return head + " " + at
}

// id is the object id that a content has, as raw bytes.
func (r *repo) id(data []byte) string {
	h := sha1.New()
	if r.hash == sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return string(h.Sum(nil))
}
