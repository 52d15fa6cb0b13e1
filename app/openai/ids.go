package openai

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"github.com/phero-agent/agent/tools"
)

// The lengths of ids that servers take.
const (
	portableIDLength = 40 // OpenAI
	nineIDLength     = 9  // Mistral
	nameLength       = 64 // of a tool
)

// wireID is the id of a call for a server. It depends on nothing else, so that a
// call keeps its id from request to request, and results find theirs.
func wireID(call *tools.ToolCall, own bool, rule CallID) string {
	id := call.ID
	if own && call.WireID != "" {
		id = call.WireID
	}
	switch {
	case rule == CallIDNine:
		if len(id) == nineIDLength && isPortable(id, "") {
			return id
		}
		return hash(call.ID)[:nineIDLength]
	case own && rule == CallIDAny && id != "":
		return id
	case len(id) <= portableIDLength && isPortable(id, "_-"):
		return id
	}
	return "call_" + hash(call.ID)[:24]
}

// hash makes letters and digits of an id.
func hash(id string) string {
	sum := sha256.Sum256([]byte(id))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))
}

// isPortable tells whether s is letters and digits and the others, and not empty.
func isPortable(s, others string) bool {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(others, r)) {
			return false
		}
	}
	return s != ""
}

// portableName is a tool's name that every server takes; models make up others.
func portableName(name string) string {
	if len(name) <= nameLength && isPortable(name, "_-") {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		if b.Len() == nameLength {
			break
		}
		if !isPortable(string(r), "_-") {
			r = '_'
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "unnamed"
	}
	return b.String()
}
