package bash

import "time"

// ShellInfo is a background shell, for a person to see.
type ShellInfo struct {
	ID, Command string
	Started     time.Time
	Running     bool
	ExitCode    int
	Tail        string // its last output; looking consumes nothing
}
