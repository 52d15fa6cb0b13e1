package app

import (
	"fmt"
	"sync"

	"github.com/phero-agent/agent/tools/bash"
)

// shellsOver notices when background shells end.
type shellsOver struct {
	mu      sync.Mutex
	running map[string]bool // by id
}

// newlyOver are the shells of the list that ran when they were last seen.
func (s *shellsOver) newlyOver(list []bash.ShellInfo) (over []bash.ShellInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	running := map[string]bool{}
	for _, sh := range list {
		running[sh.ID] = sh.Running
		if s.running[sh.ID] && !sh.Running {
			over = append(over, sh)
		}
	}
	s.running = running
	return over
}

// shellsChanged takes the list of background shells whenever one starts or ends.
// The model is told of the ends at its next request (IMP-29).
func (a *App) shellsChanged(list []bash.ShellInfo) {
	a.watch.shells(list)
	for _, sh := range a.over.newlyOver(list) {
		a.note(fmt.Sprintf("The background command %s (%s) ended with exit code %d. bash_output has what it printed.", sh.ID, shortened(sh.Command), sh.ExitCode))
	}
	a.emit(Shells{List: list})
}

const noteCommand = 80 // characters of a command in a note

func shortened(command string) string {
	if r := []rune(command); len(r) > noteCommand {
		return string(r[:noteCommand]) + "…"
	}
	return command
}

// Shells lists the background shells with what they printed last. It takes nothing
// from what bash_output will give the model.
func (a *App) Shells() []bash.ShellInfo {
	if shells := a.shells(); shells != nil {
		return shells.Shells()
	}
	return nil
}
