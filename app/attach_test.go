package app_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// seer is a provider with an eye, or without.
type seer struct {
	app.Provider
	vision app.Ability
}

func (s seer) Info() app.ModelInfo { return app.ModelInfo{ID: "m", Vision: s.vision} }

func picture(t *testing.T, w, h int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestImagesInPrompts: images that a prompt names go to the model, shrunk, and
// are kept with the session.
func TestImagesInPrompts(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "a shot.png")
	if err := os.WriteFile(outside, []byte(picture(t, 3000, 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "== a\nI see.\n== b\nMore.\n", map[string]string{"shot.png": picture(t, 8, 8), "text.png": "no image"})
	r.turn("what is @shot.png and '" + outside + "'? not @text.png, @gone.png or /nowhere/x.png")
	m := r.last()[0]
	if len(m.Images) != 2 || m.Images[0].MediaType != "image/png" {
		t.Fatalf("the model got %+v", m)
	}
	req := r.provider.all()[0]
	first, err := req.Images(m.Images[0].Blob)
	if err != nil || string(first) != picture(t, 8, 8) {
		t.Errorf("%d bytes, %v", len(first), err)
	}
	second, err := req.Images(m.Images[1].Blob)
	if err != nil {
		t.Fatal(err)
	}
	if c, _, err := image.DecodeConfig(bytes.NewReader(second)); err != nil || c.Width > 1568 {
		t.Errorf("%+v, %v", c, err)
	}
	var told []string
	r.mu.Lock()
	for _, e := range r.events {
		if n, ok := e.(app.Notice); ok {
			told = append(told, n.Text)
		}
	}
	r.mu.Unlock()
	if s := strings.Join(told, "\n"); len(told) != 2 || !strings.Contains(s, "text.png is no PNG") || !strings.Contains(s, "gone.png is not attached: there is no such file") {
		t.Errorf("told %q", told)
	}
	if err := r.app.Close(); err != nil {
		t.Fatal(err)
	}
	again := rigIn(t, r.dir, "== a\nI see.\n== b\nMore.\n")
	if err := again.app.Open(""); err != nil {
		t.Fatal(err)
	}
	again.turn("go on")
	if m := again.last()[0]; len(m.Images) != 2 {
		t.Errorf("after a resume %+v", m)
	}
}

// TestBlindModel: the person is told that a model sees nothing.
func TestBlindModel(t *testing.T) {
	for vision, want := range map[app.Ability]bool{app.No: true, app.Yes: false, app.Unknown: false} {
		r := newRig(t, "== a\nHm.\n", map[string]string{"shot.png": picture(t, 8, 8)}, func(o *app.Options) {
			made := o.NewProvider
			o.NewProvider = func(ctx context.Context, name string) (app.Provider, error) {
				p, err := made(ctx, name)
				return seer{p, vision}, err
			}
		})
		if ended := r.turn("what is @shot.png?"); ended.Outcome != session.OutcomeDone {
			t.Errorf("%+v", ended)
		}
		told := false
		r.mu.Lock()
		for _, e := range r.events {
			n, ok := e.(app.Notice)
			told = told || ok && strings.Contains(n.Text, "sees no images")
		}
		r.mu.Unlock()
		if told != want {
			t.Errorf("vision %d: told %v", vision, told)
		}
	}
}
