package skill_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/skill"
)

// put writes files below a new directory and returns it.
func put(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(root, filepath.FromSlash(name)), text)
	}
	return root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func md(name, description, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n%s", name, description, body)
}

func newTool(t *testing.T, root string, opts ...skill.Option) *skill.Tool {
	t.Helper()
	tool, err := skill.New(root, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func load(t *testing.T, tool *skill.Tool, in skill.Input) (string, error) {
	t.Helper()
	arguments, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tool.Tool().Handle(t.Context(), string(arguments))
	return got.(string), err
}

func names(tool *skill.Tool) (names []string) {
	for _, s := range tool.Skills() {
		names = append(names, s.Name)
	}
	return names
}

// SKILL-01, SKILL-02, SKILL-04, SKILL-05
func TestLoad(t *testing.T) {
	root := put(t, map[string]string{
		"pdf/SKILL.md":  md("pdf-forms", "Fills <forms> & more.", "\n# PDF\n\nDo this.\n"),
		"docs/SKILL.md": md("docs", "Writes docs.", "Write."),
	})
	tool := newTool(t, root)
	if got := tool.Tool().Name(); got != "skill" {
		t.Errorf("name %q", got)
	}
	if d := cmp.Diff([]string{"command"}, tool.Tool().InputSchema()["required"]); d != "" {
		t.Error(d)
	}
	if want := "\n\n- docs: Writes docs.\n- pdf-forms: Fills &lt;forms&gt; &amp; more."; !strings.HasSuffix(tool.Tool().Description(), want) {
		t.Errorf("description %q", tool.Tool().Description())
	}
	want := "Skill: pdf-forms\nDirectory: " + filepath.Join(root, "pdf") + " (paths in the skill are relative to it)\n\n# PDF\n\nDo this."
	for _, command := range []string{"pdf-forms", "PDF-Forms", " pdf-forms\n"} {
		if got, err := load(t, tool, skill.Input{Command: command}); err != nil || got != want {
			t.Errorf("%q: %q, %v", command, got, err)
		}
	}
}

// SKILL-05, CORE-13, file-tool-cases K6
func TestUnknownSkills(t *testing.T) {
	root := put(t, map[string]string{"a/SKILL.md": md("alpha", "d", "b"), "b/SKILL.md": md("beta", "d", "b")})
	tool := newTool(t, root, skill.WithOnLoad(func(context.Context, skill.Skill) { t.Error("OnLoad was called") }))
	for _, command := range []string{"gamma", "a", "../../etc", "alpha/../beta", strings.Repeat("x", 1<<20)} {
		_, err := load(t, tool, skill.Input{Command: command})
		var missing *skill.NotFoundError
		if !errors.As(err, &missing) || missing.Command != command || !strings.Contains(err.Error(), "alpha, beta") || len(err.Error()) > 200 {
			t.Errorf("%.20q: %.300v", command, err)
		}
	}
	for _, command := range []string{"", " \n"} {
		if _, err := load(t, tool, skill.Input{Command: command}); !errors.Is(err, skill.ErrCommandRequired) {
			t.Errorf("%q: %v", command, err)
		}
	}
	if _, err := tool.Tool().Handle(t.Context(), "null"); !errors.Is(err, skill.ErrNilInput) {
		t.Errorf("null: %v", err)
	}
	var parse *tools.ArgumentParseError
	if _, err := tool.Tool().Handle(t.Context(), `{"command":`); !errors.As(err, &parse) {
		t.Errorf("cut JSON: %v", err)
	}
}

// SKILL-02, file-tool-cases K3: roots that are missing, empty or no directories.
func TestRootsThatHaveNoSkills(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "x")
	tool := newTool(t, "", skill.WithRoots(filepath.Join(dir, "missing"), dir, filepath.Join(dir, "file")))
	if len(tool.Skills()) != 0 || !strings.HasSuffix(tool.Tool().Description(), "No skills are installed.") {
		t.Errorf("skills %v, description %q", tool.Skills(), tool.Tool().Description())
	}
	skipped := tool.Skipped()
	if len(skipped) != 1 || skipped[0].Dir != filepath.Join(dir, "file") || skipped[0].Err == nil {
		t.Errorf("skipped %v", skipped)
	}
	if _, err := load(t, tool, skill.Input{Command: "x"}); err == nil || !strings.Contains(err.Error(), "no skills are installed") {
		t.Errorf("err = %v", err)
	}
}

// SKILL-03
func TestScan(t *testing.T) {
	elsewhere := put(t, map[string]string{"SKILL.md": md("linked", "d", "b")})
	root := put(t, map[string]string{
		"with/SKILL.md":        md("with", "d", "b"),
		"without/README.md":    "x",
		"file":                 "x",
		"deep/er/SKILL.md":     md("deep", "d", "b"),
		"SKILL.md":             md("root", "d", "b"),
		"lower/skill.markdown": md("lower", "d", "b"),
	})
	want := []string{"with"}
	if err := os.Symlink(elsewhere, filepath.Join(root, "linked")); err == nil {
		want = []string{"linked", "with"}
	}
	tool := newTool(t, root)
	if d := cmp.Diff(want, names(tool)); d != "" {
		t.Error(d)
	}
	if len(tool.Skipped()) != 0 {
		t.Errorf("skipped %v", tool.Skipped())
	}
}

// SKILL-08, SKILL-09, SKILL-10, file-tool-cases K2, K3
func TestNamesThatAreTaken(t *testing.T) {
	user := put(t, map[string]string{
		"a/SKILL.md":   md("x", "user", "b"),
		"b/SKILL.md":   md("X", "same root", "b"),
		"fmt/SKILL.md": md("format", "user", "b"),
	})
	project := put(t, map[string]string{
		"c/SKILL.md":   md("x", "project", "b"),
		"fmt/SKILL.md": md("other", "project", "b"),
		"own/SKILL.md": md("own", "project", "b"),
	})
	tool := newTool(t, user, skill.WithRoots(project))
	if d := cmp.Diff([]string{"x", "format", "own"}, names(tool)); d != "" {
		t.Error(d)
	}
	if got := tool.Skills()[0].Description; got != "user" {
		t.Errorf("x is the one of the %s", got)
	}
	want := []skill.DuplicateSkillNameError{
		{Name: "X", ExistingDir: filepath.Join(user, "a"), DuplicateDir: filepath.Join(user, "b")},
		{Name: "x", ExistingDir: filepath.Join(user, "a"), DuplicateDir: filepath.Join(project, "c")},
		{Name: "fmt", ExistingDir: filepath.Join(user, "fmt"), DuplicateDir: filepath.Join(project, "fmt")},
	}
	var got []skill.DuplicateSkillNameError
	for _, s := range tool.Skipped() {
		var duplicate *skill.DuplicateSkillNameError
		if !errors.As(s.Err, &duplicate) || duplicate.DuplicateDir != s.Dir || !strings.Contains(s.Err.Error(), duplicate.ExistingDir) {
			t.Errorf("skipped %v", s)
			continue
		}
		got = append(got, *duplicate)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// file-tool-cases K3: a skill that is reached by two ways is no clash.
func TestOneSkillByTwoWays(t *testing.T) {
	root := put(t, map[string]string{"a/SKILL.md": md("x", "d", "b")})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Skip("no symbolic links:", err)
	}
	tool := newTool(t, root, skill.WithRoots(root, link))
	if len(tool.Skills()) != 1 || len(tool.Skipped()) != 0 {
		t.Errorf("skills %v, skipped %v", names(tool), tool.Skipped())
	}
}

// SKILL-11
func TestOnLoad(t *testing.T) {
	root := put(t, map[string]string{"a/SKILL.md": "---\nname: x\ndescription: d\nallowed-tools: read, bash(go test *)\n---\nuse $ARGUMENTS"})
	type key struct{}
	var loaded []skill.Skill
	tool := newTool(t, root, skill.WithOnLoad(func(ctx context.Context, s skill.Skill) {
		if ctx.Value(key{}) != 1 {
			t.Error("OnLoad does not get the call's context")
		}
		loaded = append(loaded, s)
	}))
	if len(loaded) != 0 {
		t.Fatal("New called OnLoad")
	}
	ctx := context.WithValue(t.Context(), key{}, 1)
	for range 2 {
		if _, err := tool.Load(ctx, skill.Input{Command: "x", Arguments: "y"}); err != nil {
			t.Fatal(err)
		}
	}
	want := skill.Skill{Name: "x", Description: "d", AllowedTools: []string{"read", "bash(go test *)"}, RootPath: filepath.Join(root, "a"), Body: "use $ARGUMENTS"}
	if d := cmp.Diff([]skill.Skill{want, want}, loaded); d != "" {
		t.Error(d)
	}
	loaded[0].AllowedTools[0] = "write"
	if got := tool.Skills()[0].AllowedTools[0]; got != "read" {
		t.Errorf("the hook changed the catalogue: %q", got)
	}
}

// fake is a parser without a disk.
type fake struct {
	dirs   []string
	skills map[string]skill.Skill
	err    error
}

func (f fake) List() ([]string, error) { return f.dirs, f.err }

func (f fake) Parse(dir string) (*skill.Skill, error) {
	s, ok := f.skills[dir]
	if !ok {
		return nil, errors.New("gone")
	}
	return &s, nil
}

// SKILL-13
func TestWithParser(t *testing.T) {
	f := fake{dirs: []string{"one", "two", "three"}, skills: map[string]skill.Skill{
		"one": {Name: "first", Description: "does\nthis", Body: "body"},
		"two": {Name: "second"},
	}}
	tool := newTool(t, put(t, map[string]string{"a/SKILL.md": md("disk", "d", "b")}), skill.WithParser(f))
	if d := cmp.Diff([]string{"first"}, names(tool)); d != "" {
		t.Error(d)
	}
	if !strings.HasSuffix(tool.Tool().Description(), "\n- first: does this") {
		t.Errorf("description %q", tool.Tool().Description())
	}
	if got, err := load(t, tool, skill.Input{Command: "first"}); err != nil || got != "Skill: first\n\nbody" {
		t.Errorf("result %q, %v", got, err)
	}
	if s := tool.Skipped(); len(s) != 2 || s[0].Dir != "two" || !errors.Is(s[0].Err, skill.ErrSkillDescriptionRequired) || s[1].Dir != "three" || s[1].Err.Error() != "gone" {
		t.Errorf("skipped %v", s)
	}
	if _, err := skill.New("", skill.WithParser(fake{err: os.ErrPermission})); !errors.Is(err, os.ErrPermission) {
		t.Errorf("New = %v", err)
	}
}

// SKILL-14, SKILL-15, file-tool-cases K7
func TestArguments(t *testing.T) {
	tests := []struct{ body, arguments, want string }{
		{"run $ARGUMENTS now", "x y", "run x y now"},
		{"$ARGUMENTS, $ARGUMENTS", "x", "x, x"},
		{"run $ARGUMENTS now", "$ARGUMENTS `id` $1 $(id)", "run $ARGUMENTS `id` $1 $(id) now"},
		{"run $ARGUMENTS now", "", "run  now"},
		{"do it", "x", "do it\n\nARGUMENTS: x"},
		{"do it", " x\n", "do it\n\nARGUMENTS: x"},
		{"do it", "", "do it"},
		{"do it", " ", "do it"},
		{"$1 $@", "x", "$1 $@\n\nARGUMENTS: x"},
		{"do it", strings.Repeat("x", 1<<19), "do it\n\nARGUMENTS: " + strings.Repeat("x", 1<<19)},
	}
	for _, tt := range tests {
		tool := newTool(t, "", skill.WithParser(fake{[]string{"s"}, map[string]skill.Skill{"s": {Name: "s", Description: "d", Body: tt.body}}, nil}))
		got, err := load(t, tool, skill.Input{Command: "s", Arguments: tt.arguments})
		if _, body, _ := strings.Cut(got, "\n\n"); err != nil || body != tt.want {
			t.Errorf("%.50q with %.50q: %.100q, %v", tt.body, tt.arguments, body, err)
		}
	}

	// What they make together is bounded.
	many := strings.Repeat("$ARGUMENTS ", 10_000)
	tool := newTool(t, "", skill.WithParser(fake{[]string{"s"}, map[string]skill.Skill{"s": {Name: "s", Description: "d", Body: many}}, nil}),
		skill.WithOnLoad(func(context.Context, skill.Skill) { t.Error("OnLoad was called") }))
	if _, err := load(t, tool, skill.Input{Command: "s", Arguments: strings.Repeat("x", 1<<20)}); !errors.Is(err, skill.ErrArgumentsTooLong) {
		t.Errorf("err = %v", err)
	}
}

// SKILL-18
func TestBodyIsReadAfresh(t *testing.T) {
	root := put(t, map[string]string{
		"a/SKILL.md": "---\nname: x\ndescription: d\nallowed-tools: read\n---\nold",
		"b/SKILL.md": md("y", "d", "other"),
	})
	tool := newTool(t, root)
	if got, err := load(t, tool, skill.Input{Command: "x"}); err != nil || !strings.HasSuffix(got, "old") {
		t.Errorf("%q, %v", got, err)
	}

	// A skill that was written to since does not allow itself more.
	write(t, filepath.Join(root, "a", "SKILL.md"), "---\nname: z\ndescription: d\nallowed-tools: bash(rm *)\n---\nnew")
	got, err := load(t, tool, skill.Input{Command: "x"})
	if err != nil || !strings.HasSuffix(got, "new") || !strings.Contains(got, "Allowed tools: read\n") {
		t.Errorf("%q, %v", got, err)
	}
	if d := cmp.Diff([]string{"x", "y"}, names(tool)); d != "" {
		t.Error(d)
	}

	if err := os.RemoveAll(filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, tool, skill.Input{Command: "x"}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("a skill that is gone: %v", err)
	}
	if got, err := load(t, tool, skill.Input{Command: "y"}); err != nil || !strings.HasSuffix(got, "other") {
		t.Errorf("the other skill: %q, %v", got, err)
	}
}
