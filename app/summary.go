package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/phero-agent/agent/session"
)

// Sizes in a record, in bytes.
const (
	recordArguments = 600
	recordResult    = 1500
	recordText      = 6000
	recordRepeated  = 100 // from here on a repeated result is only named
)

// filesReadMost is how many files that were read a compaction names.
const filesReadMost = 40

// summary asks the model to sum up parts, in pieces that fit its window: each
// request holds the summary so far and the next piece.
func (a *App) summary(ctx context.Context, c *compaction, parts []session.Part) (string, error) {
	record := records(parts)
	percent := chunkOfModel
	for {
		pieces := split(record, a.gauge.bytes(c.window)*percent/100)
		text, err := a.sumUp(ctx, c, pieces)
		var problem *ProviderError
		if errors.As(err, &problem) && problem.Kind == ErrContextOverflow && percent > 5 {
			percent /= 2
			continue
		}
		return text, err
	}
}

func (a *App) sumUp(ctx context.Context, c *compaction, pieces []string) (summary string, err error) {
	provider, err := a.provider(ctx)
	if err != nil {
		return "", err
	}
	defer a.emit(Compacting{})
	for i, piece := range pieces {
		a.emit(Compacting{Piece: i + 1, Of: len(pieces)})
		var b strings.Builder
		if summary != "" {
			b.WriteString("The summary so far:\n" + summary + "\n\nThe record goes on:\n")
		} else {
			b.WriteString("The record:\n")
		}
		b.WriteString(piece + "\n\nWrite the summary of everything so far.")
		if c.keep != "" {
			b.WriteString(" The user asks to keep above all: " + c.keep)
		}
		reply, err := provider.Stream(ctx, Request{
			System:   compactPrompt,
			Messages: []session.Message{{Role: session.RoleUser, Text: b.String()}},
		}, func(d Delta) {
			if d.Retry != nil {
				a.delta(a.own, d)
			}
		})
		if u := reply.Message.Usage; u != nil {
			sum := *u
			if c.entry.Usage != nil {
				sum = plus(sum, *c.entry.Usage)
			}
			c.entry.Usage = &sum
			a.tally.spend(*u, a.modelInfo())
		}
		if err != nil {
			return "", err
		}
		if summary = strings.TrimSpace(reply.Message.Text); summary == "" {
			return "", errEmptyReply
		}
	}
	return summary, nil
}

// records writes parts as a record, one text for each message. What files hold is
// left out, for they can be read again, and so is a result that came before.
func records(parts []session.Part) []string {
	var out []string
	seen := map[string]bool{}
	add := func(who, text string, most int) {
		if text != "" {
			out = append(out, who+": "+middleOut(text, most))
		}
	}
	for _, p := range parts {
		names := map[string]string{}
		for _, m := range p.Messages {
			switch m.Role {
			case session.RoleUser:
				add("USER", m.Text, recordText)
			case session.RoleAssistant:
				add("AGENT", m.Text, recordText)
				for _, c := range m.Calls {
					names[c.ID] = c.Name
					add("CALL "+c.Name, c.Arguments, recordArguments)
				}
			case session.RoleTool:
				text := m.Text
				switch {
				case names[m.CallID] == "read" && m.Status == session.StatusOK:
					text = fmt.Sprintf("%d lines", strings.Count(text, "\n")+1)
				case len(text) > recordRepeated && seen[text]:
					text = "(the same as an earlier result)"
				}
				seen[m.Text] = true
				add(fmt.Sprintf("RESULT %s (%s)", names[m.CallID], m.Status), text, recordResult)
			}
		}
	}
	return out
}

// split joins texts to pieces of at most so many bytes; there is always one.
func split(texts []string, most int) []string {
	var pieces []string
	var b strings.Builder
	for _, t := range texts {
		t = middleOut(t, most)
		if b.Len() > 0 && b.Len()+len(t) > most {
			pieces = append(pieces, b.String())
			b.Reset()
		}
		b.WriteString(t + "\n")
	}
	return append(pieces, b.String())
}

// filesRead adds to the paths of files that were read those of parts, the newest
// last, and keeps the newest ones.
func filesRead(paths []string, parts []session.Part) []string {
	for _, p := range parts {
		for _, c := range p.Messages[0].Calls {
			var in struct {
				Path string `json:"file_path"`
			}
			if c.Name != "read" || json.Unmarshal([]byte(c.Arguments), &in) != nil || in.Path == "" {
				continue
			}
			paths = append(slices.DeleteFunc(paths, func(p string) bool { return p == in.Path }), in.Path)
		}
	}
	return paths[max(0, len(paths)-filesReadMost):]
}
