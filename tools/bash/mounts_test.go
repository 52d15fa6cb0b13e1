package bash

import (
	"slices"
	"testing"
)

// A mount that adds nothing is left out, one that changes anything is not (SBX-17).
func TestArrangeLeavesOutWhatIsShown(t *testing.T) {
	t.Parallel()
	mount := func(path, source string, access Access) Mount {
		return Mount{Path: path, Source: source, Access: access}
	}
	list := arrange([]Mount{
		mount("/t/a/b", "/t/a/b", ReadOnly), // shown by /t
		mount("/t", "/t", ReadOnly),
		mount("/t/w", "/t/w", Writable),
		mount("/t/w/r", "/t/w/r", ReadOnly),     // in a writable one
		mount("/t/w/r/s", "/t/w/r/s", ReadOnly), // shown by /t/w/r
		mount("/t/other", "/elsewhere", ReadOnly),
		mount("/t/other/x", "/elsewhere/x", ReadOnly), // shown by /t/other
		mount("/t/other/y", "/t/other/y", ReadOnly),   // another file there
		mount("/t/h", "", Hidden),
		mount("/t/h/x", "/t/h/x", ReadOnly),
		mount("/t/p", "", Private),
		mount("/t/p/x", "/t/p/x", ReadOnly),
		mount("/tt", "/tt", ReadOnly),
	})
	var paths []string
	for _, m := range list {
		paths = append(paths, m.Path)
	}
	want := []string{"/t", "/tt", "/t/h", "/t/other", "/t/p", "/t/w", "/t/h/x", "/t/other/y", "/t/p/x", "/t/w/r"}
	if !slices.Equal(paths, want) {
		t.Errorf("%q, want %q", paths, want)
	}
}
