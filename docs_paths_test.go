//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pathForm is a span that names a file or directory.
var pathForm = regexp.MustCompile(`^(~/|\.{0,2}/|\$[A-Z_]+/)?[\w.*<>-]+(/[\w.*<>-]*)*$`)

var fileEnd = regexp.MustCompile(`\.(go|md|json|jsonl|toml|txt|sh|txtar|screen|log)$`)

// theirs are paths that belong to nobody here: of systems, git, editors and examples.
var theirs = []string{"/tmp", "/run", "/bin/rm", "/v1", "../lib", "package.json", "node_modules", "pyproject.toml", "~/go/bin", "~/.local/bin", "ollama/qwen3:8b"}

// TestDocsPaths: every path that a document names is a file of this repository, one
// that the program makes, or one that it reads.
func TestDocsPaths(t *testing.T) {
	ours := append(programsPaths(t), readPaths(t)...)
	named := 0
	for _, doc := range documents(t) {
		for _, m := range span.FindAllStringSubmatch(prose(t, doc), -1) {
			path := m[1]
			slash := strings.Contains(strings.TrimPrefix(path, "/"), "/") && !strings.HasPrefix(path, "-")
			if !pathForm.MatchString(path) || !slash && !fileEnd.MatchString(path) {
				continue
			}
			named++
			if slices.Contains(ours, path) || slices.Contains(theirs, path) || strings.HasPrefix(path, ".git/") || inRepository(doc, path) {
				continue
			}
			t.Errorf("%s names %s, which no test knows", doc, path)
		}
	}
	if named < 60 {
		t.Errorf("%d paths were checked", named)
	}
}

// inRepository tells whether a path is in this repository, from its top or, by its
// name alone, in a directory that the same document names.
func inRepository(doc, path string) bool {
	for _, pattern := range []string{path, filepath.Join(filepath.Dir(doc), path), filepath.Join("app", path), filepath.Join("app/catalogue", path), filepath.Join("app/catalogue/generate", path)} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// programsPaths are the paths that documents name and the program makes, each seen
// after a run.
func programsPaths(t *testing.T) (paths []string) {
	t.Helper()
	base, home := t.TempDir(), t.TempDir()
	var out []byte
	for _, run := range []struct{ script, line string }{
		{"== one\n> write {\"file_path\":\"made\",\"content\":\"x\"}\n> bash {\"command\":\"true\"}\n== two\nDone.\n", "git init -q . && agent -p --debug --allow write --allow bash go"},
		{"== one\nRed, ok.\n> add {\"a\":1,\"b\":2}\n> add {\"a\":30,\"b\":40}\n== two\n3 and 70.\n", "agent doctor || test $? = 1"},
	} {
		m := serveModel(t, run.script)
		var err error
		out, err = withAgent(t, base, home, "OPENAI_BASE_URL="+m.URL+"/v1", "AGENT_MODEL=scripted", "OPENAI_API_KEY=sk-of-this-test")(run.line).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", run.line, err, out)
		}
	}
	made := map[string]string{
		".phero/": "", ".phero/blobs/": "", ".phero/sessions/<id>/log.jsonl": ".phero/sessions/*/log.jsonl",
		"~/.local/state/phero/agent.log": "", "$XDG_STATE_HOME/phero": "~/.local/state/phero", "$XDG_STATE_HOME/phero/servers": "~/.local/state/phero/servers",
	}
	if sandboxWorks() {
		made["~/.cache/phero"] = ""
	}
	for name, pattern := range made {
		if pattern == "" {
			pattern = name
		}
		if below, ok := strings.CutPrefix(pattern, "~/"); ok {
			pattern = filepath.Join(home, below)
		} else {
			pattern = filepath.Join(base, "ws", pattern)
		}
		if found, err := filepath.Glob(filepath.Clean(pattern)); err != nil || len(found) == 0 {
			t.Errorf("the program did not make %s: %s", name, out)
		}
		paths = append(paths, name)
	}
	return append(paths, "~/.cache/phero")
}

// readPaths are the paths that documents name and the program reads, each seen to count.
func readPaths(t *testing.T) (paths []string) {
	t.Helper()
	m := serveModel(t, "== one\nDone.\n== two\nDone.\n")
	base, home := t.TempDir(), t.TempDir()
	shell := withAgent(t, base, home, "OPENAI_BASE_URL="+m.URL+"/v1", "AGENT_MODEL=scripted")
	ws := filepath.Join(base, "ws")
	put := func(name, content string) {
		path := filepath.Join(ws, name)
		if below, ok := strings.CutPrefix(name, "~/"); ok {
			path = filepath.Join(home, below)
		}
		writeFile(t, path, []byte(content))
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(script string, want ...string) {
		t.Helper()
		out, err := shell(script).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", script, err, out)
		}
		for _, w := range want {
			if !strings.Contains(string(out), w) {
				t.Errorf("%s does not say %q: %s", script, w, out)
			}
		}
	}
	put("~/.config/phero/config.toml", "timeout = \"31m\"\n")
	put(".phero/config.toml", "[permissions]\ndeny = [\"bash(of-config *)\"]\n")
	put(".phero/local.toml", "[permissions]\ndeny = [\"bash(of-local *)\"]\n")
	put("~/.config/phero/keys", "OPENAI_API_KEY=sk-of-this-test\n")
	put(".mcp.json", `{"mcpServers":{"of-mcp-json":{"command":"true"}}}`)
	skills := []string{"~/.config/phero/skills", "~/.agents/skills", "~/.claude/skills", ".agents/skills", ".claude/skills"}
	commands := []string{"~/.config/phero/commands", "~/.claude/commands", ".phero/commands", ".claude/commands"}
	for i, dir := range skills {
		name := "skill-" + string(rune('a'+i))
		put(dir+"/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: One.\n---\nDo it.\n")
	}
	for i, dir := range commands {
		put(dir+"/command-"+string(rune('a'+i))+".md", "Do it.\n")
	}
	put("AGENTS.md", "Of AGENTS.md.\n")
	run(`git init -q . && agent trust --yes && agent config`, "31m", "bash(of-config *)", "bash(of-local *)", ".config/phero/config.toml:1", ".phero/config.toml:2", ".phero/local.toml:2")
	run(`agent mcp list`, "of-mcp-json", ".mcp.json")
	run(`agent doctor || true`, "9 skills and commands", "from OPENAI_API_KEY in the file of keys")
	instructions := []string{"~/.config/phero/AGENTS.md", "~/.claude/CLAUDE.md", "AGENTS.md", "CLAUDE.md"}
	for _, name := range instructions {
		put(name, "Of "+name+".\n")
		run(`agent -p go`)
		if !strings.Contains(m.told(), "Of "+name+".") {
			t.Errorf("the model is not told what %s says", name)
		}
		path := filepath.Join(ws, name)
		if below, ok := strings.CutPrefix(name, "~/"); ok {
			path = filepath.Join(home, below)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	paths = slices.Concat(paths, skills, commands, instructions)
	return append(paths, "~/.config/phero/config.toml", "$XDG_CONFIG_HOME/phero/config.toml", ".phero/config.toml", ".phero/local.toml",
		"~/.config/phero/keys", ".mcp.json", "SKILL.md")
}
