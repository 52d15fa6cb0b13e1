package file

import (
	"bytes"
	"fmt"

	"github.com/phero-agent/agent/tools"
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

func imageResult(path, kind string, content []byte) (tools.Result, error) {
	return tools.Result{Text: fmt.Sprintf("%s: %s", path, kind), Images: []tools.Image{{MediaType: kind, Data: content}}}, nil
}
