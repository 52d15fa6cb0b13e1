package app_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/script"
	"github.com/phero-agent/agent/session"
)

// named is a provider of a model's name.
type named struct {
	app.Provider
	name string
}

func (n named) Info() app.ModelInfo { return app.ModelInfo{ID: n.name, Host: n.name + ".example"} }

func (n named) Stream(ctx context.Context, req app.Request, emit func(app.Delta)) (app.Reply, error) {
	reply, err := n.Provider.Stream(ctx, req, emit)
	reply.Message.Model = n.name
	return reply, err
}

// choices is a place to choose models from; it keeps what was asked for.
type choices struct {
	mu   sync.Mutex
	made []string
}

func (c *choices) set(t *testing.T) func(*app.Options) {
	s, err := script.Parse("== one\nOne.\n== two\nTwo.\n== three\nThree.\n")
	if err != nil {
		t.Fatal(err)
	}
	return func(o *app.Options) {
		o.NewProvider = func(_ context.Context, name string) (app.Provider, error) {
			c.mu.Lock()
			c.made = append(c.made, name)
			c.mu.Unlock()
			switch name {
			case "":
				name = "usual"
			case "broken":
				return nil, errors.New("no key for it")
			}
			return named{script.New(s, 0, ""), name}, nil
		}
		o.Models = func(context.Context) ([]app.ModelInfo, error) { return []app.ModelInfo{{ID: "other"}}, nil }
	}
}

// stateOf is the newest state that the screen was told.
func stateOf(r *rig) app.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.events) - 1; i >= 0; i-- {
		if s, ok := r.events[i].(app.State); ok {
			return s
		}
	}
	return app.State{}
}

func models(entries []session.Entry) (list []string) {
	for _, e := range entries {
		if e.Kind == session.KindModel {
			list = append(list, "="+e.Model)
		}
		if e.Message != nil && e.Message.Role == session.RoleAssistant {
			list = append(list, e.Message.Model)
		}
	}
	return list
}

// IMP-41: the model changes from the next request on, the session says so, and a
// resumed one goes on with it.
func TestSetModel(t *testing.T) {
	var c choices
	r := newRig(t, "== a\nHi.\n", nil, c.set(t))
	r.turn("go")
	r.app.SetModel("other")
	if s := stateOf(r); s.Model != "other" || s.Provider != "other.example" {
		t.Errorf("the screen shows %+v", s)
	}
	r.turn("go")
	r.app.SetModel("broken")
	if n, _ := await(r, 0, func(n app.Notice) bool { return n.Level == app.Error }); !strings.Contains(n.Text, "no key for it") {
		t.Errorf("told %q", n.Text)
	}
	if ended := r.turn("go"); ended.Outcome != session.OutcomeDone {
		t.Fatalf("after a choice that failed: %+v", ended)
	}
	if err := r.app.Close(); err != nil {
		t.Fatal(err)
	}

	again := rigIn(t, r.dir, "== a\nHi.\n", c.set(t))
	if err := again.app.Open(""); err != nil {
		t.Fatal(err)
	}
	opened, _ := await[app.Opened](again, 1, func(o app.Opened) bool { return o.Resumed })
	if got := strings.Join(models(opened.Entries), " "); got != "usual =other other other" {
		t.Errorf("the log says %s", got)
	}
	again.turn("go")
	if s := stateOf(again); s.Model != "other" {
		t.Errorf("the resumed session goes on with %s", s.Model)
	}
	if err := again.app.Close(); err != nil {
		t.Fatal(err)
	}

	// Who names a model for the run keeps it.
	kept := rigIn(t, r.dir, "== a\nHi.\n", c.set(t), func(o *app.Options) { o.KeepModel = true })
	if err := kept.app.Open(""); err != nil {
		t.Fatal(err)
	}
	kept.turn("go")
	if s := stateOf(kept); s.Model != "usual" {
		t.Errorf("-m was forgotten for %s", s.Model)
	}
}

// TestModelIsLookedForBehindTheScreen: nothing names a model, so that it is found
// while the screen is there already, or what to set is shown.
func TestModelIsLookedForBehindTheScreen(t *testing.T) {
	var c choices
	found := newRig(t, "== a\nHi.\n", nil, c.set(t))
	if s, _ := await(found, 0, func(s app.State) bool { return s.Model != "" }); s.Model != "usual" || s.SetUp != "" {
		t.Errorf("%+v", s)
	}
	missing := newRig(t, "== a\nHi.\n", nil, c.set(t), func(o *app.Options) {
		o.NewProvider = func(context.Context, string) (app.Provider, error) { return nil, errors.New("nothing is set") }
	})
	if s, _ := await(missing, 0, func(s app.State) bool { return s.SetUp != "" }); s.SetUp != "nothing is set" {
		t.Errorf("%+v", s)
	}
	if ended := missing.turn("go"); ended.Outcome != session.OutcomeFailed || !strings.Contains(ended.Error, "nothing is set") {
		t.Errorf("%+v", ended)
	}
	// A search that takes long holds nothing up.
	searching := newRig(t, "== a\nHi.\n", nil, c.set(t), func(o *app.Options) {
		o.NewProvider = func(ctx context.Context, _ string) (app.Provider, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	if err := searching.app.Close(); err != nil {
		t.Error(err)
	}
}

func TestOneModelOnly(t *testing.T) {
	r := newRig(t, "== a\nYes.\n", nil)
	if _, err := r.app.Models(); err == nil {
		t.Error("a script offers models")
	}
	r.app.SetModel("x")
	await(r, 0, func(n app.Notice) bool { return n.Level == app.Warning })
	r.turn("go")
}
