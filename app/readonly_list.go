package app

import "github.com/phero-agent/agent/permissions"

// The lists of decision 7. A program stands here when its listed options write
// nothing, run nothing and change nothing, on GNU and BSD systems alike.

// plainReader is the shorter list, of programs that read only what their operands
// name.
func plainReader(name string) (reader, bool) {
	texts := reader{flags: "*", long: "*", texts: -1}
	all := reader{flags: "*", long: "*"}
	switch name {
	case "echo", "printf", "true", "false", ":", "basename", "dirname", "tr", "sleep", "seq", "which", "type":
		return texts, true
	case "ls", "pwd", "cat", "head", "tail", "nl", "tac", "rev", "fold", "expand", "unexpand", "paste", "join", "comm", "cmp", "test", "[",
		"stat", "readlink", "realpath", "nproc", "uname", "whoami", "id", "arch", "uptime":
		return all, true
	case "git":
		return reader{}, true // see gitReader
	case "cd":
		return reader{most: 1, check: func(args []permissions.Word) bool { return len(args) == 1 && args[0].Text != "-" }}, true
	case "command":
		return reader{flags: "vV", texts: -1, check: func(args []permissions.Word) bool {
			return len(args) > 1 && (args[0].Text == "-v" || args[0].Text == "-V")
		}}, true
	case "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "sum":
		return reader{flags: "bt", long: "binary text"}, true
	case "wc":
		return reader{flags: "clmwL", long: "bytes chars lines words max-line-length total"}, true
	case "file":
		return reader{flags: "bhiLkNnrs0v", long: "brief mime mime-type mime-encoding dereference no-dereference extension version"}, true
	case "du":
		return reader{flags: "abcdhHklmSsxP0", valued: "dBt", long: "apparent-size all bytes total max-depth human-readable summarize si exclude time"}, true
	case "date":
		return reader{flags: "uRI", long: "utc universal iso-8601 rfc-3339 rfc-email date", texts: -1, check: onlyFormats}, true
	case "uniq":
		return reader{flags: "cdDuiz", valued: "fsw", long: "count repeated unique ignore-case skip-fields skip-chars check-chars", most: 1}, true
	case "cut":
		return reader{flags: "nsz", valued: "bcdf", long: "bytes characters delimiter fields only-delimited output-delimiter complement"}, true
	case "sort":
		return reader{flags: "bdfghiMnRrVucCszm", valued: "ktS",
			long: "numeric-sort reverse unique key field-separator human-numeric-sort ignore-case version-sort general-numeric-sort month-sort stable check zero-terminated"}, true
	case "diff":
		return reader{flags: "abBcdeEitTuNpqswy", valued: "CUWI",
			long: "unified context brief side-by-side ignore-case ignore-all-space ignore-space-change ignore-blank-lines text width color show-c-function report-identical-files suppress-common-lines"}, true
	case "grep", "egrep", "fgrep":
		return reader{flags: "EFGPivwxcLlosqbHhnTZzUar", valued: "eABCm", texts: 1,
			long: "include exclude exclude-dir color colour line-number ignore-case recursive extended-regexp fixed-strings perl-regexp word-regexp line-regexp " +
				"count files-with-matches files-without-match max-count only-matching quiet silent no-messages with-filename no-filename after-context before-context context invert-match text regexp null"}, true
	case "rg":
		return reader{flags: "ivwxcloFSsnNPUuHIqabp", valued: "ABCegmtTjMdrE", texts: 1,
			long: "glob iglob type type-not ignore-case smart-case case-sensitive word-regexp line-regexp count count-matches files-with-matches files-without-match fixed-strings " +
				"line-number no-line-number only-matching hidden no-ignore no-ignore-vcs max-depth max-count context after-context before-context sort sortr json heading no-heading " +
				"multiline pcre2 replace stats color vimgrep with-filename no-filename trim max-columns column null regexp invert-match text"}, true
	case "sed":
		return reader{flags: "nErsz", valued: "e", long: "quiet silent regexp-extended separate expression", texts: 1, check: sedReads}, true
	case "find":
		return reader{single: true, long: findTests}, true
	case "gofmt":
		return reader{flags: "dels", valued: "r"}, true
	}
	return reader{}, false
}

// boxedReader are programs, and options, that read more than their operands name:
// the environment, processes, the state of a toolchain, or files named in files.
func boxedReader(name string) (reader, bool) {
	all := reader{flags: "*", long: "*"}
	switch name {
	case "cd", "jq", "ps", "printenv", "df", "free", "groups", "tty", "locale", "getconf", "od", "hexdump", "strings", "base64", "column", "lscpu", "lsblk":
		return all, true
	case "env":
		return reader{check: func(args []permissions.Word) bool { return len(args) == 0 }}, true
	case "hostname":
		return reader{flags: "fsdiI", check: func(args []permissions.Word) bool { return len(args) == 0 || len(args) == 1 && args[0].Text[:1] == "-" }}, true
	case "diff":
		return reader{flags: "abBcdeEitTuNpqswyr", valued: "CUWIx", long: "recursive unified context brief side-by-side ignore-case ignore-all-space " +
			"ignore-space-change ignore-blank-lines text width color exclude new-file show-c-function report-identical-files suppress-common-lines"}, true
	case "tree":
		return reader{flags: "adfiCDFhnNpqstrugAQv", valued: "LIP", long: "noreport dirsfirst gitignore prune filelimit du si charset"}, true
	case "awk", "gawk", "mawk":
		return reader{valued: "Fv", texts: 1, check: awkReads}, true
	case "go":
		return reader{texts: -1, flags: "*", long: "*", check: goReads}, true
	case "node", "npm", "pnpm", "yarn", "python", "python3", "pip", "ruby", "rustc", "cargo", "rustup", "java", "javac", "gcc", "g++", "clang", "cc", "cmake", "make", "php", "perl", "tsc", "deno", "bun", "docker", "golangci-lint", "bash":
		return reader{texts: -1, flags: "*", long: "*", check: asksVersion}, true
	}
	return reader{}, false
}
