package ui

import "slices"

// scope is where a key counts.
type scope string

const (
	everywhere   scope = "everywhere"
	inComposer   scope = "composer"
	inTranscript scope = "transcript"
	inPane       scope = "panes"
	inPermission scope = "permission"
	inAlways     scope = "always"
	inQuestion   scope = "question"
	inPicker     scope = "lists"
	inChanges    scope = "undo and diff"
	inRewind     scope = "going back"
)

// action is what a key does.
type action int

const (
	actNone action = iota

	// Everywhere.
	actStop
	actQuitIfEmpty
	actEscape
	actEscapeTwice
	actHelp
	actRedraw
	actSuspend
	actMode
	actPanes
	actBackground
	actFoldAll
	actSessions
	actCommands
	actEditor
	actScrollUp
	actScrollDown

	// In the composer.
	actSend
	actNewline
	actHistoryBack
	actHistoryForward
	actHistorySearch
	actUnqueue
	actComplete
	actUndoInput
	actYank
	actYankOlder
	actPaste
	actHelpIfEmpty
	actLineEnd

	// Where something scrolls.
	actUp
	actDown
	actPageUp
	actPageDown
	actHalfUp
	actHalfDown
	actTop
	actBottom
	actLeft
	actRight
	actPrevious
	actNext
	actToggle
	actMark
	actCopy
	actFind
	actFindNext
	actFindPrevious

	// In panes.
	actFollow
	actKill
	actNextTab

	// In questions.
	actAllow
	actAlways
	actDeny
	actReason
	actWhy
	actOwnVersion
	actScope
	actNetwork
	actHost
	actSplit
	actFull
	actChoose
	actNumber
)

// binding is a row of the table of keys. Rows without help are other names of
// the row before.
type binding struct {
	scope  scope
	keys   []string
	shown  string // how the help names the keys
	action action
	help   string
}

// bindings returns every key that does something. The help is made from it, and
// nothing else decides what a key does.
func bindings() []binding {
	return []binding{
		{everywhere, []string{"ctrl+c"}, "ctrl+c", actStop, "stop the turn; clear the text; twice: quit"},
		{everywhere, []string{"ctrl+d"}, "ctrl+d", actQuitIfEmpty, "quit, when the text is empty"},
		{everywhere, []string{"esc"}, "esc", actEscape, "close, go back, stop the turn; twice: to a message of yours"},
		{everywhere, []string{"alt+esc"}, "", actEscapeTwice, ""}, // two that arrive at once
		{everywhere, []string{"f1"}, "f1 or ?", actHelp, "the keys"},
		{everywhere, []string{"shift+tab"}, "shift+tab", actMode, "the next permission mode"},
		{everywhere, []string{"ctrl+t"}, "ctrl+t", actPanes, "panes: todo, output, shells, files"},
		{everywhere, []string{"ctrl+b"}, "ctrl+b", actBackground, "move the running command to the background"},
		{everywhere, []string{"ctrl+o"}, "ctrl+o", actFoldAll, "unfold or fold everything"},
		{everywhere, []string{"ctrl+s"}, "ctrl+s", actSessions, "the sessions"},
		{everywhere, []string{"ctrl+p"}, "ctrl+p or /", actCommands, "the commands"},
		{everywhere, []string{"ctrl+g"}, "ctrl+g", actEditor, "write in $EDITOR"},
		{everywhere, []string{"shift+pgup", "alt+pgup"}, "shift+pgup pgdn", actScrollUp, "scroll the transcript, also under a question"},
		{everywhere, []string{"shift+pgdown", "alt+pgdown"}, "", actScrollDown, ""},
		{everywhere, []string{"ctrl+l"}, "ctrl+l", actRedraw, "draw the screen again"},
		{everywhere, []string{"ctrl+z"}, "ctrl+z", actSuspend, "suspend"},

		{inComposer, []string{"enter"}, "enter", actSend, "send; queue it while a turn runs"},
		{inComposer, []string{"shift+enter", "alt+enter", "ctrl+j"}, "shift+enter ctrl+j", actNewline, "a new line; so does \\ before enter"},
		{inComposer, []string{"up"}, "↑ ↓", actHistoryBack, "earlier and later prompts, at the first and last row"},
		{inComposer, []string{"down"}, "", actHistoryForward, ""},
		{inComposer, []string{"ctrl+r"}, "ctrl+r", actHistorySearch, "search the prompts"},
		{inComposer, []string{"alt+up"}, "alt+↑", actUnqueue, "take the last queued message back"},
		{inComposer, []string{"tab"}, "tab", actComplete, "complete @file and /command; else to the transcript"},
		{inComposer, []string{"pgup"}, "pgup pgdn", actPageUp, "scroll the transcript"},
		{inComposer, []string{"pgdown"}, "", actPageDown, ""},
		{inComposer, []string{"end"}, "end", actLineEnd, "the line's end; at the end: follow the transcript"},
		{inComposer, []string{"ctrl+_", "ctrl+-", "ctrl+/"}, "ctrl+_", actUndoInput, "take back a change of the text"},
		{inComposer, []string{"ctrl+y"}, "ctrl+y", actYank, "put in what ctrl+k, ctrl+u or ctrl+w cut"},
		{inComposer, []string{"alt+y"}, "alt+y", actYankOlder, "after ctrl+y: what was cut before that instead"},
		{inComposer, []string{"ctrl+v"}, "ctrl+v", actPaste, "put in the clipboard's image, or its text"},
		{inComposer, []string{"?"}, "", actHelpIfEmpty, ""},

		{inTranscript, []string{"j", "down"}, "j k ↑ ↓", actDown, "a line"},
		{inTranscript, []string{"k", "up"}, "", actUp, ""},
		{inTranscript, []string{"["}, "[ ]", actPrevious, "a message"},
		{inTranscript, []string{"]"}, "", actNext, ""},
		{inTranscript, []string{"d", "ctrl+d"}, "d u", actHalfDown, "half a page"},
		{inTranscript, []string{"u", "ctrl+u"}, "", actHalfUp, ""},
		{inTranscript, []string{"pgdown"}, "pgup pgdn", actPageDown, "a page"},
		{inTranscript, []string{"pgup"}, "", actPageUp, ""},
		{inTranscript, []string{"g", "home"}, "g G", actTop, "the start, the end"},
		{inTranscript, []string{"G", "end"}, "", actBottom, ""},
		{inTranscript, []string{"enter", "space"}, "enter", actToggle, "unfold or fold"},
		{inTranscript, []string{"v", "V"}, "v", actMark, "select lines, from here to where you go"},
		{inTranscript, []string{"c", "y"}, "c", actCopy, "copy the selection, or the item"},
		{inTranscript, []string{"/"}, "/", actFind, "find"},
		{inTranscript, []string{"n"}, "n N", actFindNext, "the next, the previous place"},
		{inTranscript, []string{"N"}, "", actFindPrevious, ""},
		{inTranscript, []string{"tab"}, "", actEscape, ""},

		{inPane, []string{"j", "down"}, "j k ↑ ↓", actDown, "a line"},
		{inPane, []string{"k", "up"}, "", actUp, ""},
		{inPane, []string{"pgdown"}, "pgup pgdn", actPageDown, "a page"},
		{inPane, []string{"pgup"}, "", actPageUp, ""},
		{inPane, []string{"g", "home"}, "g G", actTop, "the start, the end"},
		{inPane, []string{"G", "end"}, "", actBottom, ""},
		{inPane, []string{"f"}, "f", actFollow, "follow what comes in"},
		{inPane, []string{"tab"}, "tab", actNextTab, "the next command or shell"},
		{inPane, []string{"enter"}, "enter", actChoose, "the changes of a file"},
		{inPane, []string{"x"}, "x", actKill, "kill the shell, after a question"},

		{inPermission, []string{"y"}, "y", actAllow, "allow it once"},
		{inPermission, []string{"a"}, "a", actAlways, "allow it from now on, after a look at what"},
		{inPermission, []string{"n"}, "n esc", actDeny, "no"},
		{inPermission, []string{"e"}, "e", actReason, "no, and tell why"},
		{inPermission, []string{"o"}, "o", actOwnVersion, "change the proposal in $EDITOR: your version is written instead"},
		{inPermission, []string{"t"}, "t", actNetwork, "once with the network, for a command in the sandbox"},
		{inPermission, []string{"h"}, "h", actHost, "once on the host, outside the sandbox"},
		{inPermission, []string{"w"}, "w", actWhy, "why it is asked: what the rules say to each part"},
		{inPermission, []string{"up", "k"}, "↑ ↓ pgup pgdn", actUp, "scroll"},
		{inPermission, []string{"down", "j"}, "", actDown, ""},
		{inPermission, []string{"pgup"}, "", actPageUp, ""},
		{inPermission, []string{"pgdown", "space"}, "", actPageDown, ""},
		{inPermission, []string{"home", "g"}, "", actTop, ""},
		{inPermission, []string{"end", "G"}, "", actBottom, ""},
		{inPermission, []string{"left"}, "← →", actLeft, "pan long lines"},
		{inPermission, []string{"right"}, "", actRight, ""},
		{inPermission, []string{"u"}, "u", actSplit, "unified or side by side"},
		{inPermission, []string{"f"}, "f", actFull, "full screen"},

		{inAlways, []string{"y"}, "y", actAllow, "allow what is ticked"},
		{inAlways, []string{"s"}, "s", actScope, "for this session, or this workspace"},
		{inAlways, []string{"n"}, "n esc", actDeny, "go back"},
		{inAlways, []string{"up", "k"}, "↑ ↓", actUp, "the row"},
		{inAlways, []string{"down", "j"}, "", actDown, ""},
		{inAlways, []string{"space"}, "space", actToggle, "tick it, or not"},
		{inAlways, []string{"right", "l"}, "← →", actRight, "exactly as it was, or a wider rule"},
		{inAlways, []string{"left", "h"}, "", actLeft, ""},
		{inAlways, []string{"pgup"}, "pgup pgdn", actPageUp, "scroll"},
		{inAlways, []string{"pgdown"}, "", actPageDown, ""},

		{inQuestion, []string{"up", "k"}, "↑ ↓", actUp, "a choice"},
		{inQuestion, []string{"down", "j"}, "", actDown, ""},
		{inQuestion, []string{"1", "2", "3", "4", "5"}, "1 to 5", actNumber, "choose by its number"},
		{inQuestion, []string{"space"}, "space", actToggle, "choose"},
		{inQuestion, []string{"enter"}, "enter", actChoose, "choose and go on; send at the end"},
		{inQuestion, []string{"tab", "right", "l"}, "tab ← →", actNextTab, "the next, the previous question"},
		{inQuestion, []string{"shift+tab", "left", "h"}, "", actPrevious, ""},
		{inQuestion, []string{"pgup"}, "pgup pgdn", actPageUp, "scroll a long question"},
		{inQuestion, []string{"pgdown"}, "", actPageDown, ""},
		{inQuestion, []string{"f"}, "f", actFull, "full screen"},

		{inPicker, []string{"up", "ctrl+p"}, "↑ ↓", actUp, "a row"},
		{inPicker, []string{"down", "ctrl+n"}, "", actDown, ""},
		{inPicker, []string{"pgup"}, "pgup pgdn", actPageUp, "a page"},
		{inPicker, []string{"pgdown"}, "", actPageDown, ""},
		{inPicker, []string{"enter"}, "enter", actChoose, "take it"},

		{inRewind, []string{"up", "k"}, "↑ ↓", actUp, "a message"},
		{inRewind, []string{"down", "j"}, "", actDown, ""},
		{inRewind, []string{"left", "h", "shift+tab"}, "← →", actLeft, "with its files, without, only the files, or a fork"},
		{inRewind, []string{"right", "l", "tab"}, "", actRight, ""},
		{inRewind, []string{"pgup"}, "pgup pgdn", actPageUp, "a page"},
		{inRewind, []string{"pgdown"}, "", actPageDown, ""},
		{inRewind, []string{"home", "g"}, "", actTop, ""},
		{inRewind, []string{"end", "G"}, "", actBottom, ""},
		{inRewind, []string{"enter"}, "enter", actChoose, "do it"},
		{inRewind, []string{"n", "q", "esc"}, "", actDeny, ""},

		{inChanges, []string{"y"}, "y", actAllow, "do it to the ticked files"},
		{inChanges, []string{"n", "q", "esc"}, "n esc", actDeny, "leave all as it is"},
		{inChanges, []string{"up", "k"}, "↑ ↓", actPrevious, "a file"},
		{inChanges, []string{"down", "j"}, "", actNext, ""},
		{inChanges, []string{"space"}, "space", actToggle, "tick the file or not"},
		{inChanges, []string{"pgup"}, "pgup pgdn", actPageUp, "scroll its diff"},
		{inChanges, []string{"pgdown"}, "", actPageDown, ""},
		{inChanges, []string{"left", "h"}, "← →", actLeft, "pan long lines"},
		{inChanges, []string{"right", "l"}, "", actRight, ""},
		{inChanges, []string{"u"}, "u", actSplit, "unified or side by side"},
		{inChanges, []string{"f"}, "f", actFull, "full screen"},
	}
}

// keymap finds what a key does.
type keymap map[scope]map[string]action

func newKeymap(table []binding) keymap {
	m := keymap{}
	for _, b := range table {
		if m[b.scope] == nil {
			m[b.scope] = map[string]action{}
		}
		for _, k := range b.keys {
			m[b.scope][k] = b.action
		}
	}
	return m
}

// find looks a key up in the given scopes, in their order.
func (m keymap) find(key string, in ...scope) action {
	for _, s := range in {
		if a, ok := m[s][key]; ok {
			return a
		}
	}
	return actNone
}

// scopes lists the scopes of a table in its order.
func scopes(table []binding) []scope {
	var list []scope
	for _, b := range table {
		if !slices.Contains(list, b.scope) {
			list = append(list, b.scope)
		}
	}
	return list
}
