package ui

import (
	"time"

	"github.com/phero-agent/agent/ui/text"
)

// picker lists the sessions, the newest first as they come.
func (s sessionsMsg) picker(now time.Time) *picker {
	var rows []pick
	for _, info := range s.list {
		title := text.Line(info.Title)
		if title == "" {
			title = info.ID
		}
		detail := plural(info.Messages, "message", "messages") + "  " + ago(info.Changed, now)
		if info.Open {
			detail = "open  " + detail
		}
		rows = append(rows, pick{label: title, detail: detail, intent: doResume{info.ID}})
	}
	return newPicker("Sessions", "no sessions yet", rows)
}
