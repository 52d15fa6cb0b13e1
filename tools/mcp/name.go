package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the longest name of a tool that every model server takes.
const maxName = 64

// Name is the name by which the model and rules know a server's tool:
// mcp_<server>_<tool>. Characters that no name can have become _; a name that is
// too long is shortened, with a hash of the whole (decision 40).
func Name(server, tool string) string {
	name := "mcp_" + server + "_" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, tool)
	if len(name) > maxName {
		return hashed(name, server, tool)
	}
	return name
}

// hashed ends a name with a hash of what it stands for.
func hashed(name, server, tool string) string {
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	end := "_" + hex.EncodeToString(sum[:4])
	return name[:min(len(name), maxName-len(end))] + end
}
