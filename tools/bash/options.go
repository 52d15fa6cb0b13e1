package bash

import (
	"context"
	"time"
)

// Option configures a [Tool].
type Option func(*Tool)

// OutputHandler gets the output of a foreground command as it is written
// (BASH-32). ctx is the call's. Calls for one command come one after another,
// and none begins once the call returned; the chunk is the receiver's to keep
// and never ends inside a UTF-8 character that goes on. A slow handler slows
// the command down.
type OutputHandler = func(ctx context.Context, chunk []byte)

// WithSafeMode blocks a list of dangerous texts and ends foreground commands
// after [SafeModeTimeout]. It stops accidents; it is no security boundary.
func WithSafeMode() Option { return func(t *Tool) { t.safe = true; t.limits.safe = true } }

// WithTimeout ends every foreground command after d; the model can only ask for less (BASH-09).
func WithTimeout(d time.Duration) Option { return func(t *Tool) { t.limits.fixed = d } }

// WithDefaultTimeout is the timeout where the model gives none; [DefaultTimeout] by default.
func WithDefaultTimeout(d time.Duration) Option { return func(t *Tool) { t.limits.byDefault = d } }

// WithMaxTimeout caps what the model asks for; [MaxTimeout] by default.
func WithMaxTimeout(d time.Duration) Option { return func(t *Tool) { t.limits.max = d } }

// WithBackgroundTimeout ends background commands after d and caps what the
// model asks for them; 0, the default, is no limit (BASH-42).
func WithBackgroundTimeout(d time.Duration) Option {
	return func(t *Tool) { t.limits.background = d }
}

// WithMaxOutputChars caps the bytes of output in one result; longer output
// keeps its start and its end. [DefaultMaxOutputChars] by default, 0 is no cap.
func WithMaxOutputChars(n int) Option { return func(t *Tool) { t.limits.output = max(n, 0) } }

// WithMaxBackgroundOutput is how many bytes each background shell keeps;
// [DefaultMaxBackgroundOutput] by default, 0 is no cap.
func WithMaxBackgroundOutput(n int) Option {
	return func(t *Tool) { t.limits.kept = max(n, 0) }
}

// WithBlocklist refuses commands that contain one of the texts, in any case.
// Empty ones are ignored. It is no security boundary.
func WithBlocklist(patterns ...string) Option {
	return func(t *Tool) { t.blocklist = append(t.blocklist, patterns...) }
}

// WithAllowlist refuses commands that contain none of the texts, in any case;
// an empty text matches nothing. It is no security boundary.
func WithAllowlist(patterns ...string) Option {
	return func(t *Tool) { t.allowlist = append(t.allowlist, patterns...); t.allowLimited = true }
}

// WithWorkingDirectory is where commands run; the process's own directory by default.
func WithWorkingDirectory(dir string) Option { return func(t *Tool) { t.dir = dir } }

// WithRunner is how commands are launched; [LocalRunner] by default.
func WithRunner(r Runner) Option {
	return func(t *Tool) {
		if r != nil {
			t.runner = r
		}
	}
}

// WithHostRunner launches the commands for which [WithReach] answers [Host].
func WithHostRunner(r Runner) Option { return func(t *Tool) { t.hostRunner = r } }

// ReachFunc tells how far a command may reach. It is asked once for each
// command, after every check of the tool and before the command starts.
type ReachFunc = func(ctx context.Context, command string) Reach

// WithReach lets the application widen the reach of single commands. Nothing
// that the model sends can; without the option everything is [Sandboxed].
func WithReach(fn ReachFunc) Option { return func(t *Tool) { t.reach = fn } }

// RerunFunc is told of a foreground command that failed for what looks like a
// want of reach, and answers how far it may reach when it is run once more. An
// answer that is not wider than what the command had leaves it at the failure.
type RerunFunc = func(ctx context.Context, command string, lack Lack) Reach

// WithRerun lets the application run a command that failed for want of reach
// once more, with more. The failure leaves nothing in the persistent shell then.
func WithRerun(fn RerunFunc) Option { return func(t *Tool) { t.rerun = fn } }

// WithEnvAllowlist passes only the named variables of the process's
// environment, see [DefaultEnvAllowlist]. Repeated options add up.
func WithEnvAllowlist(names ...string) Option {
	return func(t *Tool) { t.envAllowlist = append(t.envAllowlist, names...); t.envLimited = true }
}

// WithEnv adds NAME=value entries to every command's environment. They win
// over inherited variables, and the last of two equal names wins.
func WithEnv(entries ...string) Option {
	return func(t *Tool) { t.env = append(t.env, entries...) }
}

// WithPersistentShell carries the working directory and the exported variables
// from one command to the next. Each command still has its own process; one
// that exits, times out or runs in the background changes nothing.
func WithPersistentShell() Option { return func(t *Tool) { t.persistent = true } }

// WithOutputHandler shows the output of foreground commands while they run.
func WithOutputHandler(fn OutputHandler) Option { return func(t *Tool) { t.handler = fn } }

// SilenceHandler is told that a foreground command has printed nothing since a time.
type SilenceHandler = func(ctx context.Context, since time.Time)

// WithSilenceHandler is called when a foreground command has printed nothing
// for as long as after, once for each silence. Calls for one command come one
// after another, and none begins once the call returned.
func WithSilenceHandler(after time.Duration, fn SilenceHandler) Option {
	return func(t *Tool) { t.silentAfter, t.silence = after, fn }
}

// WithShellsHandler is called with all background shells whenever one starts,
// ends or is forgotten. Calls come one after another; fn must not call
// [Tool.Kill] or [Tool.Close].
func WithShellsHandler(fn func([]ShellInfo)) Option {
	return func(t *Tool) { t.shellsHandler = fn }
}
