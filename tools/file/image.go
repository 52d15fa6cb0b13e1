package file

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"path/filepath"
	"strings"

	"github.com/phero-agent/agent/tools"
)

// Limits of an image that a model gets.
const (
	maxImageSide   = 1568     // pixels; larger ones are shrunk
	maxImageBytes  = 5 << 20  // of the encoded image
	maxImagePixels = 64 << 20 // that are decoded to be shrunk: 256 MB of memory
)

// imageType tells the media type of an image by its first bytes; "" is none.
func imageType(content []byte) string {
	switch {
	case bytes.HasPrefix(content, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(content, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(content, []byte("GIF87a")), bytes.HasPrefix(content, []byte("GIF89a")):
		return "image/gif"
	case len(content) >= 16 && bytes.HasPrefix(content, []byte("RIFF")) && string(content[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// Image makes the content of an image's file what a model gets, shrunk where it
// is too large, as the read tool does. The path is for messages.
func Image(ctx context.Context, path string, content []byte) (tools.Result, error) {
	kind := imageType(content)
	if kind == "" {
		return tools.Result{}, fmt.Errorf("%s is no PNG, JPEG, GIF or WebP image", path)
	}
	return imageResult(ctx, path, kind, content)
}

// imageResult makes an image a result, shrunk where it is too large. The text says
// what a model misses that sees no images.
func imageResult(ctx context.Context, path, kind string, content []byte) (tools.Result, error) {
	name := strings.ToUpper(strings.TrimPrefix(kind, "image/"))
	size, err := imageSize(kind, content)
	if err != nil {
		return tools.Result{}, fmt.Errorf("%s begins like a %s image but is none: %w", path, name, err)
	}
	text := fmt.Sprintf("Image %s: %s, %d×%d pixels, %d bytes", filepath.Base(path), name, size.X, size.Y, len(content))
	large := max(size.X, size.Y) > maxImageSide || len(content) > maxImageBytes
	switch {
	case large && kind != "image/webp":
		if size.X*size.Y > maxImagePixels {
			return tools.Result{}, fmt.Errorf("%s is too large to be shown: %d×%d pixels; make a smaller copy", path, size.X, size.Y)
		}
		var now image.Point
		content, kind, now, err = shrinkImage(ctx, kind, content)
		if ctx.Err() != nil {
			return tools.Result{}, ctx.Err()
		}
		if err != nil {
			return tools.Result{}, fmt.Errorf("%s is not a valid %s image: %w", path, name, err)
		}
		text += fmt.Sprintf(", shown at %d×%d", now.X, now.Y)
	case len(content) > maxImageBytes:
		return tools.Result{}, fmt.Errorf("%s is too large to be shown: %d bytes, the limit of WebP is %d; convert it to PNG or JPEG", path, len(content), maxImageBytes)
	}
	text += ". The image is attached; if you see none, you take no images."
	return tools.Result{Text: text, Images: []tools.Image{{MediaType: kind, Data: content}}}, nil
}

// imageSize reads width and height without decoding the image.
func imageSize(kind string, content []byte) (image.Point, error) {
	var c image.Config
	var err error
	switch r := bytes.NewReader(content); kind {
	case "image/png":
		c, err = png.DecodeConfig(r)
	case "image/jpeg":
		c, err = jpeg.DecodeConfig(r)
	case "image/gif":
		c, err = gif.DecodeConfig(r)
	default:
		return webpSize(content)
	}
	return image.Pt(c.Width, c.Height), err
}

// webpSize reads the size from the first chunk, of each of the three kinds.
func webpSize(content []byte) (image.Point, error) {
	if len(content) < 30 {
		return image.Point{}, errors.New("the file ends early")
	}
	body := content[20:]
	switch string(content[12:16]) {
	case "VP8 ":
		return image.Pt(int(binary.LittleEndian.Uint16(body[6:])&0x3fff), int(binary.LittleEndian.Uint16(body[8:])&0x3fff)), nil
	case "VP8L":
		bits := binary.LittleEndian.Uint32(body[1:])
		return image.Pt(int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1), nil
	case "VP8X":
		return image.Pt(uint24(body[4:])+1, uint24(body[7:])+1), nil
	}
	return image.Point{}, errors.New("its first chunk is unknown")
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// shrinkImage makes an image as small as models take it; of an animation it shows
// the first picture. A photo stays JPEG, all else becomes PNG, or JPEG where that
// would be too large. It fails when the context ends.
func shrinkImage(ctx context.Context, kind string, content []byte) ([]byte, string, image.Point, error) {
	var src image.Image
	var err error
	switch r := (&lasting{ctx: ctx, Reader: bytes.NewReader(content)}); kind {
	case "image/png":
		src, err = png.Decode(r)
	case "image/jpeg":
		src, err = jpeg.Decode(r)
	default:
		src, err = gif.Decode(r)
	}
	if err != nil {
		return nil, "", image.Point{}, err
	}
	for side := maxImageSide; ; side /= 2 {
		small := shrink(ctx, src, side)
		var out bytes.Buffer
		to := &lasting{ctx: ctx, Writer: &out}
		if kind != "image/jpeg" {
			if err := png.Encode(to, small); err != nil {
				return nil, "", image.Point{}, err
			}
			if out.Len() <= maxImageBytes {
				return out.Bytes(), "image/png", small.Bounds().Size(), nil
			}
			out.Reset()
		}
		if err := jpeg.Encode(to, onWhite(small), &jpeg.Options{Quality: 85}); err != nil {
			return nil, "", image.Point{}, err
		}
		if out.Len() <= maxImageBytes {
			return out.Bytes(), "image/jpeg", small.Bounds().Size(), nil
		}
	}
}

// lasting reads and writes as long as its context lasts.
type lasting struct {
	ctx context.Context
	io.Reader
	io.Writer
}

func (l *lasting) Read(p []byte) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	return l.Reader.Read(p)
}

func (l *lasting) Write(p []byte) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	return l.Writer.Write(p)
}

// shrink scales an image so that no side is longer than most pixels: each new pixel
// is the mean of those that it covers. When the context ends it is not finished.
func shrink(ctx context.Context, src image.Image, most int) *image.RGBA {
	from := image.NewRGBA(image.Rectangle{Max: src.Bounds().Size()})
	const strip = 64 // rows
	for y := 0; y < from.Rect.Dy() && ctx.Err() == nil; y += strip {
		draw.Draw(from, image.Rect(0, y, from.Rect.Dx(), y+strip), src, src.Bounds().Min.Add(image.Pt(0, y)), draw.Src)
	}
	w, h := from.Rect.Dx(), from.Rect.Dy()
	long := max(w, h)
	if long <= most {
		return from
	}
	to := image.NewRGBA(image.Rect(0, 0, max(w*most/long, 1), max(h*most/long, 1)))
	nw, nh := to.Rect.Dx(), to.Rect.Dy()
	for y := range nh {
		if ctx.Err() != nil {
			break
		}
		y0, y1 := y*h/nh, max((y+1)*h/nh, y*h/nh+1)
		for x := range nw {
			x0, x1 := x*w/nw, max((x+1)*w/nw, x*w/nw+1)
			var sum [4]int
			for sy := y0; sy < y1; sy++ {
				row := from.Pix[sy*from.Stride+4*x0 : sy*from.Stride+4*x1]
				for i, v := range row {
					sum[i&3] += int(v)
				}
			}
			n := (y1 - y0) * (x1 - x0)
			p := to.Pix[y*to.Stride+4*x:]
			for i := range sum {
				p[i] = uint8((sum[i] + n/2) / n)
			}
		}
	}
	return to
}

// onWhite puts a background below what is transparent, as JPEG has no transparency.
func onWhite(src *image.RGBA) image.Image {
	if src.Opaque() {
		return src
	}
	out := image.NewRGBA(src.Rect)
	draw.Draw(out, out.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, src, src.Rect.Min, draw.Over)
	return out
}
