package bash

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// WithToolchains makes the person's tools work inside: what is installed below
// the home directory or named by PATH is mounted read-only, git knows who
// commits, and Go, npm, pip and cargo get caches that belong to this workspace
// alone, below $XDG_CACHE_HOME/phero. The host's caches of Go modules, crates and
// npm packages are read-only sources, so that a command cannot poison them;
// pip's and uv's start empty.
//
// It sets GOCACHE, GOMODCACHE, GOPROXY, GOFLAGS, npm_config_cache, CARGO_HOME
// and XDG_CACHE_HOME for commands.
func WithToolchains() BubblewrapOption {
	return func(r *BubblewrapRunner) {
		r.settings = append(r.settings, func(r *BubblewrapRunner) error {
			home, _ := homeDirectory()
			c := toolchains{r: r, home: home}
			c.tools()
			c.identity()
			c.certificates()
			if r.shareCaches {
				c.sharedCaches()
				return nil
			}
			return c.privateCaches()
		})
	}
}

// WithSharedCaches gives commands the host's own caches, writable, instead of
// private ones. What a command puts there, later builds on the host run.
func WithSharedCaches() BubblewrapOption {
	return func(r *BubblewrapRunner) { r.shareCaches = true }
}

// toolchains collects what a runner mounts for tools.
type toolchains struct {
	r    *BubblewrapRunner
	home string // "" when there is none
}

// toolDirs are below the home directory. Directories that also hold credentials
// are not mounted whole.
const toolDirs = `
	.rustup .cargo/bin .cargo/env .nvm .volta .fnm .local/share/fnm .asdf .local/share/mise .local/share/pnpm
	.pyenv .local/share/uv .local/bin .local/lib .local/pipx .local/share/pipx .poetry/bin
	.bun/bin .deno/bin .yarn/bin .npm-global .rbenv .rvm .sdkman .jenv .goenv .nodenv .nodebrew
	go/bin sdk .dotnet .elan .ghcup/bin .juliaup .swiftly .opam .nix-profile bin`

// toolVariables name directories of tools that are elsewhere.
const toolVariables = `RUSTUP_HOME NVM_DIR VOLTA_HOME FNM_DIR ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR PYENV_ROOT
	VIRTUAL_ENV CONDA_PREFIX RBENV_ROOT JAVA_HOME MAVEN_HOME GRADLE_HOME DOTNET_ROOT ANDROID_HOME GOROOT GOBIN`

func (c toolchains) tools() {
	if c.home != "" {
		for dir := range strings.FieldsSeq(toolDirs) {
			c.tool(filepath.Join(c.home, dir), "a toolchain")
		}
	}
	for name := range strings.FieldsSeq(toolVariables) {
		c.tool(os.Getenv(name), "a toolchain, named by "+name)
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		// Programs need what is beside their bin, but a home directory's parts hold other things.
		if parent := filepath.Dir(dir); filepath.Base(dir) == "bin" && !contains(c.homeOr("/"), dir) && checkBreadth(parent) == nil {
			dir = parent
		}
		c.tool(dir, "a toolchain, named by PATH")
	}
	if goroot := c.goroot(); goroot != "" {
		c.r.roots = append(c.r.roots, goroot)
	}
}

func (c toolchains) homeOr(other string) string {
	if c.home == "" {
		return other
	}
	return c.home
}

// goroot is where the Go of PATH is installed.
func (c toolchains) goroot() string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if path, err := filepath.EvalSymlinks(filepath.Join(dir, "go")); err == nil && filepath.Base(filepath.Dir(path)) == "bin" {
			root := filepath.Dir(filepath.Dir(path))
			if _, err := os.Stat(filepath.Join(root, "src", "runtime")); err == nil {
				return root
			}
		}
	}
	return ""
}

// identity lets git know who commits, without what it could log in with.
func (c toolchains) identity() {
	if c.home == "" {
		return
	}
	config := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(c.home, ".config")
	}
	const why = "git's settings, so that it knows who commits"
	c.readOnly(filepath.Join(c.home, ".gitconfig"), why)
	c.readOnly(filepath.Join(config, "git"), why)
	for _, at := range []string{filepath.Join(config, "git", "credentials")} {
		if _, err := os.Stat(at); err == nil {
			c.r.fixed = append(c.r.fixed, Mount{Path: at, Access: Hidden, Why: "credentials"})
		}
	}
	c.readOnly(filepath.Join(config, "go"), "Go's settings")
}

func (c toolchains) certificates() {
	for name := range strings.FieldsSeq("SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE GIT_SSL_CAINFO NODE_EXTRA_CA_CERTS") {
		c.readOnly(os.Getenv(name), "certificates, named by "+name)
	}
}

// tool mounts a directory of a tool, whose sources the host's tools may read as well.
func (c toolchains) tool(path, why string) {
	if info, err := os.Stat(path); c.readOnly(path, why) && err == nil && info.IsDir() {
		c.r.roots = append(c.r.roots, path)
	}
}

func (c toolchains) readOnly(path, why string) bool { return c.mount(path, ReadOnly, why) }

// mount mounts a path when it is there, may be shown, and is not shown already.
func (c toolchains) mount(path string, access Access, why string) (mounted bool) {
	if !filepath.IsAbs(path) {
		return false
	}
	path, resolved, err := sourcePath(path)
	if err != nil {
		return false
	}
	for _, at := range slices.Compact([]string{path, resolved}) {
		shown := slices.ContainsFunc(SystemPaths(), func(dir string) bool { return contains(dir, at) })
		if !shown && !contains(c.r.workspace, at) && !contains(c.r.real, at) {
			c.r.fixed = append(c.r.fixed, Mount{Path: at, Source: resolved, Access: access, Why: why})
			mounted = true
		}
	}
	return mounted
}

// CacheDir is where the caches of a workspace are, below $XDG_CACHE_HOME/phero;
// "" without a home directory that exists.
func CacheDir(workspace string) string {
	cache := os.Getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(cache) {
		home, _ := homeDirectory()
		if _, err := os.Stat(home); err != nil {
			return ""
		}
		cache = filepath.Join(home, ".cache")
	}
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Join(cache, "phero", hex.EncodeToString(sum[:8]))
}

// privateCaches makes caches for this workspace. Where they cannot be made, as
// for a user without a home, each command has empty ones.
func (c toolchains) privateCaches() error {
	dir := CacheDir(c.r.real)
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		c.goSources("")
		return nil
	}
	c.mount(dir, Writable, "caches of this workspace alone")
	sub := func(name string) string { return filepath.Join(dir, name) }
	c.r.env = append(c.r.env,
		"XDG_CACHE_HOME="+sub("xdg"), "GOCACHE="+sub("go-build"), "npm_config_cache="+sub("npm"),
	)
	c.goSources(sub("gomod"))
	c.packages(sub("npm"))
	return c.crates(sub("cargo"))
}

// goSources makes the host's module cache a proxy of files. cache is where
// modules are unpacked; "" leaves that to Go.
func (c toolchains) goSources(cache string) {
	if cache != "" {
		c.r.env = append(c.r.env, "GOMODCACHE="+cache)
		c.r.roots = append(c.r.roots, cache)
	}
	flags := strings.TrimSpace(c.goSetting("GOFLAGS") + " -modcacherw") // else the cache could not be deleted
	c.r.env = append(c.r.env, "GOFLAGS="+flags)

	upstream := c.goSetting("GOPROXY")
	if upstream == "" || strings.Contains(upstream, "@") { // a password is not for commands
		upstream = "direct"
	}
	host := c.hostModules()
	if _, err := os.Stat(filepath.Join(host, "cache", "download")); err != nil {
		c.r.env = append(c.r.env, "GOPROXY="+upstream)
		return
	}
	c.tool(host, "the host's Go modules, a source for the private cache")
	c.r.env = append(c.r.env, "GOPROXY=file://"+filepath.ToSlash(filepath.Join(host, "cache", "download"))+","+upstream)
}

func (c toolchains) hostModules() string {
	if dir := c.goSetting("GOMODCACHE"); filepath.IsAbs(dir) {
		return dir
	}
	if list := filepath.SplitList(c.goSetting("GOPATH")); len(list) > 0 && filepath.IsAbs(list[0]) {
		return filepath.Join(list[0], "pkg", "mod")
	}
	return filepath.Join(c.homeOr("/nonexistent"), "go", "pkg", "mod")
}

// goSetting is a variable of the environment, or else of the file of `go env -w`.
func (c toolchains) goSetting(name string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	config := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(c.homeOr("/nonexistent"), ".config")
	}
	f, err := os.Open(filepath.Join(config, "go", "env"))
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), name+"="); ok {
			return v
		}
	}
	return ""
}

// crates makes a private CARGO_HOME. Until something was downloaded into it,
// the host's registry is shown there read-only, which is enough to build offline.
func (c toolchains) crates(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	c.r.env = append(c.r.env, "CARGO_HOME="+dir)
	host := os.Getenv("CARGO_HOME")
	if !filepath.IsAbs(host) {
		host = filepath.Join(c.homeOr("/nonexistent"), ".cargo")
	}
	for _, name := range []string{"config.toml", "config"} {
		at := filepath.Join(host, name)
		if data, err := os.ReadFile(at); err == nil && !strings.Contains(string(data), "token") {
			c.r.fixed = append(c.r.fixed, Mount{Path: filepath.Join(dir, name), Source: at, Access: ReadOnly, Why: "cargo's settings"})
		}
	}
	c.r.sources = append(c.r.sources, cacheSource{
		host: filepath.Join(host, "registry"), private: filepath.Join(dir, "registry"), what: "crates",
	})
	return nil
}

// packages makes the host's npm packages a source of the private npm cache:
// `npm ci` with a lock file finds them offline.
func (c toolchains) packages(private string) {
	host := os.Getenv("npm_config_cache")
	if !filepath.IsAbs(host) {
		host = filepath.Join(c.homeOr("/nonexistent"), ".npm")
	}
	c.r.sources = append(c.r.sources, cacheSource{
		host: filepath.Join(host, "_cacache"), private: filepath.Join(private, "_cacache"), what: "npm packages",
	})
}

// cacheSource is a cache of the host that stands in for a private one.
type cacheSource struct{ host, private, what string }

type cacheSources []cacheSource

// mounts shows the host's caches as long as the private ones are empty. With the
// network a command can fill the private ones.
func (list cacheSources) mounts(reach Reach) (mounts []Mount) {
	if reach == Network {
		return nil
	}
	for _, s := range list {
		if _, err := os.Stat(s.host); err != nil {
			continue
		}
		if entries, _ := os.ReadDir(s.private); len(entries) == 0 {
			mounts = append(mounts, Mount{Path: s.private, Source: s.host, Access: ReadOnly, Why: "the host's " + s.what + ", until the private cache has some"})
		}
	}
	return mounts
}

// sharedCaches mounts the host's caches writable.
func (c toolchains) sharedCaches() {
	const why = "a cache shared with the host"
	cache := os.Getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(cache) {
		cache = filepath.Join(c.homeOr("/nonexistent"), ".cache")
	}
	build := c.goSetting("GOCACHE")
	if build == "" {
		build = filepath.Join(cache, "go-build")
	}
	for _, dir := range []string{build, c.hostModules(), filepath.Join(cache, "pip"), filepath.Join(cache, "uv")} {
		c.mount(dir, Writable, why)
	}
	if c.home != "" {
		c.mount(filepath.Join(c.home, ".npm"), Writable, why)
		c.mount(filepath.Join(c.home, ".cargo", "registry"), Writable, why)
	}
	c.r.roots = append(c.r.roots, c.hostModules())
}
