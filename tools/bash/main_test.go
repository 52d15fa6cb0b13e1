package bash

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	MaybeHelper()
	// The private caches of workspaces go where they can be removed.
	cache, err := os.MkdirTemp("", "bash-test-cache-")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_CACHE_HOME", cache)
	code := m.Run()
	os.RemoveAll(cache)
	os.Exit(code)
}
