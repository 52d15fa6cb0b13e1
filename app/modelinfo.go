package app

import "github.com/phero-agent/agent/session"

// ModelInfo is what is known of a model. A number that is not known is 0.
type ModelInfo struct {
	ID        string // as its server names it
	Name      string // as a person reads it, "" where there is none
	Provider  string // as in -m provider/model, "" for a server that the catalogue does not know
	Window    int    // of the context: prompt and reply, in tokens
	MaxOutput int    // of a reply, in tokens
	Prices    Prices
	Vision    Ability
	Reasoning Ability
	Efforts   []string // of the reasoning, from little to much; nil where they are not known
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
