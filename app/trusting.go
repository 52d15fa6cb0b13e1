package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/phero-agent/agent/app/trust"
	"github.com/phero-agent/agent/tools/human"
)

// trusting asks once what of the repository counts. The first turn waits for the
// answer, since it decides what that turn may do (IMP-03).
type trusting struct {
	store    *trust.Store
	items    []trust.Item
	answered chan struct{}
	life     context.Context // of the App
}

func newTrusting(life context.Context, opts Options, items []trust.Item) *trusting {
	t := &trusting{store: opts.Trust, answered: make(chan struct{}), life: life}
	if opts.Interactive {
		for _, item := range items {
			if !t.store.Refuses(item) {
				t.items = append(t.items, item)
			}
		}
	}
	if len(t.items) == 0 {
		close(t.answered)
	}
	return t
}

// The labels of the answers.
const (
	trustIt    = "Trust it"
	notNow     = "Not now"
	neverTrust = "Never"
)

// askTrust puts the question, and after a yes asks to be started anew with what
// counts then.
func (a *App) askTrust() {
	t := a.trusting
	const header = "Trust"
	answers, err := a.question(t.life, "Trust this repository?", human.Input{Questions: []human.Question{{
		Header:   header,
		Question: t.words() + "Should this count?",
		Options: []human.Choice{
			{Label: trustIt, Description: "until it changes"},
			{Label: notNow, Description: "it does not count; you are asked again at the next start"},
			{Label: neverTrust, Description: "it does not count, and you are not asked again until it changes"},
		},
	}}})
	choice := notNow
	if err == nil && len(answers[header].Selections) > 0 {
		choice = answers[header].Selections[0]
	}
	switch choice {
	case trustIt:
		if err = t.store.Accept(t.items...); err == nil {
			a.emit(Restart{})
			return // the turn goes on waiting
		}
	case neverTrust:
		err = t.store.Refuse(t.items...)
	default:
		err = nil
	}
	if err != nil {
		a.emit(Notice{Level: Error, Text: fmt.Sprintf("your answer could not be kept, so nothing of the repository counts: %v", err)})
	}
	close(t.answered)
}

// words are what the items would do, as the question shows them. A line feed in a
// name of the repository must not pose as a line of the question.
func (t *trusting) words() string {
	oneLine := strings.NewReplacer("\n", `\n`, "\r", `\r`)
	var b strings.Builder
	for _, item := range t.items {
		fmt.Fprintf(&b, "%s wants:\n", oneLine.Replace(item.Name))
		for _, effect := range item.Effects {
			fmt.Fprintf(&b, "  %s\n", oneLine.Replace(effect))
		}
	}
	return b.String()
}

// wait returns true once it is known what counts, false when the App is closed before.
func (t *trusting) wait() bool {
	select {
	case <-t.answered:
		return true
	case <-t.life.Done():
		return false
	}
}
