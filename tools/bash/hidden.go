package bash

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// maxPathLines is how many lines of an output are searched for hidden paths,
// because each of them is looked for on the host.
const maxPathLines = 20

// isPathFailure tells whether a line, in lower case, says that a path is not
// there or may not be used.
func isPathFailure(line string) bool {
	for _, reason := range []string{
		"no such file or directory", "read-only file system", "permission denied", "operation not permitted", "docker daemon",
	} {
		if strings.Contains(line, reason) {
			return true
		}
	}
	return false
}

// pathPattern finds absolute paths: in quotes with anything, else up to what
// usually follows one in a message.
var pathPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`['"‘](/[^'"’]+)['"’]|(?:^|[\s(=:/])(/[^\s'"‘’:,;()<>|]+)`)
})

// hiddenPath is the first path of a message that is hidden; "" when none is. One
// that was to be made is hidden when its directory is.
func hiddenPath(line string, hides func(string) bool) string {
	makes := strings.HasPrefix(line, "bash: ") || strings.Contains(line, "cannot create") ||
		strings.Contains(line, "cannot touch") || strings.Contains(line, "mkdir")
	for _, m := range pathPattern().FindAllStringSubmatch(line, -1) {
		path := filepath.Clean(m[1] + strings.TrimRight(m[2], "."))
		if hides(path) || makes && hides(filepath.Dir(path)) {
			return path
		}
	}
	return ""
}

func (r *BubblewrapRunner) hides(path string) bool {
	if _, in := r.inside(path); in != "" {
		return false // what is protected there is so for good
	}
	for _, root := range append(SystemPaths(), "/proc", "/dev", "/sys") {
		if contains(root, path) {
			return false
		}
	}
	var nearest Mount
	for _, m := range r.fixed {
		if contains(m.Path, path) && len(m.Path) >= len(nearest.Path) {
			nearest = m
		}
	}
	switch nearest.Access {
	case Writable:
		return false
	case ReadOnly:
		return writable(path)
	case Private:
		return path != nearest.Path && readable(path)
	case Hidden:
		return false
	}
	return path != "/" && readable(path)
}
