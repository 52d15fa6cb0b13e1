package permissions

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type permissionCase struct {
	ID               string
	Allow, Ask, Deny []string
	Default          string
	Tool             string
	Arguments        string
	Gen              *struct {
		Key, Prefix, Unit, Middle, Close, Suffix string
		Count                                    int
	} `json:"arguments_gen"`
	Workdir string
	Files   []struct {
		Path, Content string
		Symlink       string `json:"symlink_to"`
	}
	WithSubject map[string]string `json:"with_subject"`
	Expect      string
	Reason      string
	Accept      []string
	Why, Note   string
}

// Here decision 3, that these builtins set variables, wins over the case's
// reason: the line is opaque, not merely without a rule.
var opaqueByDecision = map[string]bool{
	"declare-026":     true, // unset
	"time-coproc-011": true, // coproc
}

// TestCases decides every case of testdata/permissions.json.
func TestCases(t *testing.T) {
	for _, c := range loadCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			root := t.TempDir()
			root, err := filepath.EvalSymlinks(root)
			if err != nil {
				t.Fatal(err)
			}
			c.run(t, root)
		})
	}
}

// TestUnwrapIsStricter: in no case does WithUnwrap let more run.
func TestUnwrapIsStricter(t *testing.T) {
	for _, c := range loadCases(t) {
		if c.Tool != "bash" || c.Gen != nil {
			continue
		}
		root := t.TempDir()
		plain, arguments := c.policy(t, root)
		unwrapping, _ := c.policy(t, root, WithUnwrap())
		before, after := plain.Decide("bash", arguments), unwrapping.Decide("bash", arguments)
		if worse(before, after) != after {
			t.Errorf("%s: %v, unwrapped %v", c.ID, before, after)
		}
	}
}

func loadCases(tb testing.TB) []permissionCase {
	data, err := os.ReadFile("testdata/permissions.json")
	if err != nil {
		tb.Fatal(err)
	}
	var cases []permissionCase
	if err := json.Unmarshal(data, &cases); err != nil {
		tb.Fatal(err)
	}
	if len(cases) != 607 {
		tb.Fatalf("%d cases", len(cases))
	}
	return cases
}

func (c permissionCase) run(t *testing.T, root string) {
	if _, err := os.Stat("/proc/self/root"); err != nil && strings.Contains(c.Arguments, "/proc/self/root") {
		t.Skip("there is no /proc here")
	}
	policy, arguments := c.policy(t, root)
	trace := policy.Explain(c.Tool, arguments)
	got := trace.Decision.String()
	accept := c.Accept
	if len(accept) == 0 {
		accept = []string{c.Expect}
	}
	if !slices.Contains(accept, got) {
		t.Errorf("got %s, want %v\n%.300s\nwhy: %s\n%s", got, accept, arguments, c.Why, shown(trace))
	}
	if c.Reason != "" && got == c.Expect && trace.Reason != nil {
		want := c.Reason
		if opaqueByDecision[c.ID] {
			want = "opaque"
		}
		if r := trace.Reason.String(); r != want {
			t.Errorf("reason %s, want %s\n%.300s\n%s", r, want, arguments, shown(trace))
		}
	}
	for _, f := range c.Files {
		if f.Symlink == "" {
			data, err := os.ReadFile(c.path(f.Path, root))
			if err != nil || string(data) != f.Content {
				t.Errorf("%s was touched: %q, %v", f.Path, data, err)
			}
		}
	}
}

func (c permissionCase) policy(t testing.TB, root string, more ...Option) (*Policy, string) {
	fill := strings.NewReplacer("{{R}}", root, "{{W}}", root+"/repo", "{{H}}", root+"/home").Replace
	for _, dir := range []string{"/repo", "/home"} {
		if err := os.MkdirAll(root+dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if s, ok := t.(interface{ Setenv(k, v string) }); ok {
		s.Setenv("HOME", root+"/home")
	}
	c.makeFiles(t, root, fill)
	rules := func(texts []string) []string {
		var out []string
		for _, text := range texts {
			out = append(out, fill(text))
		}
		return out
	}
	opts := []Option{WithAllow(rules(c.Allow)...), WithAsk(rules(c.Ask)...), WithDeny(rules(c.Deny)...),
		WithWorkingDir(fill(c.Workdir)),
		WithDefault(map[string]Decision{"ask": Ask, "allow": Allow, "deny": Deny}[c.Default])}
	for tool, argument := range c.WithSubject {
		opts = append(opts, WithSubject(tool, argument))
	}
	policy, err := New(append(opts, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return policy, fill(c.arguments(t))
}

func (c permissionCase) path(path, root string) string {
	path = strings.NewReplacer("{{R}}", root, "{{W}}", root+"/repo", "{{H}}", root+"/home").Replace(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, "repo", path)
	}
	return path
}

func (c permissionCase) makeFiles(t testing.TB, root string, fill func(string) string) {
	for _, f := range c.Files {
		path := c.path(f.Path, root)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if f.Symlink != "" {
			err = os.Symlink(fill(f.Symlink), path)
		} else {
			err = os.WriteFile(path, []byte(f.Content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (c permissionCase) arguments(t testing.TB) string {
	g := c.Gen
	if g == nil {
		return c.Arguments
	}
	text := g.Prefix + strings.Repeat(g.Unit, g.Count) + g.Middle + strings.Repeat(g.Close, g.Count) + g.Suffix
	data, err := json.Marshal(map[string]string{g.Key: text})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func shown(t Trace) string {
	data, _ := json.Marshal(t)
	return string(data[:min(len(data), 900)])
}
