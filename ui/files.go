package ui

import (
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/ui/text"
)

// files is the pane of the files that the session changed.
type files struct {
	changes map[string]session.Change // by id
	order   []string                  // the ids of those that were written
	written map[string]bool           // the same
	undone  map[string]bool
	list    []sum // of all of it; nil when it is to be made anew
	at      int   // the selected one
	scroll  scroller
}

func newFiles() *files {
	return &files{changes: map[string]session.Change{}, written: map[string]bool{}, undone: map[string]bool{}}
}

// intends takes a change that is about to be written.
func (p *files) intends(c *session.Change) {
	kept := *c
	kept.Hunks = nil
	p.changes[c.ID] = kept
}

// found takes what commands changed; of directories only the files count.
func (p *files) found(f *session.Found) {
	for i := range f.Changes {
		if c := &f.Changes[i]; !c.IsDir() {
			p.intends(c)
			p.wrote(c.ID)
		}
	}
}

// wrote says that a change was written.
func (p *files) wrote(id string) {
	if _, ok := p.changes[id]; ok && !p.written[id] {
		p.order = append(p.order, id)
		p.written[id], p.list = true, nil
	}
}

// undid takes changes back, or makes them again.
func (p *files) undid(u *session.Undo) {
	p.list = nil
	for _, id := range u.Changes {
		p.undone[id] = !u.Redo
	}
}

// paths names the files of some changes, each once, and counts the changes.
func (p *files) paths(workspace string, ids []string) (paths []string, changes int) {
	named := map[string]bool{}
	for _, id := range ids {
		if c, ok := p.changes[id]; ok {
			changes++
			if !named[c.Path] {
				named[c.Path] = true
				paths = append(paths, text.Line(relative(workspace, c.Path)))
			}
		}
	}
	return paths, changes
}

// sum is a file with all that was changed in it.
type sum struct {
	path           string
	added, removed int
	created        bool
}

func (p *files) sums() []sum {
	if p.list != nil {
		return p.list
	}
	list := []sum{}
	at := map[string]int{}
	for _, id := range p.order {
		if p.undone[id] {
			continue
		}
		c := p.changes[id]
		i, ok := at[c.Path]
		if !ok {
			i = len(list)
			at[c.Path] = i
			list = append(list, sum{path: c.Path, created: !c.Existed})
		}
		list[i].added += c.Added
		list[i].removed += c.Removed
	}
	p.list = list
	return list
}

func (p *files) name() string { return "FILES" }
func (p *files) want() int    { return len(p.sums()) }

func (p *files) detail(k *look) string {
	added, removed := 0, 0
	for _, s := range p.sums() {
		added += s.added
		removed += s.removed
	}
	return counts(k.theme, added, removed)
}

// doShowChange opens what the session changed, at a file.
type doShowChange struct{ path string }

func (p *files) act(a action) intent {
	list := p.sums()
	switch a {
	case actUp:
		p.at--
	case actDown, actNextTab:
		p.at++
	case actPageUp:
		p.at -= p.scroll.page
	case actPageDown:
		p.at += p.scroll.page
	case actTop:
		p.at = 0
	case actBottom:
		p.at = len(list)
	case actChoose:
		if p.at < len(list) {
			return doShowChange{list[p.at].path}
		}
	}
	p.at = max(0, min(p.at, len(list)-1))
	return nil
}

func (p *files) view(k *look, w, h int, on bool) []string {
	var rows []string
	for i, s := range p.sums() {
		path := text.Line(relative(k.workspace, s.path))
		if s.created {
			path = "new " + path
		}
		row := spread(k.theme, w, path, counts(k.theme, s.added, s.removed))
		if on && i == p.at {
			row = k.theme.selected.Render(text.Pad(text.Strip(row), w))
		}
		rows = append(rows, row)
	}
	switch {
	case on:
		p.scroll.page = h
		p.scroll.show(p.at, p.at+1)
	case len(rows) > h:
		p.scroll.top = len(rows)
	}
	return p.scroll.window(rows, h)
}
