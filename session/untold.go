package session

// Untold lists the undos and redos of a log that the model was not told of: those
// behind the last note and the last reply. The program ended before its next request.
func Untold(entries []Entry) (list []Undone) {
	changes := map[string]*Change{}
	for _, e := range entries {
		switch {
		case e.Change != nil:
			changes[e.Change.ID] = e.Change
		case e.Found != nil:
			for i := range e.Found.Changes {
				changes[e.Found.Changes[i].ID] = &e.Found.Changes[i]
			}
		case e.Kind == KindNote, e.Message != nil && e.Message.Role == RoleAssistant && e.Message.Parent == "":
			list = nil
		case e.Undo != nil:
			u := Undone{Redo: e.Undo.Redo}
			for _, id := range e.Undo.Changes {
				c := changes[id]
				if c == nil {
					continue
				}
				f := FileChange{Path: c.Path, Before: c.After, After: c.Before}
				if u.Redo {
					f.Before, f.After = f.After, f.Before
				}
				u.Files = append(u.Files, f)
			}
			list = append(list, u)
		}
	}
	return list
}
