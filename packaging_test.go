//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const licensesFile = "docs/licenses.txt"

// licenses are the licences of all modules that are part of the program on one of
// the systems, each with its text.
func licenses(t *testing.T) string {
	t.Helper()
	var modules []string
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}", ".")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		modules = append(modules, strings.Split(strings.TrimSpace(string(out)), "\n")...)
	}
	slices.Sort(modules)
	var b strings.Builder
	for _, m := range slices.Compact(modules) {
		part := strings.Fields(m)
		if len(part) != 3 {
			continue
		}
		var found []string
		for _, pattern := range []string{"LICEN[CS]E*", "License*", "COPYING*"} {
			names, err := filepath.Glob(filepath.Join(part[2], pattern))
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, names...)
		}
		if len(found) == 0 {
			t.Errorf("%s has no licence", part[0])
		}
		fmt.Fprintf(&b, "%s %s\n%s\n\n", part[0], part[1], strings.Repeat("-", 72))
		for _, path := range found {
			b.WriteString(strings.TrimSpace(strings.ReplaceAll(document(t, path), "\r\n", "\n")) + "\n\n")
		}
	}
	return b.String()
}

// TestLicenses holds the file with the licences of all dependencies; -update writes it.
func TestLicenses(t *testing.T) {
	want := licenses(t)
	if updating() {
		writeFile(t, licensesFile, []byte(want))
	}
	if document(t, licensesFile) != want {
		t.Errorf("%s does not have the licences of the modules of go.mod: go test -run Licenses -update .", licensesFile)
	}
}

// TestInstallScript installs a release from a server; one with another checksum is refused.
func TestInstallScript(t *testing.T) {
	for _, tool := range []string{"curl", "tar"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	name := fmt.Sprintf("agent_1.2.3_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	archive := release(t)
	sum := fmt.Sprintf("%x  %s\n", sha256.Sum256(archive), name)
	for _, sums := range []string{sum, strings.Repeat("0", 64) + "  " + name + "\n", ""} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/latest":
				http.Redirect(w, r, "/tag/v1.2.3", http.StatusFound)
			case "/tag/v1.2.3":
			case "/download/v1.2.3/checksums.txt":
				fmt.Fprint(w, sums)
			case "/download/v1.2.3/" + name:
				w.Write(archive)
			default:
				http.NotFound(w, r)
			}
		}))
		bin := filepath.Join(t.TempDir(), "bin")
		cmd := exec.CommandContext(t.Context(), "sh", "docs/install.sh")
		cmd.Env = append(os.Environ(), "AGENT_RELEASES="+server.URL, "AGENT_BIN="+bin, "NO_PROXY=127.0.0.1")
		out, err := cmd.CombinedOutput()
		server.Close()
		_, there := os.Stat(filepath.Join(bin, "agent"))
		if good := sums == sum; good != (err == nil) || good != (there == nil) || good != strings.Contains(string(out), "agent 1.2.3") {
			t.Errorf("with the checksums %q: %v, %v: %s", sums, err, there, out)
		}
	}
}

// A release says its version; so does what go install builds (IMP-07).
func TestVersion(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "agent")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-X main.version=9.8.7", "-o", bin, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), bin, "--version").Output()
	if err != nil || string(out) != "agent 9.8.7\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// The program can be built for the other systems (IMP-42).
func TestBuildsElsewhere(t *testing.T) {
	for _, system := range []string{"windows", "darwin"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			build := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, ".")
			build.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// CI runs the tests with the race detector, as a person without a key, where no
// network is, and finds nothing of theirs in that person's home (IMP-43).
func TestTestsAreApart(t *testing.T) {
	ci := document(t, ".ci/run")
	for _, want := range []string{
		"runuser -u $user -- env -i CI=true HOME=/home/$user ", "unshare --net ", "go test -race -timeout 12m ./...", "find /home/$user -newer",
	} {
		if !strings.Contains(ci, want) {
			t.Errorf(".ci/run does not say %q", want)
		}
	}
	if regexp.MustCompile(`env -i [^\n]*(_KEY|TOKEN)`).MatchString(ci) {
		t.Error(".ci/run gives the tests a key")
	}
}

// What a release is made of, and that its build sets the version (IMP-08).
func TestReleaseFile(t *testing.T) {
	var release struct {
		Builds []struct {
			Env, Goos, Goarch, Ldflags []string
		}
		Checksum struct {
			Name string `yaml:"name_template"`
		}
		Sboms, Signs []struct{ Artifacts string }
		Archives     []struct{ Files []struct{ Src string } }
		Nfpms        []struct{ Contents []struct{ Src string } }
	}
	if err := yaml.Unmarshal([]byte(document(t, ".goreleaser.yaml")), &release); err != nil {
		t.Fatal(err)
	}
	if len(release.Builds) != 1 {
		t.Fatalf("%d builds", len(release.Builds))
	}
	b := release.Builds[0]
	if !slices.Equal(b.Env, []string{"CGO_ENABLED=0"}) || !slices.Equal(b.Goos, []string{"linux", "darwin", "windows"}) ||
		!slices.Equal(b.Goarch, []string{"amd64", "arm64"}) || !strings.Contains(strings.Join(b.Ldflags, " "), "-X main.version=") {
		t.Errorf("%+v", b)
	}
	// The licences go along in every form.
	for _, name := range []string{"LICENSE", licensesFile, "app/catalogue/LICENSE.catwalk"} {
		src := func(f struct{ Src string }) bool { return f.Src == name }
		if !slices.ContainsFunc(release.Archives[0].Files, src) || !slices.ContainsFunc(release.Nfpms[0].Contents, src) {
			t.Errorf("%s is not in the archives or the packages", name)
		}
	}
	if release.Checksum.Name != "checksums.txt" || len(release.Sboms) != 1 || len(release.Signs) != 1 || release.Signs[0].Artifacts != "checksum" {
		t.Errorf("%+v", release)
	}
}

// release is an archive with a program that says its version.
func release(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	program := []byte("#!/bin/sh\necho agent 1.2.3\n")
	if err := w.WriteHeader(&tar.Header{Name: "agent", Mode: 0o755, Size: int64(len(program))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(program); err != nil {
		t.Fatal(err)
	}
	w.Close()
	zip.Close()
	return out.Bytes()
}
