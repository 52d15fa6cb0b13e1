package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/regular"
)

// Limits of the images of one prompt.
const (
	maxImages    = 10
	maxImageFile = 50 << 20 // bytes of a file, before it is shrunk
)

// prompt makes a person's text a message. Images that it names go along: those
// mentioned with an @, and those whose path was pasted. What cannot be attached is told.
func (a *App) prompt(ctx context.Context, text string) *session.Message {
	m := &session.Message{Role: session.RoleUser, Text: text}
	a.addResources(ctx, m)
	for _, named := range namedImages(text) {
		img, err := a.attach(ctx, named)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !named.mentioned:
			// a path that is no file here is text
		case err != nil:
			a.emit(Notice{Level: Warning, Text: fmt.Sprintf("the image %s is not attached: %v", named.path, err)})
		case len(m.Images) == maxImages:
			a.emit(Notice{Level: Warning, Text: fmt.Sprintf("only the first %d images are attached", maxImages)})
			return m
		default:
			m.Images = append(m.Images, img)
		}
	}
	if len(m.Images) > 0 {
		a.warnBlind(ctx)
	}
	return m
}

// warnBlind tells the person that the model will not see what they show it.
func (a *App) warnBlind(ctx context.Context) {
	p, err := a.provider(ctx)
	if err != nil {
		return // the turn ends with it
	}
	if info := p.Info(); info.Vision == No {
		a.emit(Notice{Level: Warning, Text: info.ID + " sees no images: it is only told that one is there. /model chooses one that does"})
	}
}

// attach keeps an image as a blob, shrunk as the read tool does.
func (a *App) attach(ctx context.Context, n namedImage) (session.Image, error) {
	content, err := readImage(a.find(n.path))
	if err != nil {
		return session.Image{}, err
	}
	result, err := file.Image(ctx, n.path, content)
	if err != nil {
		return session.Image{}, err
	}
	a.opened()
	img := result.Images[0]
	hash, err := a.blobs.Put(img.Data)
	return session.Image{MediaType: img.MediaType, Blob: hash}, err
}

func readImage(path string) ([]byte, error) {
	data, err := regular.Read(path, maxImageFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no such file (%w)", fs.ErrNotExist)
	case errors.Is(err, regular.ErrNotRegular):
		return nil, errors.New("it is no file")
	case errors.Is(err, regular.ErrTooLong):
		return nil, fmt.Errorf("it has more than %d MB", maxImageFile>>20)
	}
	return data, err
}

// find is the file of a path: as the popup writes it, from the workspace; else from where the person stands.
func (a *App) find(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	in := filepath.Join(a.opts.Workspace, path)
	if _, err := os.Stat(in); err != nil {
		return filepath.Join(a.opts.Dir, path)
	}
	return in
}

// namedImage is a path in a prompt that looks like an image's.
type namedImage struct {
	path      string
	mentioned bool // with an @
}

var imageNames = []string{".png", ".jpg", ".jpeg", ".gif", ".webp"}

// blanks part words. Others do not: macOS has a narrow one in the names of screenshots.
const blanks = " \t\r\n"

// longestPath is how far behind its beginning, in bytes, a path with bare blanks is looked for.
const longestPath = 500

// namedImages finds the paths of images in a text: @shot.png, @"my shot.png", and
// whole paths as terminals paste them when a file is dropped: plain, with bare
// blanks too, in quotes, with escapes, or as a URL. Of a whole path it is not
// known that it is one.
func namedImages(text string) (list []namedImage) {
	add := func(n namedImage) {
		whole := filepath.IsAbs(n.path) || strings.HasPrefix(n.path, "~/")
		if isImage(n.path) && (n.mentioned || whole) && !slices.ContainsFunc(list, func(o namedImage) bool { return o.path == n.path }) {
			list = append(list, n)
		}
	}
	for rest := text; rest != ""; {
		rest = strings.TrimLeft(rest, blanks)
		var n namedImage
		if rest, n.mentioned = strings.CutPrefix(rest, "@"); !n.mentioned {
			rest = strings.TrimLeft(rest, "([")
			add(namedImage{path: bareBlanks(rest)})
		}
		n.path, rest = pathWord(rest)
		n.path = strings.TrimRight(n.path, ".,;:!?)]")
		if u, err := url.Parse(n.path); err == nil && u.Scheme == "file" {
			n.path = u.Path
		}
		add(n)
	}
	return list
}

func isImage(path string) bool {
	return slices.Contains(imageNames, strings.ToLower(filepath.Ext(path)))
}

// bareBlanks is the path of an image that a text may begin with, blanks in it
// that nothing escapes, as some terminals paste it; "" where there is none.
func bareBlanks(s string) string {
	if !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "~/") {
		return ""
	}
	s, _, _ = strings.Cut(s[:min(len(s), longestPath)], "\n")
	for i := range len(s) + 1 {
		if (i == len(s) || strings.IndexByte(blanks, s[i]) >= 0) && isImage(s[:i]) && !strings.Contains(s[:i], `\`) {
			return s[:i]
		}
	}
	return ""
}

// pathWord cuts off a word as a shell reads it: quotes and backslashes keep blanks.
// A quote that does not end is part of the word, and so is a backslash before a
// letter or digit.
func pathWord(s string) (word, rest string) {
	if s != "" && (s[0] == '\'' || s[0] == '"') {
		if word, rest, ok := quoted(s); ok {
			return word, rest
		}
	}
	var b strings.Builder
	escaped := false
	for i, r := range s {
		switch {
		case escaped:
			escaped = false
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		case r == '\\':
			escaped = true
		case strings.ContainsRune(blanks, r):
			return b.String(), s[i:]
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), ""
}

// quoted cuts off a word in quotes. A shell's '\” is a quote in it.
func quoted(s string) (word, rest string, ok bool) {
	quote := s[:1]
	for rest = s[1:]; ; {
		part, behind, ok := strings.Cut(rest, quote)
		if !ok {
			return "", "", false
		}
		word, rest = word+part, behind
		if quote != "'" || !strings.HasPrefix(rest, `\''`) {
			return word, rest, true
		}
		word, rest = word+quote, rest[len(`\''`):]
	}
}
