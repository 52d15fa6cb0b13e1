package app

import (
	"fmt"
	"slices"
	"strings"
)

// efforts are the levels of reasoning that are taken where a model's own are not known.
var efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh"}

// defaultEffort stands for what the server does by itself.
const defaultEffort = "default"

// Effort is how much the model reasons; "" is the server's default.
func (a *App) Effort() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.effort
}

// Efforts are the levels that SetEffort takes now, from little to much.
func (a *App) Efforts() []string {
	known := efforts
	if info := a.modelInfo(); info != nil && len(info.Efforts) > 0 {
		known = info.Efforts
	}
	return append([]string{defaultEffort}, known...)
}

// SetEffort sets how much the model reasons, from the next request on, until the
// program ends (decision 27).
func (a *App) SetEffort(level string) error {
	if levels := a.Efforts(); !slices.Contains(levels, level) {
		return fmt.Errorf("%q is no level of this model: %s", level, strings.Join(levels, ", "))
	}
	if level == defaultEffort {
		level = ""
	}
	a.mu.Lock()
	a.effort = level
	a.mu.Unlock()
	return nil
}
