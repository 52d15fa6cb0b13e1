package ui

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
)

const (
	clippingMost     = 50 << 20            // bytes of a clipboard that are taken
	clippingPatience = 5 * time.Second     // for a program to hand it over
	clippingKept     = 30 * 24 * time.Hour // how long a pasted image is there for prompts of before
)

// clippingMsg is what was on the clipboard.
type clippingMsg struct {
	text  string
	image string // the path of a file with it
}

// pasteClipboard puts in what is on this machine's clipboard, an image as a file that
// the prompt mentions: terminals hand over text only.
func (m *Model) pasteClipboard() tea.Cmd {
	return func() tea.Msg {
		image, text, err := m.clipping()
		if err == nil && len(image) > 0 {
			var path string
			if path, err = keepImage(m.opts.StateDir, image); err == nil {
				return clippingMsg{image: path}
			}
		}
		if err != nil {
			return failure{err}
		}
		return clippingMsg{text: text}
	}
}

// clipped puts a clipping into the text.
func (m *Model) clipped(msg clippingMsg) tea.Cmd {
	if msg.image == "" {
		return m.paste(msg.text)
	}
	m.composer.attach(msg.image)
	m.status.say(app.Notice{Text: "the image of the clipboard goes along"}, m.look.now)
	return m.typed()
}

// keepImage writes an image of the clipboard into a file below dir, and removes old ones.
func keepImage(dir string, image []byte) (string, error) {
	if dir == "" {
		return "", errors.New("the image of the clipboard cannot be kept: there is no state directory")
	}
	dir = filepath.Join(dir, "pasted")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("the image of the clipboard is not kept: %w", err)
	}
	if list, err := os.ReadDir(dir); err == nil {
		for _, e := range list {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > clippingKept {
				_ = os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
	sum := sha256.Sum256(image)
	path := filepath.Join(dir, hex.EncodeToString(sum[:6])+"."+strings.TrimPrefix(http.DetectContentType(image), "image/"))
	if err := os.WriteFile(path, image, 0o600); err != nil {
		return "", fmt.Errorf("the image of the clipboard is not kept: %w", err)
	}
	return path, nil
}

// clippingSource is a program that hands over what is on the clipboard.
type clippingSource struct {
	argv   []string
	decode func([]byte) ([]byte, error) // of what it prints; nil: that is it
}

// clippingSources are those of images and of text, for where the person sits.
func clippingSources(goos string, env func(string) string) (images, texts []clippingSource) {
	from := func(argv ...string) clippingSource { return clippingSource{argv: argv} }
	const psImage = `Add-Type -AssemblyName System.Windows.Forms, System.Drawing; $i = [Windows.Forms.Clipboard]::GetImage(); ` +
		`if ($i) { $s = New-Object IO.MemoryStream; $i.Save($s, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($s.ToArray()) }`
	switch {
	case goos == "darwin":
		images = append(images, clippingSource{[]string{"osascript", "-e", "the clipboard as «class PNGf»"}, appleImage})
		texts = append(texts, from("pbpaste"))
	case goos == "windows", env("WSL_DISTRO_NAME") != "":
		images = append(images, clippingSource{[]string{"powershell.exe", "-NoProfile", "-STA", "-Command", psImage}, base64Image})
		texts = append(texts, from("powershell.exe", "-NoProfile", "-Command", "Get-Clipboard -Raw"))
	}
	if env("WAYLAND_DISPLAY") != "" {
		images = append(images, from("wl-paste", "--type", "image/png"))
		texts = append(texts, from("wl-paste", "--no-newline"))
	}
	if env("DISPLAY") != "" {
		images = append(images, from("xclip", "-selection", "clipboard", "-t", "image/png", "-o"))
		texts = append(texts, from("xclip", "-selection", "clipboard", "-o"), from("xsel", "-ob"))
	}
	return images, texts
}

// readClipboard is the image on the clipboard, or else its text.
func readClipboard() (image []byte, text string, err error) {
	if os.Getenv("SSH_CONNECTION") != "" {
		return nil, "", errors.New("the clipboard of your machine is out of reach over ssh: paste text with the terminal's own key, and copy an image here to name it with @")
	}
	images, texts := clippingSources(runtime.GOOS, os.Getenv)
	for _, s := range images {
		if data, err := s.read(); err == nil && isImage(data) {
			return data, "", nil
		}
	}
	for _, s := range texts {
		if data, err := s.read(); err == nil {
			return nil, string(data), nil
		}
	}
	var names []string
	for _, s := range texts {
		names = append(names, s.argv[0])
	}
	if names == nil {
		return nil, "", errors.New("there is no clipboard here: paste text with the terminal's own key, and name an image with @")
	}
	return nil, "", fmt.Errorf("the clipboard is empty, or none of these programs is here to read it: %s", strings.Join(names, ", "))
}

// read runs the program.
func (s clippingSource) read() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), clippingPatience)
	defer cancel()
	out := &bounded{most: clippingMost}
	cmd := exec.CommandContext(ctx, s.argv[0], s.argv[1:]...)
	cmd.Stdout = out
	cmd.WaitDelay = clippingPatience
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	if s.decode == nil {
		return out.data, nil
	}
	return s.decode(out.data)
}

// bounded takes no more than so many bytes.
type bounded struct {
	data []byte
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(b.data)+len(p) > b.most {
		return 0, fmt.Errorf("more than %d MB", b.most>>20)
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

func isImage(data []byte) bool {
	switch http.DetectContentType(data) {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// appleImage decodes «data PNGf89504E47…».
func appleImage(out []byte) ([]byte, error) {
	_, digits, ok := strings.Cut(strings.TrimSpace(string(out)), "PNGf")
	if !ok {
		return nil, errors.New("no image")
	}
	return hex.DecodeString(strings.TrimSuffix(digits, "»"))
}

func base64Image(out []byte) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.TrimSpace(string(out)))
}
