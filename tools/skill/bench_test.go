package skill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/phero-agent/agent/tools/skill"
)

// The catalogue is read before the first prompt of a session.
func BenchmarkNew200(b *testing.B) {
	root := b.TempDir()
	for i := range 200 {
		dir := filepath.Join(root, fmt.Sprintf("skill-%d", i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		text := fmt.Sprintf("---\nname: skill-%d\ndescription: Extracts text and tables from PDF files, fills forms and merges documents. Use when working with PDF.\nlicense: Apache-2.0\nmetadata:\n  author: someone\n  version: \"1.0\"\nallowed-tools: Read, Bash(go test *)\n---\n# Body\n", i)
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		tool, err := skill.New(root)
		if err != nil || len(tool.Skills()) != 200 {
			b.Fatal(err, len(tool.Skills()))
		}
	}
}
