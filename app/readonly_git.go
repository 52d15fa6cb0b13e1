package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/tools/regular"
)

// gitCommand splits git's arguments into its subcommand and the rest; "" where an
// option before it does more than switch the pager off.
func gitCommand(args []permissions.Word) (sub string, rest []permissions.Word) {
	for len(args) > 0 && args[0].Kind == permissions.Literal && (args[0].Text == "--no-pager" || args[0].Text == "--no-optional-locks" || args[0].Text == "-P") {
		args = args[1:]
	}
	if len(args) == 0 || args[0].Kind != permissions.Literal {
		return "", nil
	}
	return args[0].Text, args[1:]
}

// The options of git's commands that show history and differences. Not among them:
// --output, --ext-diff, --no-index, -O, and whatever else writes or runs.
const (
	gitDiffLong = "stat shortstat numstat dirstat summary name-only name-status patch no-patch unified raw minimal patience histogram diff-algorithm color no-color color-words word-diff word-diff-regex " +
		"no-renames check full-index binary abbrev find-renames find-copies diff-filter pickaxe-all pickaxe-regex reverse text ignore-cr-at-eol ignore-space-at-eol ignore-space-change " +
		"ignore-all-space ignore-blank-lines inter-hunk-context function-context exit-code quiet no-ext-diff no-textconv relative no-relative cached staged merge-base submodule compact-summary cc"
	gitLogLong = gitDiffLong + " oneline graph decorate no-decorate format pretty since until after before author committer grep all-match invert-grep follow all branches tags remotes abbrev-commit no-abbrev-commit " +
		"date first-parent merges no-merges max-count skip topo-order date-order author-date-order no-walk left-right left-only right-only cherry cherry-mark cherry-pick boundary simplify-by-decoration full-history ancestry-path " +
		"reflog walk-reflogs root not regexp-ignore-case extended-regexp fixed-strings perl-regexp no-color clear-decorations"
)

// gitReader is the list of git commands that only read.
func gitReader(sub string, args []permissions.Word) (reader, bool) {
	list := func(flags, valued, long string) (reader, bool) {
		return reader{flags: flags, valued: valued, long: long}, true
	}
	first := ""
	if len(args) > 0 {
		first = args[0].Text
	}
	switch sub {
	case "status":
		return list("sbvuznoalrm", "", "short branch show-stash porcelain long verbose untracked-files ignored column no-column ahead-behind no-ahead-behind renames no-renames find-renames")
	case "diff":
		return list("pusRabwWzMCBDq", "UGSl", gitDiffLong)
	case "log", "show", "shortlog", "whatchanged", "reflog":
		if sub == "reflog" && slices.Contains([]string{"expire", "delete", "drop", "write"}, first) {
			return reader{}, false
		}
		return list("pusRabwWzMCBDqmciEFPgnet", "UGSlLn", gitLogLong+" summary numbered email group")
	case "blame":
		return list("belcstfnwpMC", "L", "root show-stats porcelain line-porcelain incremental date score-debug show-name show-number show-email minimal abbrev color-lines color-by-age")
	case "rev-parse":
		return list("q", "", "show-toplevel show-cdup show-prefix show-superproject-working-tree abbrev-ref symbolic-full-name verify quiet short is-inside-work-tree is-inside-git-dir is-bare-repository "+
			"is-shallow-repository git-dir git-common-dir absolute-git-dir git-path all branches tags remotes default sq not")
	case "ls-files":
		return list("cdmosituzktvf", "x", "cached deleted modified others ignored stage unmerged killed directory no-empty-directory eol deduplicate exclude exclude-standard error-unmatch full-name recurse-submodules abbrev")
	case "ls-tree":
		return list("drtlz", "", "name-only name-status full-name full-tree abbrev long format object-only")
	case "cat-file":
		return list("tsep", "", "")
	case "describe":
		return list("", "", "tags all contains abbrev candidates exact-match match exclude always first-parent dirty broken long")
	case "rev-list":
		return list("n", "", gitLogLong+" count objects timestamp")
	case "merge-base":
		return list("a", "", "all octopus independent is-ancestor fork-point")
	case "name-rev", "show-ref", "for-each-ref", "count-objects", "check-ignore", "var":
		return list("vHsdq", "", "tags heads verify hash dereference abbrev quiet format sort count contains merged no-merged points-at verbose human-readable name-only refs always no-index non-matching")
	case "grep":
		return reader{flags: "ivwxEFGPnlLzocqhHpWa", valued: "eABCm", texts: 1,
			long: "cached untracked word-regexp ignore-case invert-match full-name extended-regexp basic-regexp perl-regexp fixed-strings line-number column files-with-matches files-without-match " +
				"null only-matching count color no-color break heading show-function function-context context after-context before-context max-count max-depth and or not all-match quiet text"}, true
	case "branch":
		return listing(args, "avri", "list all remotes verbose show-current contains no-contains merged no-merged points-at sort format column no-column color no-color abbrev no-abbrev ignore-case")
	case "tag":
		return listing(args, "ln", "list contains no-contains merged no-merged points-at sort format column no-column color ignore-case")
	case "stash":
		if first != "list" && first != "show" {
			return reader{}, false
		}
		return list("puz", "U", gitLogLong+" include-untracked only-untracked")
	case "remote":
		if first != "get-url" && !(len(args) == 0 || len(args) == 1 && (first == "-v" || first == "--verbose")) {
			return reader{}, false
		}
		return list("v", "", "verbose all push")
	case "worktree":
		if first != "list" {
			return reader{}, false
		}
		return list("vz", "", "verbose porcelain")
	case "add":
		if first != "-n" && first != "--dry-run" && !(len(args) > 1 && first == "-A" && args[1].Text == "-n") {
			return reader{}, false
		}
		return list("nvAuf", "", "dry-run verbose all update force no-all ignore-errors ignore-missing")
	case "--version", "version":
		return reader{most: 1, check: func(args []permissions.Word) bool { return len(args) == 0 }}, true
	}
	return reader{}, false
}

// listing is a command that lists where it gets no name, and makes or removes
// what it gets as one.
func listing(args []permissions.Word, flags, long string) (reader, bool) {
	asked, names := false, 0
	for i := 0; i < len(args); i++ {
		switch word := args[i]; {
		case word.Kind != permissions.Literal:
			return reader{}, false
		case !strings.HasPrefix(word.Text, "-"):
			names++
		case word.Text == "--sort", word.Text == "--format":
			i++
		default:
			name, _, _ := strings.Cut(word.Text, "=")
			asked = asked || slices.Contains([]string{"--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"}, name)
		}
	}
	return reader{flags: flags, long: long, texts: -1}, asked || names == 0
}

// tameGit tells whether reading the repository runs nothing of its settings: no
// fsmonitor, external diff, textconv, filter or hook, no included settings, and no
// submodules, which have settings of their own. Without the sandbox git's
// commands are free only then, in directories that are of no other repository.
func tameGit(workspace string, dirs []string) bool {
	for _, dir := range dirs {
		if !belongs(dir, workspace) {
			return false
		}
	}
	dir, err := gitDir(workspace)
	if err != nil || len(dirs) == 0 {
		return false
	}
	common := dir
	if data, err := regular.Read(filepath.Join(dir, "commondir"), maxGitFile); err == nil {
		if common = strings.TrimSpace(string(data)); !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
	}
	home, _ := os.UserHomeDir()
	settings := []string{
		filepath.Join(common, "config"), filepath.Join(dir, "config.worktree"), "/etc/gitconfig",
		filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git", "config"),
	}
	if base := os.Getenv("XDG_CONFIG_HOME"); base != "" {
		settings = append(settings, filepath.Join(base, "git", "config"))
	}
	for _, path := range settings {
		if data, err := regular.Read(path, maxGitFile); err == nil && !tameSettings(string(data)) || err != nil && !os.IsNotExist(err) {
			return false
		}
	}
	for _, path := range []string{
		filepath.Join(workspace, ".gitmodules"), filepath.Join(common, "modules"),
		filepath.Join(common, "hooks", "post-index-change"), filepath.Join(common, "hooks", "fsmonitor-watchman"),
	} {
		if _, err := os.Lstat(path); err == nil {
			return false
		}
	}
	return true
}

// belongs tells whether git finds the workspace's repository from a directory in
// it: none below has one, and none looks like a bare one, which git would take
// with its settings.
func belongs(dir, workspace string) bool {
	for dir != workspace {
		for _, name := range []string{".git", "HEAD"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				return false
			}
		}
		if dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
	return true
}

// gitDir is the directory of the repository whose top the workspace is.
func gitDir(workspace string) (string, error) {
	dir := filepath.Join(workspace, ".git")
	data, err := regular.Read(dir, maxGitFile)
	if err != nil { // mostly because it is a directory
		_, err = os.Stat(filepath.Join(dir, "HEAD"))
		return dir, err
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if !ok {
		return "", os.ErrInvalid
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(workspace, target)
	}
	return target, nil
}

// tameSettings looks for settings of git by which reading can run a program. It
// looks at words wherever they stand: a comment too many only means a question.
func tameSettings(text string) bool {
	text = strings.ToLower(text)
	for _, risk := range []string{"fsmonitor", "hookspath", "external", "textconv", "[filter", "[include", "command", "worktree =", "promisor", "sshcommand", "showsignature", "submodule", "\\\n"} {
		if strings.Contains(text, risk) {
			return false
		}
	}
	return true
}
