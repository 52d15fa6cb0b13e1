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

// Thought is how long the reasoning of a reply took whose pieces come a second apart.
func Thought(pieces ...Delta) time.Duration {
	var th thinking
	now := time.Unix(1000, 0)
	for _, d := range pieces {
		th.heard(d, now)
		now = now.Add(time.Second)
	}
	return th.took(now)
}

// ExpectsCommands tells whether sandboxes are made while the model thinks.
func (a *App) ExpectsCommands() bool { return a.expectsCommands() }
