package app

// coming are the commands of a reply that comes in, by the index of their calls.
type coming map[int]bool

// hear makes the sandbox of a command while its call comes in, so that the command
// does not wait for it.
func (c coming) hear(d Delta, b *toolbox) {
	if d.Call == nil || d.Call.Name != b.bash.Tool().Name() || c[d.Call.Index] {
		return
	}
	c[d.Call.Index] = true
	b.bash.Prepare(len(c))
}

// anticipated is how many sandboxes are made while the model thinks. Replies with
// more commands are rare, and each takes about 10 ms of a processor.
const anticipated = 4

// anticipate makes sandboxes before the model says that it wants commands.
func (a *App) anticipate() {
	if a.expectsCommands() {
		a.box.bash.Prepare(anticipated)
	}
}

// expectsCommands tells whether the model is likely to want commands: in a headless
// run, which is work and not talk, and in this turn or after one that had some. It
// is so only where a look at git makes a sandbox in any case.
func (a *App) expectsCommands() bool {
	recently := a.commanded > 0 && a.commanded >= a.turn-1
	return (recently || !a.opts.Interactive) && a.mayLookAtGit()
}

// rest ends the sandboxes that wait for a command: the turn has no more.
func (a *App) rest() {
	if shells := a.shells(); shells != nil {
		shells.Rest()
	}
}
