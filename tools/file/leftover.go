package file

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// RemoveLeftovers removes the temporary files that a write of data to path has
// left because the process was killed: those beside path that hold data, or the
// beginning of it. Temporary files of other writes stay.
func RemoveLeftovers(path string, data []byte) error {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) || !e.Type().IsRegular() {
			continue
		}
		temp := filepath.Join(dir, e.Name())
		if info, err := e.Info(); err != nil || info.Size() > int64(len(data)) {
			continue
		}
		held, err := os.ReadFile(temp)
		if err != nil || !bytes.HasPrefix(data, held) {
			continue
		}
		if err := os.Remove(temp); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
