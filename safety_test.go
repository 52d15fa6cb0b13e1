package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/app/config"
)

// SAFE-01: rules are never called a boundary, and the README says what gets around them.
func TestRulesAreNoBoundary(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := strings.Join(strings.Fields(string(data)), " ")
	for _, want := range []string{"no boundary", "a script, a Makefile", "The boundary is the sandbox"} {
		if !strings.Contains(readme, want) {
			t.Errorf("the README does not say %q", want)
		}
	}
	for _, text := range []string{readme, longHelp} {
		for line := range strings.SplitSeq(text, ". ") {
			if strings.Contains(line, "boundary") && !strings.Contains(line, "no boundary") && !strings.Contains(line, "sandbox") {
				t.Errorf("called a boundary: %s", line)
			}
		}
	}
}

// SAFE-07, SAFE-08: every turn is bounded, and commands are sandboxed without the network, by default.
func TestDefaults(t *testing.T) {
	settings, err := config.Load(config.Flags{}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	opts := options(settings)
	if opts.Timeout != 30*time.Minute || !strings.Contains(newCommand().Flags().Lookup("timeout").Usage, "default 30m") {
		t.Errorf("a turn may take %s", opts.Timeout)
	}
	if opts.Sandbox != "auto" || opts.Network || opts.NetworkFor != nil || opts.Roots != nil || opts.ShareCaches {
		t.Errorf("%+v", opts)
	}
}

// SAFE-09: what the network opens is said where it is switched on.
func TestNetworkIsExplained(t *testing.T) {
	flag := newCommand().PersistentFlags().Lookup("network")
	if flag == nil || flag.DefValue != "" || !strings.Contains(flag.Usage, "localhost") {
		t.Errorf("%+v", flag)
	}
}
