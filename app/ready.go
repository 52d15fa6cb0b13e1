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

// rest ends the sandboxes that wait for a command: the turn has no more.
func (a *App) rest() {
	if shells := a.shells(); shells != nil {
		shells.Rest()
	}
}
