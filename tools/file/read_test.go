package file

import (
	"context"
	"errors"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestReadShows(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"numbered", "a\n\tb\"c\n", "     1\ta\n     2\t\tb\"c"},     // FILE-22
		{"no final newline", "a\nb", "     1\ta\n     2\tb"},         // FILE-32
		{"final newline", "a\nb\n", "     1\ta\n     2\tb"},          // FILE-32
		{"empty", "", "[file is empty]"},                             // FILE-31
		{"one newline", "\n", "     1\t"},                            // F8
		{"only BOM", "\ufeff", "     1\t"},                           // F8
		{"BOM", "\ufeffa\n", "     1\ta"},                            // F8
		{"CRLF", "a\r\nb\r\n", "     1\ta\n     2\tb"},               // FILE-48
		{"lone CR", "a\rb\n", "     1\ta\rb"},                        //
		{"odd characters", "<a & b>\\ é漢\n", "     1\t<a & b>\\ é漢"}, // FILE-24
		{"not UTF-8", "caf\xe9\n", "     1\tcaf\\xe9\n[bytes that are not UTF-8 are shown as \\xNN; an old_string cannot hold them]"}, // FILE-34
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := tree(t, map[string]string{"f": c.content})
			res, err := call(t, must(NewReadTool(WithWorkingDirectory(ws))).Tool(), ReadInput{FilePath: "f"})
			if got, ok := res.(string); err != nil || !ok || got != c.want { // FILE-23
				t.Errorf("got %q, %v; want %q", res, err, c.want)
			}
		})
	}
}

// FILE-24: every line that read shows can be an old_string.
func TestReadLinesAreOldStrings(t *testing.T) {
	lines := []string{"\tif a < b && c > d {", `  say "hi\n" + 'x'`, "trailing  \t", "日本語 → é", `\t is not a tab`, "$1 \\1 %s &amp;"}
	ws := tree(t, map[string]string{"f": strings.Join(lines, "\n") + "\n"})
	text := must(read(t, ReadInput{FilePath: "f"}, WithWorkingDirectory(ws)))
	for i, shown := range strings.Split(text, "\n") {
		_, line, _ := strings.Cut(shown, "\t")
		if line != lines[i] {
			t.Fatalf("line %d reads %q", i+1, line)
		}
		if _, err := edit(t, EditInput{FilePath: "f", OldString: line, NewString: line + "!"}, WithWorkingDirectory(ws)); err != nil {
			t.Errorf("line %d: %v", i+1, err)
		}
	}
}

var cutNote = regexp.MustCompile(`\n\[[^\n]*: read on with offset=(\d+)\]$`)

// readOn reads a file page by page, and returns its lines.
func readOn(t *testing.T, in ReadInput, opts ...Option) (lines []string, pages int) {
	t.Helper()
	for ; pages < 10_000; pages++ {
		text := must(read(t, in, opts...))
		note := cutNote.FindStringSubmatch(text)
		for _, shown := range strings.Split(cutNote.ReplaceAllString(text, ""), "\n") {
			number, line, _ := strings.Cut(shown, "\t")
			if n, _ := strconv.Atoi(strings.TrimSpace(number)); n != len(lines)+1 {
				t.Fatalf("page %d: line %q comes after %d lines", pages, shown, len(lines))
			}
			lines = append(lines, line)
		}
		if note == nil {
			return lines, pages + 1
		}
		in.Offset = must(strconv.Atoi(note[1]))
	}
	t.Fatal("reading on does not end")
	return nil, 0
}

// FILE-19, FILE-26, FILE-27, FILE-33; F9
func TestReadOn(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	var many []string
	for range 3000 {
		many = append(many, strings.Repeat("日x", rnd.Intn(40)))
	}
	for _, c := range []struct {
		name  string
		lines []string
		chars int
		limit int
	}{
		{"many lines", many, DefaultMaxOutputChars, 0},
		{"small pages", many[:200], 100, 0},
		{"limit", many, DefaultMaxOutputChars, 7},
		{"limit and small pages", many[:300], 300, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := tree(t, map[string]string{"f": strings.Join(c.lines, "\n") + "\n"})
			got, pages := readOn(t, ReadInput{FilePath: "f", Limit: c.limit}, WithWorkingDirectory(ws), WithMaxOutputChars(c.chars))
			if pages < 2 || strings.Join(got, "\n") != strings.Join(c.lines, "\n") {
				t.Errorf("%d lines on %d pages, want the %d lines of the file", len(got), pages, len(c.lines))
			}
		})
	}
	ws := tree(t, map[string]string{"f": strings.Repeat("word\n", 20_000)})
	text := must(read(t, ReadInput{FilePath: "f"}, WithWorkingDirectory(ws)))
	if !regexp.MustCompile(`\n\[output cut at 30000 characters: read on with offset=\d+\]$`).MatchString(text) { // FILE-26
		t.Errorf("ends with %q", text[len(text)-80:])
	}
	if n := len(cutNote.ReplaceAllString(text, "")); n > DefaultMaxOutputChars || n < DefaultMaxOutputChars-20 {
		t.Errorf("%d characters", n) // FILE-19
	}
	if text := must(read(t, ReadInput{FilePath: "f"}, WithWorkingDirectory(ws), WithMaxOutputChars(0))); strings.Count(text, "\n") != 19_999 {
		t.Error("without a cap the read is not whole") // FILE-19, FILE-30
	}
}

// FILE-33; F6
func TestReadLongLine(t *testing.T) {
	ws := tree(t, map[string]string{"f": "first\n" + strings.Repeat("é", 50_000) + "\nlast\n", "one": strings.Repeat("x", 100_000)})
	got, pages := readOn(t, ReadInput{FilePath: "f"}, WithWorkingDirectory(ws), WithMaxOutputChars(1000))
	if pages != 3 || len(got) != 3 || got[0] != "first" || got[2] != "last" || !strings.HasSuffix(got[1], "é… [line clipped: it has 100000 bytes]") {
		t.Errorf("%d pages: ends with %q", pages, got[1][len(got[1])-60:])
	}
	if text := must(read(t, ReadInput{FilePath: "one"}, WithWorkingDirectory(ws))); cutNote.MatchString(text) || len(text) > DefaultMaxOutputChars+10 {
		t.Errorf("a single long line: %d bytes, ends with %q", len(text), text[len(text)-50:])
	}
}

func TestReadPages(t *testing.T) {
	ws := tree(t, map[string]string{"f": strings.Repeat("x\n", 5000), "s": "a\nb\nc\n"})
	for _, c := range []struct {
		in   ReadInput
		want string // of the end
		n    int    // lines, notes among them
	}{
		{ReadInput{FilePath: "f", Limit: 4000}, "[lines 1-2000 of 5000: read on with offset=2001]", 2001}, // FILE-29, FILE-30
		{ReadInput{FilePath: "f", Limit: 5}, "[lines 1-5 of 5000: read on with offset=6]", 6},
		{ReadInput{FilePath: "s", Offset: 3}, "     3\tc", 1},           // FILE-28
		{ReadInput{FilePath: "s", Offset: 1, Limit: 3}, "     3\tc", 3}, // FILE-28
		{ReadInput{FilePath: "s", Offset: 9}, "[file has 3 lines]", 1},  // FILE-31
		{ReadInput{FilePath: "s", Offset: 2, Limit: 1}, "     2\tb\n[lines 2-2 of 3: read on with offset=3]", 2},
		{ReadInput{FilePath: "s", Limit: 1 << 40}, "     3\tc", 3}, // F9
	} {
		got, err := read(t, c.in, WithWorkingDirectory(ws))
		if err != nil || !strings.HasSuffix(got, c.want) || strings.Count(got, "\n")+1 != c.n {
			t.Errorf("%+v: %d lines, %v, ends with %q", c.in, strings.Count(got, "\n")+1, err, got[max(0, len(got)-60):])
		}
	}
	for _, in := range []ReadInput{{FilePath: "s", Offset: -1}, {FilePath: "s", Limit: -1}} { // FILE-28
		if _, err := read(t, in, WithWorkingDirectory(ws)); err == nil {
			t.Errorf("%+v was taken", in)
		}
	}
	tool := must(NewReadTool(WithWorkingDirectory(ws))).Tool()
	for _, args := range []string{`{"file_path":"s","offset":1.5}`, `{"file_path":"s","limit":"2"}`, `{"file_path":`} { // F9
		if _, err := tool.Handle(context.Background(), args); err == nil {
			t.Errorf("%s was taken", args)
		}
	}
}

// FILE-14, FILE-15, FILE-16, FILE-17; F4
func TestReadSizes(t *testing.T) {
	ws := tree(t, map[string]string{"ten": "123456789\n", "eleven": "1234567890\n", "big": strings.Repeat("line\n", 200_000)})
	opts := []Option{WithWorkingDirectory(ws), WithMaxFileSize(10)}
	if _, err := read(t, ReadInput{FilePath: "ten"}, opts...); err != nil {
		t.Error(err)
	}
	_, err := read(t, ReadInput{FilePath: "eleven"}, opts...)
	var large *TooLargeError
	if !errors.Is(err, ErrFileTooLarge) || !errors.As(err, &large) || large.Size != 11 || large.Limit != 10 || !strings.Contains(err.Error(), filepath.Join(ws, "eleven")) {
		t.Errorf("error %v", err)
	}
	if got := must(read(t, ReadInput{FilePath: "big", Limit: 5}, opts...)); got != "     1\tline\n     2\tline\n     3\tline\n     4\tline\n     5\tline\n[lines 1-5 of 200000: read on with offset=6]" {
		t.Errorf("page of a file above the limit: %q", got) // FILE-17
	}
	if DefaultMaxFileSize != 10_485_760 || DefaultMaxOutputChars != 30_000 || DefaultMaxResults != 1000 {
		t.Error("the defaults are not the reference's") // FILE-15, FILE-19, FILE-20
	}
	sparse := filepath.Join(ws, "sparse")
	f := must(os.Create(sparse))
	if _, err := f.WriteString("first\nsecond\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(DefaultMaxFileSize + 1); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, ReadInput{FilePath: "sparse"}, WithWorkingDirectory(ws)); !errors.Is(err, ErrFileTooLarge) { // FILE-15
		t.Errorf("10 MiB and one byte: %v", err)
	}
	if err := os.WriteFile(filepath.Join(ws, "text"), []byte(strings.Repeat("0123456789abcde\n", 1<<16*10+1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, ReadInput{FilePath: "text"}, WithWorkingDirectory(ws), WithMaxFileSize(0)); err != nil { // FILE-16
		t.Error(err)
	}
	if err := f.Truncate(2 << 30); err != nil {
		t.Skip("no sparse files here:", err)
	}
	f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text, err := read(t, ReadInput{FilePath: "sparse", Limit: 1}, WithWorkingDirectory(ws))
	runtime.ReadMemStats(&after)
	if err == nil && text != "     1\tfirst\n[lines 1-1: read on with offset=2]" || after.TotalAlloc-before.TotalAlloc > 8<<20 { // FILE-17
		t.Errorf("%q, %v, %d bytes of memory", text, err, after.TotalAlloc-before.TotalAlloc)
	}
}

// F3: files that say they are empty, or are endless.
func TestReadProc(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	if got, err := read(t, ReadInput{FilePath: "/proc/self/status"}); err != nil || !strings.Contains(got, "Umask:") {
		t.Errorf("%.100q, %v", got, err)
	}
}

// FILE-37
func TestNoReadOutput(t *testing.T) {
	for _, name := range must(filepath.Glob("*.go")) {
		if !strings.HasSuffix(name, "_test.go") && strings.Contains(content(t, name), "ReadOutput") {
			t.Errorf("%s has the deprecated name", name)
		}
	}
}

func TestReadMissingSuggests(t *testing.T) {
	ws := tree(t, map[string]string{"README.md": "", "server_test.go": "", "sub/x": ""})
	for path, want := range map[string]string{
		"readme.md":       "did you mean " + filepath.Join(ws, "README.md") + "?",
		"servertest.go":   "did you mean " + filepath.Join(ws, "server_test.go") + "?",
		"nothing/here.go": "nor does the directory " + filepath.Join(ws, "nothing"),
		"zzz":             filepath.Join(ws, "zzz") + " does not exist",
	} {
		if _, err := read(t, ReadInput{FilePath: path}, WithWorkingDirectory(ws)); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
