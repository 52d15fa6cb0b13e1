package bash

import (
	"maps"
	"os/exec"
	"strings"
	"testing"
)

// What bash exports, env and the parser tell alike (BASH-26).
func TestParseExports(t *testing.T) {
	t.Parallel()
	every := make([]byte, 0, 255)
	for b := 1; b < 256; b++ {
		every = append(every, byte(b))
	}
	for _, locale := range []string{"C", "C.UTF-8"} {
		for _, mode := range []string{"", "POSIXLY_CORRECT=1; "} {
			for _, value := range []string{
				"", "plain", "a b", `"`, `'`, `\`, `\\"`, "`id`", "$(id) ${x}", "\n", "two\nexport B=\"x\"\n", "\t\a\b\f\v\r\x1b[2J", "!x", "(", "([0]=x)",
				"日本 é", "\xff\xfe", "\x011", "\x7f\x80", string(every), strings.Repeat("long\n", 10_000),
			} {
				cmd := exec.Command("bash", "--noprofile", "--norc", "-c", mode+`
					unset V; V=$1; export V; export UNSET; declare -ax LIST=(1 $'2\n3'); declare -A MAP=([a=b]=$'x\n"y'); export MAP; declare -rix NUMBER=7
					export -p; printf '\0'; exec env -0`, "bash", value)
				cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=" + locale, "GIVEN=a\nb"}
				out, err := cmd.Output()
				if err != nil {
					t.Fatal(err)
				}
				printed, env, _ := strings.Cut(string(out), "\x00")
				want := map[string]string{}
				for entry := range strings.SplitSeq(strings.TrimSuffix(env, "\x00"), "\x00") {
					if name, v, _ := strings.Cut(entry, "="); name != "_" && name != "SHLVL" { // exec counts that down
						want[name] = v
					}
				}
				got, ok := parseExports(printed)
				delete(got, "_")
				delete(got, "SHLVL")
				if !ok || !maps.Equal(got, want) || got["V"] != value || got["NUMBER"] != "7" {
					t.Errorf("%s %q %.40q: %v %.100q, want %.100q", locale, mode, value, ok, got, want)
				}
			}
		}
	}
}

func TestParseExportsRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"A=1\n", "export A", `export A="1"`, "export A=\"1\n", "export A=$'1\n", `export A=$'1\`, "export A=\"1\" \nx", "export A=\"1\"\n\n", "exports A=\"1\"\n", "export ",
	} {
		if got, ok := parseExports(text); ok {
			t.Errorf("%q: %q", text, got)
		}
	}
}
