package permissions

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func benchmarkDecide(b *testing.B, line string, opts ...Option) {
	p := newPolicy(b, opts...)
	arguments := command(line)
	for b.Loop() {
		p.Decide("bash", arguments)
	}
}

// A plain command: the aim is 20 µs.
func BenchmarkPlain(b *testing.B) {
	benchmarkDecide(b, "go test ./...", WithAllow("bash(go test *)"))
}

func BenchmarkPlainUnwrapped(b *testing.B) {
	benchmarkDecide(b, "go test ./...", append(manyRules(), WithUnwrap())...)
}

// A pipeline of 2 kB with 200 rules: the aim is 500 µs.
func BenchmarkPipeline(b *testing.B) { benchmarkDecide(b, pipeline(), manyRules()...) }

func BenchmarkPipelineUnwrapped(b *testing.B) {
	benchmarkDecide(b, pipeline(), append(manyRules(), WithUnwrap())...)
}

func pipeline() string {
	var b strings.Builder
	for i := 0; b.Len() < 2000; i++ {
		fmt.Fprintf(&b, "tool%d run 'a b' x%d | ", i, i)
	}
	return b.String() + "wc -l"
}

// manyRules is 200 rules, some of which every command must be compared with.
func manyRules() []Option {
	var allow, ask, deny []string
	for i := range 100 {
		allow = append(allow, fmt.Sprintf("bash(tool%d run *)", i))
	}
	for i := range 50 {
		ask = append(ask, fmt.Sprintf("bash(tool%d push *)", i))
		deny = append(deny, fmt.Sprintf("bash(*--danger%d*)", i))
	}
	return []Option{WithAllow(allow...), WithAsk(ask...), WithDeny(deny...)}
}

// The whole table of cases: the aim is 2 s.
func BenchmarkCases(b *testing.B) {
	root := b.TempDir()
	var policies []*Policy
	var tools, arguments []string
	for i, c := range loadCases(b) {
		p, a := c.policy(b, filepath.Join(root, fmt.Sprint(i)))
		policies, tools, arguments = append(policies, p), append(tools, c.Tool), append(arguments, a)
	}
	for b.Loop() {
		for i, p := range policies {
			p.Decide(tools[i], arguments[i])
		}
	}
}

func BenchmarkPath(b *testing.B) {
	dir := b.TempDir()
	var rules []string
	for i := range 50 {
		rules = append(rules, fmt.Sprintf("read(%s/d%d/*)", dir, i))
	}
	p := newPolicy(b, WithWorkingDir(dir), WithAllow("read("+dir+"/*)"), WithDeny(rules...))
	for b.Loop() {
		p.Decide("read", args("file_path", "src/a.go"))
	}
}
