package app

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/phero-agent/agent/session"
)

// ModelInfo is what is known of a model. A number that is not known is 0.
type ModelInfo struct {
	ID        string // as its server names it
	Name      string // as a person reads it, "" where there is none
	Host      string // of its server
	Provider  string // as in -m provider/model, "" for a server that the catalogue does not know
	Window    int    // of the context: prompt and reply, in tokens
	MaxOutput int    // of a reply, in tokens
	Prices    Prices
	Vision    Ability
	Reasoning Ability
	Efforts   []string // of the reasoning, from little to much; nil where they are not known
}

// Facts are the numbers and senses that are known, for a line on the screen.
func (m ModelInfo) Facts() string {
	var facts []string
	if m.Window > 0 {
		facts = append(facts, Tokens(m.Window))
	}
	if p := m.Prices; p.Input > 0 || p.Output > 0 {
		facts = append(facts, fmt.Sprintf("$%s in, $%s out", dollars(p.Input), dollars(p.Output)))
	}
	if m.Vision == Yes {
		facts = append(facts, "images")
	}
	if m.Reasoning == Yes {
		facts = append(facts, "reasoning")
	}
	return strings.Join(facts, ", ")
}

func dollars(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Tokens is a number of tokens in short.
func Tokens(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000 || n >= 1000 && n%1000 == 0:
		return fmt.Sprintf("%dk", n/1000)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return strconv.Itoa(n)
}

// Ability says whether a model can do a thing.
type Ability int

// The answers; many servers tell nothing.
const (
	Unknown Ability = iota
	Yes
	No
)

// Prices are dollars for a million tokens; all 0 where they are not known, or nothing is charged.
type Prices struct {
	Input, Output float64
	CacheRead     float64 // of the input's tokens that were cached
}

// Cost is what a request cost, in dollars.
func (p Prices) Cost(u session.Usage) float64 {
	fresh := max(0, u.Input-u.CacheRead)
	return (float64(fresh)*p.Input + float64(u.CacheRead)*p.CacheRead + float64(u.Output)*p.Output) / 1e6
}
