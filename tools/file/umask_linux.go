package file

import (
	"bufio"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// umask is read without setting it: that would change it for every thread.
func umask() fs.FileMode {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0o022
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), "Umask:"); ok {
			if n, err := strconv.ParseUint(strings.TrimSpace(v), 8, 32); err == nil {
				return fs.FileMode(n) & fs.ModePerm
			}
		}
	}
	return 0o022
}
