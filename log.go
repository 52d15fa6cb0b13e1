package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// logFile is the program's log, in the state directory (IMP-40). It is made at the
// first line, so that a start does not wait for it; what cannot be written is
// dropped, because the terminal belongs to the screen.
type logFile struct {
	path string
	once sync.Once
	file io.Writer
}

func (l *logFile) Write(line []byte) (int, error) {
	l.once.Do(func() {
		l.file = io.Discard
		if os.MkdirAll(filepath.Dir(l.path), 0o700) != nil {
			return
		}
		if f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err == nil {
			l.file = f
		}
	})
	return l.file.Write(line)
}

// logTo sends what the program logs to a file of the state directory.
func logTo(stateDir string) {
	slog.SetDefault(slog.New(slog.NewTextHandler(&logFile{path: filepath.Join(stateDir, "agent.log")}, nil)))
}
