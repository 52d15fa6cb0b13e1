package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/phero-agent/agent/tools/file"
)

// layoutLook lists the workspace for the model's first note: without it, every
// session begins with a request that only lists files.
type layoutLook struct {
	mu   sync.Mutex
	done chan struct{} // closed when text is there; nil where nobody waits for it
	text string
}

const (
	layoutNames   = 80                     // at most so many names are told
	layoutBytes   = 3000                   // in at most so many bytes
	layoutLongest = 500 * time.Millisecond // for the look; a larger workspace is not told
	layoutWait    = 50 * time.Millisecond  // by the first request; what comes later is not told
)

// lookAtLayout begins a look at the files, beside the turn, when the model was not
// told of them yet.
func (a *App) lookAtLayout() {
	a.mu.Lock()
	told := a.notes.told.layout
	a.mu.Unlock()
	if told {
		return
	}
	l := &a.layout
	l.mu.Lock()
	defer l.mu.Unlock()
	done := make(chan struct{})
	l.done, l.text = done, ""
	a.working.Go(func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(a.life, layoutLongest)
		defer cancel()
		paths, err := a.files(ctx)
		if err != nil {
			return // the model can list them itself
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.text = layoutText(paths)
	})
}

// layoutNow is the list, for the first request of a turn that looked; "" where it
// does not come in time.
func (a *App) layoutNow() string {
	l := &a.layout
	l.mu.Lock()
	done := l.done
	l.done = nil
	l.mu.Unlock()
	if done == nil {
		return ""
	}
	select {
	case <-done:
	case <-time.After(layoutWait):
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}

// layoutText names all files of a small workspace, and of a larger one what is at
// its top, with the number of files in each directory.
func layoutText(paths []string) string {
	if len(paths) == 0 {
		return "The workspace has no files yet."
	}
	paths = slices.Sorted(slices.Values(paths))
	if all := strings.Join(paths, "\n"); len(paths) <= layoutNames && len(all) <= layoutBytes {
		return fmt.Sprintf("The files of the workspace, without ignored ones:\n%s", all)
	}
	var names []string
	counts := map[string]int{}
	for _, p := range paths {
		name, _, below := strings.Cut(p, "/")
		if below {
			name += "/"
		}
		if counts[name]++; counts[name] == 1 {
			names = append(names, name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The workspace has %d files, without ignored ones. At its top:", len(paths))
	for i, name := range names {
		line := "\n" + name
		if strings.HasSuffix(name, "/") {
			line += fmt.Sprintf(" (%d)", counts[name])
		}
		if i == layoutNames || b.Len()+len(line) > layoutBytes {
			fmt.Fprintf(&b, "\nand %d more", len(names)-i)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// Files lists the files of the workspace that are not ignored, relative to it,
// the newest first: for who mentions one in a prompt.
func (a *App) Files() ([]string, error) {
	files, err := a.files(context.Background())
	return append(files, a.resourceMentions()...), err
}

func (a *App) files(ctx context.Context) ([]string, error) {
	glob, err := file.NewGlobTool(file.WithWorkingDirectory(a.opts.Workspace), file.WithMaxResults(0), file.WithMaxOutputChars(0))
	if err != nil {
		return nil, err
	}
	found, err := glob.Tool().Handle(ctx, `{"pattern":"**"}`)
	if err != nil {
		return nil, err
	}
	paths := found.(*file.GlobOutput).Paths
	for i, p := range paths {
		paths[i] = a.relative(p)
	}
	return paths, nil
}
