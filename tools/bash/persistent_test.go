package bash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// step is a command and what it must print.
type step struct{ command, want string }

func play(t *testing.T, b *Tool, steps []step) {
	t.Helper()
	for _, s := range steps {
		if out := run(t, b, s.command); s.want != "*" && out.Output != s.want {
			t.Errorf("%q: %q, want %q", s.command, out.Output, s.want)
		}
	}
}

func TestPersistentShell(t *testing.T) { // BASH-25, BASH-26, BASH-27, BASH-28, D
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		for _, sub := range []string{"sub", "a dir with 'quotes' and \n newline", "-", "-x", "trailing\n"} {
			if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		sub := filepath.Join(dir, "sub") + "\n"
		here := dir + "\n"
		none := "(no output)"
		long := strings.Repeat("v", 100_000)
		for name, steps := range map[string][]step{
			"cd":                {{"cd sub", none}, {"pwd", sub}, {"cd -", here}, {"pwd", here}},                                 // D1
			"failing":           {{"cd sub; false", "exit code: 1"}, {"pwd", sub}},                                               // D2
			"cd && false":       {{"cd sub && false", "exit code: 1"}, {"pwd", sub}},                                             // BASH-28
			"exit 0":            {{"cd sub; export A=1; exit 0", none}, {"pwd; echo $A", here + "\n"}},                           // D3
			"exit 3":            {{"cd sub; exit 3", "exit code: 3"}, {"pwd", here}},                                             // D3
			"set -e":            {{"set -e; cd sub; false", "exit code: 1"}, {"pwd; false; echo on", here + "on\n"}},             // D3, D13
			"killed":            {{"cd sub; kill -9 $$", "*"}, {"pwd", here}},                                                    // D3
			"exec":              {{"cd sub; exec true", none}, {"pwd", here}, {"cd sub && exec bash -c :", none}, {"pwd", here}}, // D3
			"above":             {{"cd ..", none}, {"pwd", filepath.Dir(dir) + "\n"}},                                            // D17: allowed; in the sandbox it is an empty directory
			"subshell":          {{"(cd sub; export A=1)", none}, {"pwd; echo $A", here + "\n"}},                                 // D4
			"async":             {{"cd sub &", none}, {"pwd", here}},                                                             // D5
			"export":            {{"export A=1; B=2", none}, {"echo $A $B", "1\n"}},                                              // D7
			"unset":             {{"export A=1", none}, {"unset A", none}, {"echo ${A-unset}", "unset\n"}},                       // D8
			"unset inherited":   {{"unset HOME GIVEN", none}, {"echo ${HOME-no} ${GIVEN-no}", "no no\n"}, {"export GIVEN=again", none}, {"echo $GIVEN", "again\n"}},
			"unset and restore": {{"unset GIVEN", none}, {"export GIVEN=given", none}, {"echo $GIVEN", "given\n"}},
			"values": { // D9
				{`export A=$'l1\nl2\n' B='a"b'"'"'c' C='$(touch x)' D='` + "`id`" + `' E=$'\x1b[2J' F= G='!x \'`, none},
				{`printf '%s|' "$A" "$B" "$C" "$D" "$E" "$F" "$G"; ls x`, "l1\nl2\n|a\"b'c|$(touch x)|`id`|\x1b[2J||!x \\|ls: cannot access 'x': No such file or directory\nexit code: 2"},
			},
			"long value": {{"export A=" + long, none}, {"echo ${#A}", "100000\n"}},                                               // D9
			"not UTF-8":  {{`export A=$'\xff\xfe'`, none}, {`printf %s "$A" | od -An -tx1`, " ff fe\n"}},                         // D10
			"read-only":  {{"readonly R=1; export R", none}, {"echo $R; R=2; echo $R", "1\n2\n"}},                                // D11: the value carries, the attribute does not
			"functions":  {{"f() { echo hi; }; export -f f", none}, {"f", "bash: line 1: f: command not found\nexit code: 127"}}, // D12
			"settings": { // D13, BASH-27
				{"alias ll=ls; shopt -s extglob; trap 'echo bye' EXIT; umask 077; ulimit -n 50", "bye\n"},
				{"umask; [[ $(ulimit -n) != 50 ]] && echo fine; shopt -q extglob || echo off", "0022\nfine\noff\n"},
			},
			"missing":     {{"cd /nonexistent", "bash: line 1: cd: /nonexistent: No such file or directory\nexit code: 1"}, {"pwd", here}},                                                                                     // D15
			"odd names":   {{"cd \"a dir with 'quotes' and \n newline\"", none}, {"pwd", dir + "/a dir with 'quotes' and \n newline\n"}, {"cd ../-", none}, {"pwd", dir + "/-\n"}, {"cd ../-x", none}, {"pwd", dir + "/-x\n"}}, // D16
			"newline end": {{"cd trailing$'\\n'", none}, {"pwd", dir + "/trailing\n\n"}},
			"forged PWD":  {{"export PWD=/evil OLDPWD=/x SHLVL=9", none}, {"pwd; ((SHLVL < 9)) && echo small", here + "small\n"}},                                                                   // D19
			"startup":     {{"export BASH_ENV=/tmp/evil ENV=/tmp/evil PS4='$(id)' IFS=x PROMPT_COMMAND=id", none}, {"env | grep -cE '^(BASH_ENV|ENV|PS4|IFS|PROMPT_COMMAND)='", "0\nexit code: 1"}}, // B10
			"empty":       {{"export EMPTY=", none}, {"echo ${EMPTY-unset}", "\n"}},
		} {
			b := make(WithPersistentShell(), WithEnv("GIVEN=given"))
			t.Run(name, func(t *testing.T) {
				play(t, b, steps)
			})
			if name == "startup" || name == "cd" {
				play(t, make(WithPersistentShell()), []step{{"pwd", here}}) // D25: a new tool starts anew
			}
		}
		b := make(WithPersistentShell())
		if one, two := run(t, b, "echo $$ $BASHPID").Output, run(t, b, "echo $$ $BASHPID").Output; strings.HasSuffix(t.Name(), "local") && one == two { // BASH-27
			t.Errorf("one process: %s%s", one, two)
		}
	})
}

func TestPersistentShellOfTimeoutAndBackground(t *testing.T) { // BASH-28, D5, D6
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		b := make(WithPersistentShell(), WithTimeout(time.Second))
		if out := run(t, b, "cd sub; export A=1; sleep "+mark()); !out.TimedOut {
			t.Errorf("%+v", out)
		}
		id := background(t, b, "cd sub; export A=1; pwd")
		if out, _ := readToEnd(t, b, id); out != filepath.Join(dir, "sub")+"\n" {
			t.Errorf("%q", out)
		}
		play(t, b, []step{{"pwd; echo $A", dir + "\n\n"}})
		play(t, b, []step{{"cd sub; export A=2", "(no output)"}})
		id = background(t, b, "pwd; echo $A") // it begins with the state
		if out, _ := readToEnd(t, b, id); out != filepath.Join(dir, "sub")+"\n2\n" {
			t.Errorf("%q", out)
		}
	})
}

func TestFreshShell(t *testing.T) { // BASH-29
	t.Parallel()
	dir := workspace(t)
	b := newTool(t, WithWorkingDirectory(dir))
	play(t, b, []step{{"mkdir sub; cd sub; export A=1", "(no output)"}, {"pwd; echo $A", dir + "\n\n"}})
}

func TestCarriedDirectoryIsGone(t *testing.T) { // BASH-31, D14
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		b := make(WithPersistentShell())
		run(t, b, "mkdir d; cd d")
		if err := os.Remove(filepath.Join(dir, "d")); err != nil {
			t.Fatal(err)
		}
		play(t, b, []step{
			{"pwd", "[the directory " + dir + "/d cannot be entered any more: this ran in " + dir + "]\n" + dir + "\n"},
			{"pwd", dir + "\n"},
			{"mkdir e; cd e; rm -rf ../e; export A=1", "(no output)"},
			{"pwd", dir + "\n"},
		})
	})
}

func TestSymlinkedWorkingDirectory(t *testing.T) { // SBX-22
	t.Parallel()
	real := workspace(t)
	link := filepath.Join(workspace(t), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	for _, runner := range []Runner{LocalRunner{}, sandbox(t, link)} {
		b := newTool(t, WithWorkingDirectory(link), WithPersistentShell(), WithRunner(runner))
		play(t, b, []step{{"mkdir -p sub; cd sub", "(no output)"}, {"pwd", link + "/sub\n"}, {"touch " + link + "/a " + real + "/b", "(no output)"}})
	}
	if !exists(filepath.Join(real, "a")) || !exists(filepath.Join(real, "b")) {
		t.Error("the files are not in the workspace")
	}
}

// What the wrapper does is not seen, and cannot be turned (BASH-30, D20 to D24).
func TestWrapperIsInvisible(t *testing.T) {
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		sub, here := filepath.Join(dir, "sub")+"\n", dir+"\n"
		for _, tt := range []struct{ command, want, then string }{
			{"cd sub; false # c", "exit code: 1", sub},
			{"cd sub; cat <<E\nx\nE", "x\n", sub},
			{"cd sub; cat <<E\nx", "bash: line 2: warning: here-document at line 1 delimited by end-of-file (wanted `E')\nx\n", sub},
			{"cd sub; (exit 4)", "exit code: 4", sub},
			{"cd sub; printf x", "x", sub},
			{"echo hi \\", "hi \\\n", here}, // D20: as bash -c reads it
			{"cd sub; echo \"x", "*", here}, // D21
			{"cd sub; (", "*", here},
			{"cd sub; }", "*", here},
			{"cd sub; if true; then", "*", here},
			{"cd sub; 'x", "*", here},
			{"cd sub; $(", "*", here},
			{"cd sub\npwd() { echo /evil; }; export() { :; }; builtin() { :; }; command() { :; }; exec() { :; }; cd() { :; }; printf() { :; }; env() { :; }; set() { :; }", "(no output)", sub}, // D22
			{"cd sub\nshopt -s expand_aliases; alias pwd='echo /evil' exec=: exit=:", "(no output)", sub},
			{"cd sub; trap 'echo x' EXIT", "x\n", sub}, // D23
			{"cd sub; trap - EXIT", "(no output)", sub},
			{"cd sub; trap 'echo e' ERR; false", "e\nexit code: 1", sub},
			{"cd sub; exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&-", "(no output)", sub},
			{"cd sub; exec >/dev/null; echo x", "(no output)", sub},
			{"cd sub; exec 2>&1", "(no output)", sub},
			{"cd sub; set -n; echo x", "(no output)", here},
			{"cd sub; set -u", "(no output)", sub},
			{"cd sub; readonly __rc=5 POSIXLY_CORRECT; false", "exit code: 1", here},
			{"cd sub; return 3; echo after", "bash: line 1: return: can only `return' from a function or sourced script\nafter\n", sub},
			{"cd sub; unset PATH", "(no output)", sub},
			{"cd sub; set -o posix", "(no output)", sub},
			{"cd sub; set -x; true", "+++ true\n", sub},
			{"cd sub; set -v", "(no output)", sub},
			{"cd sub; set -a; X=1", "(no output)", sub},
			{"cd sub; set -f -C", "(no output)", sub},
			{"cd sub; IFS=/", "(no output)", sub},
		} {
			b := make(WithPersistentShell())
			got := run(t, b, tt.command)
			if tt.want != "*" && got.Output != tt.want {
				t.Errorf("%q: %q, want %q", tt.command, got.Output, tt.want)
			}
			if tt.want == "*" && (got.ExitCode != 2 || !strings.Contains(got.Output, "syntax error") && !strings.Contains(got.Output, "unexpected EOF")) {
				t.Errorf("%q: %q", tt.command, got.Output)
			}
			for _, leak := range []string{"8<&-", "POSIXLY_CORRECT=1", "_nonce", "noprofile"} {
				if strings.Contains(got.Output, leak) {
					t.Errorf("%q shows the wrapper: %q", tt.command, got.Output)
				}
			}
			if then := run(t, b, "pwd; set -o | grep -c nothing").Output; !strings.HasPrefix(then, tt.then) {
				t.Errorf("%q, then in %q, want %q", tt.command, then, tt.then)
			}
		}
	})
}

// A command that writes into the state's descriptor changes nothing but its own state (D24).
func TestStateCannotBeForged(t *testing.T) {
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		for _, attack := range []string{
			`printf 'PATH=/evil\0A=evil\0' >&9`,
			`for fd in {3..30}; do printf 'PATH=/evil\0A=evil\0' >&$fd; done`,
			`printf '%s\0/evil\n\0export A="evil"\n\0%s' x x >&10`,
			`export() { printf 'export A="evil"\n'; }`,
			`cat <&10; cat <&11; cat /proc/$$/fd/8`,
			`echo "$BASH_EXECUTION_STRING" "$BASH_COMMAND" "$@" >&10; set >&10`,
			`tr '\0' '\n' </proc/$$/cmdline >&10`,
			`yes >&10 & yes >&11 & true`,
			`head -c 20000000 /dev/zero >&10`,
		} {
			b := make(WithPersistentShell(), WithEnv("A=good"))
			run(t, b, "{ "+attack+"\n} >/dev/null 2>&1")
			if out := run(t, b, `echo "$A"; [[ $PATH == /evil ]] && echo forged; pwd`).Output; out != "good\n"+dir+"\n" {
				t.Errorf("%s: %q", attack, out)
			}
		}
	})
}

func TestWhereTheNonceIs(t *testing.T) { // D24: not where a command could read it
	t.Parallel()
	b := newTool(t, WithPersistentShell())
	out := run(t, b, `set; declare -p; declare -f; echo "$BASH_EXECUTION_STRING"; cat /proc/$$/cmdline /proc/$$/environ; trap; alias`)
	if strings.Contains(out.Output, "POSIXLY_CORRECT=1") || !strings.Contains(out.Output, "BASH_VERSINFO") {
		t.Errorf("%s", out.Output)
	}
}

// The sandbox's own process must never see what a command exported.
func TestExportsStayInTheSandbox(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	r := &recorder{Runner: sandbox(t, dir)}
	b := newTool(t, WithWorkingDirectory(dir), WithPersistentShell(), WithRunner(r))
	run(t, b, "export LD_PRELOAD= LD_LIBRARY_PATH="+dir+" A=1")
	if out := run(t, b, "echo $A $LD_LIBRARY_PATH"); out.Output != "1 "+dir+"\n" {
		t.Errorf("%+v", out)
	}
	for _, env := range r.env {
		for _, e := range env {
			if strings.HasPrefix(e, "LD_") || strings.HasPrefix(e, "A=") {
				t.Errorf("the sandbox started with %s", e)
			}
		}
	}
}

func TestParallelCallsStartFromOneState(t *testing.T) { // BASH-31, D18, decision 15
	t.Parallel()
	dir := workspace(t)
	for _, sub := range []string{"one", "two"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b := newTool(t, WithWorkingDirectory(dir), WithPersistentShell())
	fifo := filepath.Join(dir, "fifo")
	run(t, b, "mkfifo fifo")
	first, second := make(chan *Output), make(chan *Output)
	go func() { first <- run(t, b, "touch started; read x <fifo; pwd; cd one; export A=1") }()
	eventually(t, "the first command runs", func() bool { return exists(filepath.Join(dir, "started")) })
	go func() { second <- run(t, b, "pwd; cd two; export A=2") }()
	if out := <-second; out.Output != dir+"\n" {
		t.Errorf("the second began in %q", out.Output)
	}
	write(t, fifo, "go\n")
	if out := <-first; out.Output != dir+"\n" {
		t.Errorf("the first ran in %q", out.Output)
	}
	// The first ended last, but the second is later in call order.
	play(t, b, []step{{"pwd; echo $A", dir + "/two\n2\n"}})

	run(t, b, "rm started; cd ..")
	go func() { first <- run(t, b, "touch started; read x <fifo; cd one") }()
	eventually(t, "the first command runs", func() bool { return exists(filepath.Join(dir, "started")) })
	run(t, b, "echo changes nothing")
	write(t, fifo, "go\n")
	<-first
	play(t, b, []step{{"pwd", dir + "/one\n"}})
}
