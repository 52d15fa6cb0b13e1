package file

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// fileTypes lists the endings and whole names of each type of file.
var fileTypes = sync.OnceValue(func() map[string][]string {
	types := map[string][]string{
		"c":         {".c", ".h"},
		"cpp":       {".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl"},
		"cs":        {".cs"},
		"css":       {".css", ".scss", ".sass", ".less"},
		"csv":       {".csv", ".tsv"},
		"dart":      {".dart"},
		"docker":    {"Dockerfile", "Containerfile", ".dockerfile"},
		"elixir":    {".ex", ".exs"},
		"go":        {".go"},
		"haskell":   {".hs", ".lhs"},
		"html":      {".html", ".htm", ".xhtml"},
		"java":      {".java"},
		"js":        {".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"},
		"json":      {".json", ".jsonc", ".jsonl"},
		"kotlin":    {".kt", ".kts"},
		"lua":       {".lua"},
		"make":      {"Makefile", "makefile", "GNUmakefile", ".mk", ".mak"},
		"markdown":  {".md", ".markdown", ".mdx"},
		"perl":      {".pl", ".pm", ".t"},
		"php":       {".php", ".phtml"},
		"proto":     {".proto"},
		"py":        {".py", ".pyi", ".pyw"},
		"r":         {".r", ".R", ".Rmd"},
		"ruby":      {".rb", ".rake", ".gemspec", "Gemfile", "Rakefile"},
		"rust":      {".rs"},
		"scala":     {".scala", ".sbt"},
		"sh":        {".sh", ".bash", ".zsh", ".ksh", ".bashrc", ".zshrc", ".profile"},
		"sql":       {".sql"},
		"swift":     {".swift"},
		"terraform": {".tf", ".tfvars", ".hcl"},
		"toml":      {".toml"},
		"ts":        {".ts", ".tsx", ".mts", ".cts"},
		"txt":       {".txt"},
		"xml":       {".xml", ".xsd", ".xsl", ".svg"},
		"yaml":      {".yaml", ".yml"},
		"zig":       {".zig"},
	}
	for alias, name := range map[string]string{
		"c++": "cpp", "csharp": "cs", "dockerfile": "docker", "golang": "go", "javascript": "js", "jsx": "js",
		"kt": "kotlin", "md": "markdown", "python": "py", "rb": "ruby", "rs": "rust", "bash": "sh", "shell": "sh",
		"tf": "terraform", "tsx": "ts", "typescript": "ts", "text": "txt", "yml": "yaml", "hs": "haskell", "ex": "elixir",
	} {
		types[alias] = types[name]
	}
	return types
})

// typeFilter returns what tells by its name whether a file is of a type; "" is every type.
func typeFilter(typ string) (func(name string) bool, error) {
	if typ == "" {
		return func(string) bool { return true }, nil
	}
	endings, ok := fileTypes()[strings.ToLower(typ)]
	if !ok {
		return nil, fmt.Errorf("type %q is not known; use glob, or one of %s", typ, strings.Join(slices.Sorted(maps.Keys(fileTypes())), ", "))
	}
	return func(name string) bool {
		return slices.Contains(endings, filepath.Ext(name)) || slices.Contains(endings, name)
	}, nil
}
