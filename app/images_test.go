package app

import (
	"fmt"
	"strings"
	"testing"
)

func TestNamedImages(t *testing.T) {
	for text, want := range map[string]string{
		"what is in @shot.png?":                 "@shot.png",
		"@a.png and @dir/b.JPEG, @a.png again":  "@a.png @dir/b.JPEG",
		`look at @"my shot.webp" please`:        "@my shot.webp",
		`look at @my\ shot.gif`:                 "@my shot.gif",
		"/home/me/x.png":                        "/home/me/x.png",
		"'/home/me/a shot.png' what is it":      "/home/me/a shot.png",
		`/home/me/Screenshot\ \(1\).png`:        "/home/me/Screenshot (1).png",
		"/home/me/a b.png":                      "/home/me/a b.png",
		"/usr/bin has /tmp/x.png":               "/usr/bin has /tmp/x.png /tmp/x.png",
		"/usr/bin\nhas x.png":                   "",
		`'/home/me/it'\''s me.png' and more`:    "/home/me/it's me.png",
		`/home/me/it\'s\ \[1\]\,\ \&c.png`:      "/home/me/it's [1], &c.png",
		"'/a b.png' '/c d.png'":                 "/a b.png /c d.png",
		`"/home/me/a b.png"`:                    "/home/me/a b.png",
		"/home/me/Shot at 1.02.03\u202fPM.png":  "/home/me/Shot at 1.02.03\u202fPM.png",
		"/me/Shot\\ at\\ 1.02.03\u202fPM.png":   "/me/Shot at 1.02.03\u202fPM.png",
		"file://localhost/home/me/%C3%A9.png":   "/home/me/é.png",
		"file:///home/me/a%20b.png":             "/home/me/a b.png",
		"see (/tmp/x.png).":                     "/tmp/x.png",
		"~/x.jpg":                               "~/x.jpg",
		"shot.png is a name, @main.go no image": "",
		"mail me@x.png":                         "",
		"don't @ anything 'quoted":              "",
		"@日本.png":                               "@日本.png",
		`C:\temp\x.png`:                         "",
		"http://example.com/x.png":              "",
		"@":                                     "",
	} {
		var got []string
		for _, n := range namedImages(text) {
			sign := ""
			if n.mentioned {
				sign = "@"
			}
			got = append(got, sign+n.path)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q names %q, want %q", text, s, want)
		}
	}
}

func FuzzNamedImages(f *testing.F) {
	for _, s := range []string{`@"a.png`, `\`, `'/x.png' @y\ `, "@((((", "file://%zz.png"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, n := range namedImages(s) {
			if n.path == "" {
				t.Errorf("%q names %s", s, fmt.Sprintf("%+v", n))
			}
		}
	})
}
