package syntax

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/phero-agent/agent/ui/text"
)

func TestLanguage(t *testing.T) {
	for file, want := range map[string]string{
		"main.go": "Go", "a/b/c.py": "Python", `c:\x\y.rs`: "Rust", "Makefile": "Makefile", "Dockerfile": "Docker", "x.TS": "TypeScript",
		"a.test.js": "JavaScript", "x.yml": "YAML", "go.mod": "", "README": "", "x.c": "C", "x.hpp": "C++", ".bashrc": "Bash", "a.json": "JSON",
		"Cargo.toml": "TOML", "index.html": "HTML", "q.sql": "SQL", "": "",
	} {
		if got := Language(file); got != want {
			t.Errorf("Language(%q) = %q, want %q", file, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	dark := Dark()
	lines := Lines("go", "package a\n\n// note\nfunc f(x string) int {\n\treturn len(x) + 0x1F // end\n}\n", &dark)
	want := []string{
		dark.Keyword.Render("package") + " a",
		"",
		dark.Comment.Render("// note"),
		dark.Keyword.Render("func") + " " + dark.Function.Render("f") + "(x " + dark.Type.Render("string") + ") " + dark.Type.Render("int") + " {",
		"    " + dark.Keyword.Render("return") + " " + dark.Builtin.Render("len") + "(x) " + dark.Operator.Render("+") + " " + dark.Number.Render("0x1F") + " " + dark.Comment.Render("// end"),
		"}",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

func TestNoColors(t *testing.T) {
	dark := Dark()
	for name, lines := range map[string][]string{
		"unknown language": Lines("klingon", "x", &dark),
		"no language":      Lines("", "x", &dark),
		"no theme":         Lines("go", "package a", &Theme{}),
		"many lines":       Lines("go", strings.Repeat("x\n", maxLines+1), &dark),
		"long":             Lines("go", strings.Repeat("x", maxBytes+1), &dark),
	} {
		if lines != nil {
			t.Errorf("%s: %d lines", name, len(lines))
		}
	}
}

// Every lexer works, by name, and never changes what the code says.
func TestAllLexers(t *testing.T) {
	dark := Dark()
	sample := "# x // y\nfunc main(a, b) { return \"str\\n\" + 'c' + 0x1f; }\n<a href=\"b\">é日本</a> /* z */ -- q\n\t$VAR `cmd` @attr #{i}\nend"
	lexers := known().registry.Lexers
	entries, err := os.ReadDir("lexers")
	if err != nil {
		t.Fatal(err)
	}
	if len(lexers) != len(entries) { // one more in Go, one file is the licence
		t.Errorf("%d lexers of %d files", len(lexers), len(entries))
	}
	colored := 0
	for _, l := range lexers {
		name := l.Config().Name
		lines := Lines(name, sample, &dark)
		if lines == nil {
			t.Logf("%s colours nothing of the sample", name)
			continue
		}
		colored++
		if got := text.Strip(strings.Join(lines, "\n")); got != text.Untab(sample) {
			t.Errorf("%s changes the code to %q", name, got)
		}
	}
	if colored < len(lexers)*9/10 {
		t.Errorf("only %d of %d lexers colour the sample", colored, len(lexers))
	}
}

// Names that models write behind the fence.
func TestAliases(t *testing.T) {
	for _, name := range []string{
		"go", "golang", "py", "python3", "js", "jsx", "ts", "tsx", "sh", "bash", "zsh", "shell", "console", "rust", "rs", "c", "cpp", "c++", "cs", "csharp",
		"java", "kotlin", "rb", "php", "yaml", "yml", "json", "toml", "ini", "html", "css", "scss", "sql", "dockerfile", "make", "makefile", "diff", "patch",
		"xml", "lua", "swift", "proto", "hcl", "terraform", "nix", "zig", "vim", "tex", "powershell", "graphql", "Go", "JSON", "jsonc",
	} {
		if find(name) == nil {
			t.Errorf("no lexer for %q", name)
		}
	}
}

// Decision 34: nothing of this is paid for at the start of a program.
func TestStart(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	main := filepath.Join(dir, "main.go")
	src := "package main\nimport _ \"github.com/phero-agent/agent/ui/md\"\nimport _ \"github.com/phero-agent/agent/ui/diff\"\nfunc main() {}\n"
	if err := os.WriteFile(main, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "start.exe")
	if out, err := exec.Command("go", "build", "-o", bin, main).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(bin)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	// Allocations do not depend on how busy the machine is, as time does.
	allocs := 0
	for _, m := range regexp.MustCompile(`init (\S+) @.* (\d+) allocs`).FindAllStringSubmatch(string(out), -1) {
		n, _ := strconv.Atoi(m[2])
		allocs += n
		if n > 2500 || strings.HasPrefix(m[1], "github.com/phero-agent/") && n > 20 {
			t.Errorf("%s makes %d allocations at start", m[1], n)
		}
	}
	if allocs == 0 || allocs > 5000 {
		t.Errorf("%d allocations at start\n%s", allocs, out)
	}
}

func BenchmarkLines(b *testing.B) {
	dark := Dark()
	code := strings.Repeat("\tif x, err := call(ctx, \"name\", 42); err != nil { // comment\n\t\treturn fmt.Errorf(\"call: %w\", err)\n\t}\n", 16)
	b.SetBytes(int64(len(code)))
	for b.Loop() {
		Lines("go", code, &dark)
	}
}
