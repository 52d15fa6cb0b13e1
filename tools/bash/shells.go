package bash

import "time"

// ShellInfo is a background shell, for a person to see.
type ShellInfo struct {
	ID       string    `json:"id"`
	Command  string    `json:"command"`
	Started  time.Time `json:"started"`
	Running  bool      `json:"running"`
	ExitCode int       `json:"exit_code"`
	Tail     string    `json:"tail"` // its last output; looking consumes nothing
}
