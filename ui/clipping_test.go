//go:build linux

package ui

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var onePixel = []byte("\x89PNG\r\n\x1a\nand more")

// ctrl+v: an image goes along as a file, text is put in.
func TestPasteClipboard(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "pasted", "old.png")
	if err := os.MkdirAll(filepath.Dir(old), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Time{}, time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	on(t, 80, 24, Options{StateDir: dir}, func(t *testing.T, s *stage) {
		s.model.clipping = func() ([]byte, string, error) { return onePixel, "", nil }
		s.Type("what is ")
		s.Key("ctrl+v")
		s.Wait(time.Second)
		s.wantOn(t, "what is [pasted image]")
		s.model.clipping = func() ([]byte, string, error) { return nil, "two\nlines", nil }
		s.Key("ctrl+v")
		s.Wait(time.Second)
		files, err := filepath.Glob(dir + "/pasted/*")
		if err != nil || len(files) != 1 || filepath.Ext(files[0]) != ".png" {
			t.Fatalf("kept %q, %v", files, err)
		}
		if data, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(data, onePixel) {
			t.Errorf("%q, %v", data, err)
		}
		if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		if got, want := s.model.composer.text(), `what is @"`+files[0]+"\" two\nlines"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		s.model.clipping = func() ([]byte, string, error) { return nil, "", errors.New("nothing is there") }
		s.Key("ctrl+v")
		s.Wait(time.Second)
		s.wantOn(t, "nothing is there")
	})
}

func TestReadClipboard(t *testing.T) {
	dir := t.TempDir()
	program := func(name, script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for name, value := range map[string]string{"SSH_CONNECTION": "", "WSL_DISTRO_NAME": "", "WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ""} {
		t.Setenv(name, value)
	}
	program("wl-paste", `case $* in *image*) printf '%b' '\0211PNG\r\n\032\nx' ;; *) echo text ;; esac`)
	if image, text, err := readClipboard(); !strings.HasPrefix(string(image), "\x89PNG") || text != "" || err != nil {
		t.Errorf("%q, %q, %v", image, text, err)
	}
	program("wl-paste", `case $* in *image*) echo no image; exit 1 ;; *) printf 'some\ntext' ;; esac`)
	if image, text, err := readClipboard(); image != nil || text != "some\ntext" || err != nil {
		t.Errorf("%q, %q, %v", image, text, err)
	}
	program("wl-paste", `case $* in *image*) echo nothing of that kind ;; *) echo text ;; esac`)
	if image, text, err := readClipboard(); image != nil || text != "text\n" || err != nil {
		t.Errorf("%q, %q, %v", image, text, err)
	}
	program("wl-paste", `exec head -c 60000000 /dev/zero`)
	if _, text, err := readClipboard(); err == nil || !strings.Contains(err.Error(), "wl-paste") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	t.Setenv("WAYLAND_DISPLAY", "")
	if _, _, err := readClipboard(); err == nil || !strings.Contains(err.Error(), "no clipboard here") {
		t.Error(err)
	}
	t.Setenv("SSH_CONNECTION", "1")
	if _, _, err := readClipboard(); err == nil || !strings.Contains(err.Error(), "ssh") {
		t.Error(err)
	}
}

func TestClippingSources(t *testing.T) {
	env := func(set string) func(string) string {
		return func(name string) string {
			if name == set {
				return "1"
			}
			return ""
		}
	}
	for _, c := range []struct{ goos, env, image, text string }{
		{"darwin", "", "osascript", "pbpaste"}, {"windows", "", "powershell.exe", "powershell.exe"}, {"linux", "WSL_DISTRO_NAME", "powershell.exe", "powershell.exe"},
		{"linux", "WAYLAND_DISPLAY", "wl-paste", "wl-paste"}, {"linux", "DISPLAY", "xclip", "xclip"},
	} {
		images, texts := clippingSources(c.goos, env(c.env))
		if len(images) != 1 || images[0].argv[0] != c.image || len(texts) == 0 || texts[0].argv[0] != c.text {
			t.Errorf("%+v: %v, %v", c, images, texts)
		}
	}
	apple, err := appleImage([]byte("«data PNGf" + strings.ToUpper(hex.EncodeToString(onePixel)) + "»\n"))
	if err != nil || !bytes.Equal(apple, onePixel) {
		t.Errorf("%q, %v", apple, err)
	}
	windows, err := base64Image([]byte(base64.StdEncoding.EncodeToString(onePixel) + "\r\n"))
	if err != nil || !bytes.Equal(windows, onePixel) {
		t.Errorf("%q, %v", windows, err)
	}
	if _, err := appleImage([]byte("text")); err == nil {
		t.Error("text is an image")
	}
}
