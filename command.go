package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/trust"
)

// version is set by the release's build; otherwise the build information says it.
var version string

// line is what the command line said.
type line struct {
	flags   config.Flags
	version bool
	print   bool
	resume  string
	goOn    bool
	prompt  string
	resumed bool // -r or -c was given
	foreign bool // a session that was not made here opens unasked

	format       string // of what is printed without a screen
	failOnDenied bool
	noSession    bool   // nothing is saved
	addPrompt    string // at the end of the system prompt
	debug        bool   // requests and events are logged
}

const longHelp = `A coding agent in your terminal. It works on the repository you stand in, with
a model behind any server that speaks OpenAI-compatible chat completions. What
writes or runs is asked first; every change can be undone.

  agent                  open the screen
  agent "prompt"         open it and send the prompt
  agent -p "prompt"      answer on stdout, without a screen; what would be asked is denied
  git diff | agent -p "review this"
  agent models           the models that the server offers
  agent config           the settings that hold, and where each comes from
  agent doctor           find out what works here, and what the server can do
  agent sessions         the sessions of this repository: list, fork, export, remove, repair
  agent permissions      what runs, what is asked and what is denied, and why
  agent mcp              the MCP servers: list, add, remove, test, sign in
  agent undo             take the last change of the newest session back, after a look at it
  agent completion       completions for bash, zsh and fish
  agent demo             no key needed: a scripted model at work in a scratch repository

Environment:
  OPENAI_API_KEY         a key picks its provider; so do ANTHROPIC_API_KEY, GEMINI_API_KEY,
                         OPENROUTER_API_KEY, DEEPSEEK_API_KEY, GROQ_API_KEY, MISTRAL_API_KEY,
                         XAI_API_KEY, AZURE_OPENAI_API_KEY with AZURE_OPENAI_ENDPOINT, and others
  OPENAI_BASE_URL        any other server, as http://127.0.0.1:11434/v1; it gets OPENAI_API_KEY
  AGENT_MODEL            the model, or provider/model
  AGENT_NETWORK_FOR      what --network-for says, a pattern a line
Without a key and a server, a model server on this machine is used where one runs.

Exit codes: 0 done, 1 error, 2 usage or settings, 3 no answer because something
was denied, 4 at a limit (--timeout, --max-turns, a loop), 5 the model's server or its key, 130 and 143 stopped.`

func newCommand() *cobra.Command {
	var l line
	root := &cobra.Command{
		Use:           "agent [prompt]",
		Short:         "A coding agent in your terminal",
		Long:          longHelp,
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if l.version { // Cobra's own way keeps text/template, and with it every method of every type
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "agent", programVersion())
				return err
			}
			l.resumed = l.goOn || cmd.Flags().Changed("resume")
			return l.run(cmd.Context(), cmd, args)
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	f := root.Flags()
	f.BoolVarP(&l.version, "version", "v", false, "version for agent")
	f.BoolVarP(&l.print, "print", "p", false, "answer on stdout, without a screen; also --prompt")
	f.StringVarP(&l.format, "output-format", "o", app.FormatText, "what -p prints: text, json or stream-json")
	f.BoolVar(&l.failOnDenied, "fail-on-denied", false, "with -p: exit code 3 when anything was denied, also beside an answer")
	f.StringVar(&l.addPrompt, "append-system-prompt", "", "a `text` at the end of the system prompt")
	f.BoolVar(&l.noSession, "no-session", false, "save nothing: the session ends with the program")
	boolFlag(f, &l.flags.Plain, "plain", "line by line instead of the screen, as for screen readers; so it is with TERM=dumb")
	f.BoolVarP(&l.goOn, "continue", "c", false, "go on with the newest session of this repository")
	f.StringVarP(&l.resume, "resume", "r", "", "go on with the session of this `id`; without an id, pick one")
	f.Lookup("resume").NoOptDefVal = pick
	f.BoolVar(&l.foreign, "foreign", false, "open a session that came with the repository unasked; without a screen it is refused otherwise")
	f.BoolVarP(&l.debug, "debug", "d", false, "log requests and events to agent.log in the state directory, without keys and contents")
	root.PersistentFlags().StringVarP(&l.flags.Dir, "cd", "C", "", "work in this `dir`ectory")
	sandboxFlags(root, &l.flags)
	policyFlags(root, &l.flags)
	modelFlags(root, &l.flags)
	root.AddCommand(demoCommand(&l.flags), modelsCommand(), doctorCommand(&l.flags), permissionsCommand(&l.flags), sessionsCommand(&l.flags), sandboxCommand(&l.flags), undoCommand(&l.flags), configCommand(&l.flags), trustCommand(&l.flags), mcpCommand(&l.flags))
	durationFlag(f, &l.flags.Timeout, "timeout", "how long a turn may take, questions left out; 0: no limit (default 30m)")
	intFlag(f, &l.flags.MaxTurns, "max-turns", "how many requests to the model a turn may make; 0: no limit")
	root.SetGlobalNormalizationFunc(aliases)
	root.SetHelpCommand(helpCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	checkArgs(root)
	complete(root, &l.flags)
	return root
}

// pick stands for -r without an id.
const pick = " "

func isSessionID(s string) bool {
	return len(s) == 26 && strings.Trim(s, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == ""
}

// meantAsID tells whether a word was meant as the id of a session: a part of one, or
// in small letters.
func meantAsID(s string) bool {
	return len(s) > 3 && s[0] >= '0' && s[0] <= '9' && strings.Trim(strings.ToUpper(s), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func (l *line) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	// "-r ID": the flag's value is optional, so the id comes as an argument.
	if l.resume == pick && len(args) > 0 && isSessionID(args[0]) {
		l.resume, args = args[0], args[1:]
	}
	if l.resume == pick && len(args) == 1 && meantAsID(args[0]) && cmd.ArgsLenAtDash() < 0 {
		return usage("%q is no session's id, which has 26 letters and digits; agent sessions lists them. As a prompt: agent -r -- %s", args[0], args[0])
	}
	if err := mistyped(cmd, args); err != nil {
		return err
	}
	l.prompt = strings.Join(args, " ")
	stdin, stdout := term.IsTerminal(int(os.Stdin.Fd())), term.IsTerminal(int(os.Stdout.Fd()))
	if !stdin || l.prompt == "-" {
		text, err := readAll(os.Stdin)
		if err != nil {
			return fmt.Errorf("stdin: %w", err)
		}
		l.prompt = joinPrompt(strings.TrimPrefix(l.prompt, "-"), text)
	}
	settings, err := config.Load(l.flags, os.Getenv)
	if err != nil {
		return usage("%v", err)
	}
	s := &start{settings: settings, line: l}
	headless := l.print || !stdin || !stdout
	if err := l.check(headless); err != nil {
		return err
	}
	if headless {
		if strings.TrimSpace(l.prompt) == "" {
			return usage(`there is no prompt: give one, as in agent -p "explain this repository", or pipe it in`)
		}
		return s.headless(ctx)
	}
	return s.screen(ctx)
}

// check refuses flags that would have no effect.
func (l *line) check(headless bool) error {
	switch {
	case !slices.Contains(formats(), l.format):
		return usage("--output-format=%s: use one of text, json, stream-json", l.format)
	case !headless && (l.format != app.FormatText || l.failOnDenied):
		return usage("--output-format and --fail-on-denied are for -p")
	case headless && l.resume == pick:
		return usage("-r needs the id of a session here, as agent sessions lists them; -c takes the newest")
	case l.noSession && l.resumed:
		return usage("--no-session saves nothing, and -c and -r go on with what was saved: give one of them")
	}
	return nil
}

func formats() []string { return []string{app.FormatText, app.FormatJSON, app.FormatStream} }

// stdinPatience is how long nothing may come on stdin before that is said.
const stdinPatience = 3 * time.Second

// readAll reads to the end. A pipe that somebody forgot to close would hold the run
// up for ever: after a while that is said.
func readAll(from io.Reader) (string, error) {
	late := time.AfterFunc(stdinPatience, func() {
		fmt.Fprintln(os.Stderr, "agent: stdin is read to its end first, and is still open; with < /dev/null it is left out")
	})
	defer late.Stop()
	text, err := io.ReadAll(from)
	return string(text), err
}

// joinPrompt puts what was piped in behind the prompt.
func joinPrompt(prompt, piped string) string {
	piped = strings.TrimRight(piped, "\n")
	if prompt == "" || piped == "" {
		return prompt + piped
	}
	return prompt + "\n\n" + piped
}

func programVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "dev"
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}

func options(s config.Settings) app.Options {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // then nobody has skills there
	}
	return app.Options{
		Workspace: s.Workspace, Dir: s.Dir, Version: programVersion(),
		ConfigDir: s.ConfigDir, Home: home, WebHosts: s.WebHosts, WebProxy: s.WebProxy, Servers: s.Servers,
		StateDir: s.StateDir, Sandbox: s.Sandbox, Timeout: s.Timeout, MaxTurns: s.MaxTurns,
		Mode: s.Mode, Allow: s.Allow, Ask: s.Ask, Deny: s.Deny,
		Roots: s.Roots, Network: s.Network, NetworkFor: s.NetworkFor, ShareCaches: s.ShareCaches,
		Untrusted: s.Untrusted, Trust: trust.Open(config.WorkspaceState(s.StateDir, s.Workspace)), Notices: s.Notices,
	}
}
