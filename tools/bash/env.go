package bash

import (
	"os"
	"slices"
	"strings"
)

// markerName is a variable that every command gets beside its environment. Its
// value tells, when the tool is closed, which processes on this host were
// started by it, also those that left their process group.
const markerName = "PHERO_SHELL"

// DefaultEnvAllowlist names the variables that common tools need and that hold
// no secrets (BASH-21). The slice is the caller's.
func DefaultEnvAllowlist() []string {
	return strings.Fields(`
		PATH HOME USER LOGNAME SHELL HOSTNAME TZ TERM COLORTERM NO_COLOR
		LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME
		TMPDIR TMP TEMP XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME
		SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE GIT_SSL_CAINFO NODE_EXTRA_CA_CERTS
		GOROOT GOPATH GOBIN GOCACHE GOMODCACHE GOFLAGS GOTOOLCHAIN GOPRIVATE GOOS GOARCH CGO_ENABLED
		CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTFLAGS
		NVM_DIR NVM_BIN VOLTA_HOME FNM_DIR ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR
		PYENV_ROOT PYENV_VERSION VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV
		RBENV_ROOT GEM_HOME GEM_PATH JAVA_HOME MAVEN_HOME GRADLE_HOME ANDROID_HOME DOTNET_ROOT
		CC CXX PKG_CONFIG_PATH NIX_PATH NIX_PROFILES`)
}

// hostEnvAllowlist is what a command that the person sent to the host gets
// beside the default: what it needs to reach the person's own agents.
func hostEnvAllowlist() []string {
	return append(DefaultEnvAllowlist(), "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
}

// startsCode tells whether a variable makes bash run code, or read a command
// in another way than it is written, before the command itself has a say.
func startsCode(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE",
		"POSIXLY_CORRECT", "BASH_XTRACEFD", "BASH_COMPAT", "BASH_LOADABLES_PATH", "IFS", "FIGNORE", "EXECIGNORE":
		return true
	}
	return strings.HasPrefix(name, "BASH_FUNC_")
}

// inherit picks the named variables of the process's environment; nil names picks all.
func inherit(names []string) []string {
	env := []string{}
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if name == "" || startsCode(name) || names != nil && !slices.Contains(names, name) {
			continue
		}
		env = append(env, e)
	}
	return env
}

// runnerEnv is the environment of a command: opts.Env, or what def names of
// the process's, then opts.ExtraEnv; the last entry of a name wins.
func runnerEnv(opts RunOptions, def []string) []string {
	env := opts.Env
	if env == nil {
		env = inherit(def)
	}
	return dedupe(append(slices.Clip(env), opts.ExtraEnv...))
}

// dedupe keeps the last entry of each name, and no entry that starts code.
func dedupe(env []string) []string {
	last := make(map[string]int, len(env))
	for i, e := range env {
		name, _, _ := strings.Cut(e, "=")
		last[name] = i
	}
	out := make([]string, 0, len(env))
	for i, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if last[name] == i && !startsCode(name) {
			out = append(out, e)
		}
	}
	return out
}
