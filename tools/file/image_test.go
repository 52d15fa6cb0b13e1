package file

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/tools"
)

// picture is red on its left half and see-through blue on its right one.
func picture(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, color.NRGBA{R: 255, A: 255})
			if x >= w/2 {
				m.Set(x, y, color.NRGBA{B: 255, A: 128})
			}
		}
	}
	return m
}

func encode(t *testing.T, name string, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch filepath.Ext(name) {
	case ".png":
		err = png.Encode(&b, m)
	case ".jpg":
		err = jpeg.Encode(&b, m, nil)
	case ".gif":
		err = gif.Encode(&b, m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// One pixel of each kind of WebP: lossy, lossless, extended.
var webps = map[string]string{
	"lossy":    "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
	"lossless": "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==",
	"extended": "UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7mtQAAAA==",
}

// Images come as tools.Result.
func TestReadImages(t *testing.T) {
	noise := image.NewNRGBA(image.Rect(0, 0, 1300, 1050))
	rand.New(rand.NewSource(1)).Read(noise.Pix)
	ws := tree(t, nil)
	for _, c := range []struct {
		name, kind string
		image      image.Image
		size       image.Point // that the model gets
		text       string
	}{
		{"small.png", "image/png", picture(4, 2), image.Pt(4, 2), "Image small.png: PNG, 4×2 pixels"},
		{"small.jpg", "image/jpeg", picture(4, 2), image.Pt(4, 2), "JPEG, 4×2"},
		{"small.gif", "image/gif", picture(4, 2), image.Pt(4, 2), "GIF, 4×2"},
		{"wide.png", "image/png", picture(3136, 500), image.Pt(1568, 250), "PNG, 3136×500 pixels"},
		{"tall.jpg", "image/jpeg", picture(100, 2000), image.Pt(78, 1568), "shown at 78×1568"},
		{"wide.gif", "image/png", picture(2000, 10), image.Pt(1568, 7), "GIF, 2000×10"},
		{"line.png", "image/png", picture(5000, 1), image.Pt(1568, 1), "shown at 1568×1"},
		{"noise.png", "image/jpeg", noise, image.Pt(1300, 1050), "shown at 1300×1050"}, // as PNG it is above 5 MB
	} {
		data := encode(t, c.name, c.image)
		if err := os.WriteFile(filepath.Join(ws, c.name), data, 0o644); err != nil {
			t.Fatal(err)
		}
		res, err := call(t, must(NewReadTool(WithWorkingDirectory(ws))).Tool(), ReadInput{FilePath: c.name})
		got, ok := res.(tools.Result)
		if err != nil || !ok || len(got.Images) != 1 || got.Images[0].MediaType != c.kind || !strings.Contains(got.Text, c.text) {
			t.Errorf("%s: %v, %q", c.name, err, got.Text)
			continue
		}
		m, _, err := image.Decode(bytes.NewReader(got.Images[0].Data))
		if err != nil || m.Bounds().Size() != c.size || len(got.Images[0].Data) > maxImageBytes {
			t.Errorf("%s: %v, %d bytes", c.name, err, len(got.Images[0].Data))
			continue
		}
		if c.image == noise {
			continue
		}
		at := m.Bounds().Min
		left, right := color.NRGBAModel.Convert(m.At(at.X, at.Y)).(color.NRGBA), color.NRGBAModel.Convert(m.At(m.Bounds().Max.X-1, at.Y)).(color.NRGBA)
		if left.R < 240 || left.B > 15 || right.B < 90 || right.R > left.R-100 && right.B < 240 {
			t.Errorf("%s: the colours are %v and %v", c.name, left, right)
		}
		if strings.HasPrefix(c.name, "small") && !bytes.Equal(got.Images[0].Data, data) {
			t.Errorf("%s: a small image is not as it is in the file", c.name)
		}
	}
	for name, text := range webps {
		data := must(base64.StdEncoding.DecodeString(text))
		if err := os.WriteFile(filepath.Join(ws, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
		res, err := call(t, must(NewReadTool(WithWorkingDirectory(ws))).Tool(), ReadInput{FilePath: name})
		if got, ok := res.(tools.Result); err != nil || !ok || !bytes.Equal(got.Images[0].Data, data) || got.Images[0].MediaType != "image/webp" || !strings.Contains(got.Text, "WEBP, 1×1 pixels") {
			t.Errorf("%s: %v, %v", name, got.Text, err)
		}
	}
	// Decision: a WebP is shown as it is, however many pixels it has, up to 5 MB.
	large := must(base64.StdEncoding.DecodeString(webps["extended"]))
	copy(large[24:30], "\x9f\x0f\x00\x9f\x0f\x00") // 4,000 × 4,000
	padded := append(bytes.Clone(large), make([]byte, maxImageBytes)...)
	if err := errors.Join(os.WriteFile(filepath.Join(ws, "large.webp"), large, 0o644), os.WriteFile(filepath.Join(ws, "heavy.webp"), padded, 0o644)); err != nil {
		t.Fatal(err)
	}
	tool := must(NewReadTool(WithWorkingDirectory(ws))).Tool()
	res, err := call(t, tool, ReadInput{FilePath: "large.webp"})
	if got, ok := res.(tools.Result); err != nil || !ok || !bytes.Equal(got.Images[0].Data, large) || !strings.Contains(got.Text, "4000×4000 pixels") {
		t.Errorf("%v, %v", res, err)
	}
	if res, err = call(t, tool, ReadInput{FilePath: "heavy.webp"}); err == nil || !strings.Contains(err.Error(), "convert it to PNG or JPEG") {
		t.Errorf("%v, %v", res, err)
	}
}

// F7
func TestReadBadImages(t *testing.T) {
	whole := encode(t, "x.png", picture(2000, 20))
	bomb := bytes.Clone(encode(t, "x.png", picture(2, 2)))
	copy(bomb[16:24], "\x00\x01\x86\xa0\x00\x01\x86\xa0") // 100,000 × 100,000
	ws := tree(t, map[string]string{
		"head.png": "\x89PNG\r\n\x1a\n", "cut.png": string(whole[:len(whole)/2]), "bomb.png": string(bomb), "cut.webp": "RIFF\x00\x00\x00\x00WEBPVP8 ", "odd.webp": "RIFF\x00\x00\x00\x00WEBPNOPE" + strings.Repeat("x", 20),
	})
	for _, name := range strings.Fields(names(t, ws)) {
		if res, err := call(t, must(NewReadTool(WithWorkingDirectory(ws))).Tool(), ReadInput{FilePath: name}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, %v", name, res, err)
		}
	}
}
