package app

import "time"

// WaitForGit waits until no look at git is under way.
func (a *App) WaitForGit() {
	for busy := true; busy; time.Sleep(time.Millisecond) {
		a.git.mu.Lock()
		busy = a.git.busy
		a.git.mu.Unlock()
	}
}
