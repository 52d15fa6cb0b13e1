package skill_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/phero-agent/agent/tools/skill"
)

// catalogue makes a tool of n skills with names and descriptions of the given lengths.
func catalogue(t testing.TB, n, nameLength, descriptionLength int) *skill.Tool {
	f := fake{skills: map[string]skill.Skill{}}
	for i := range n {
		name := fmt.Sprintf("%0*d", nameLength, i)
		f.dirs = append(f.dirs, name)
		f.skills[name] = skill.Skill{Name: name, Description: strings.Repeat("word ", descriptionLength/5)}
	}
	tool, err := skill.New("", skill.WithParser(f))
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// SKILL-04, SKILL-05, file-tool-cases K9: 2,000 tokens, at 4 bytes a token, are enough for 200 skills.
func TestCatalogueIsBounded(t *testing.T) {
	for _, tt := range []struct{ skills, name, description int }{
		{1, 10, 100_000}, {20, 20, 1000}, {200, 12, 300}, {200, 30, 1000}, {200, 64, 1000}, {2000, 64, 10},
	} {
		tool := catalogue(t, tt.skills, tt.name, tt.description)
		d := tool.Tool().Description()
		if len(d) > 8000 {
			t.Errorf("%v: %d bytes", tt, len(d))
		}
		listed := strings.Count(d, "\n- ")
		if listed != tt.skills && !strings.HasSuffix(d, fmt.Sprintf("And %d more: a call with any other command answers with all names.", tt.skills-listed)) {
			t.Errorf("%v: %d skills are listed and the end is %q", tt, listed, d[len(d)-100:])
		}
		if tt.skills*tt.name < 6000 && (listed != tt.skills || len(d) < 1000) {
			t.Errorf("%v: %d skills are listed in %d bytes", tt, listed, len(d))
		}
		if !utf8.ValidString(d) {
			t.Errorf("%v: a character was split", tt)
		}
		if _, err := load(t, tool, skill.Input{Command: tool.Skills()[tt.skills-1].Name}); err != nil {
			t.Errorf("%v: the last skill: %v", tt, err)
		}
	}
}

// SKILL-04: one long description does not shorten the others.
func TestShortDescriptionsStayWhole(t *testing.T) {
	f := fake{skills: map[string]skill.Skill{}}
	for i := range 100 {
		name := fmt.Sprintf("skill-%d", i)
		f.dirs = append(f.dirs, name)
		f.skills[name] = skill.Skill{Name: name, Description: "A short description."}
		if i%10 == 0 {
			f.skills[name] = skill.Skill{Name: name, Description: strings.Repeat("A long <description>. ", 50)}
		}
	}
	tool := newTool(t, "", skill.WithParser(f))
	d := tool.Tool().Description()
	if n := strings.Count(d, ": A short description.\n"); n < 89 {
		t.Errorf("%d of 90 short descriptions are whole", n)
	}
	if n := strings.Count(d, ": A long &lt;description&gt;. A long"); n != 10 || len(d) > 8000 {
		t.Errorf("%d of 10 long descriptions are there, %d bytes", n, len(d))
	}
}
