// Package bash is the shell of the agent: three tools for the model (bash,
// bash_output and kill_shell), the runners that launch its commands, and the
// sandbox around them.
//
//	call ─► guard ─► reach ─► Runner.Command ─► start ─► sink ─► Output, or once more with a wider reach
//	                              │               │        ├─ capture: start and end of a call's output
//	          LocalRunner ────────┤               │        ├─ tail: last MiB of a background shell
//	          BubblewrapRunner ───┤               │        └─ stream: the output handler
//	          LandlockRunner ─────┤               └─ wait: exit ► kill leftovers ► reap ► drain
//	          SeatbeltRunner ─────┘
//
// # The end of a command
//
// A command is over when its shell exits, whoever still holds the pipe. What it
// left running in its session (in its process namespace, with bubblewrap) gets a
// tenth of a second to end by itself, is killed then, and named in one line of
// the result. On the host, a process that made a session of its own lives on
// until [Tool.Close], which finds it by a variable in its environment; one that
// also cleared its environment is not found. After kill -9 of this program,
// sandboxed commands die with it; on the host the shell itself does on Linux,
// and what it started lives on.
//
// A timeout, a cancelled context or a kill sends SIGTERM to the process group,
// and SIGKILL 300 ms later. With bubblewrap everything inside is killed at once.
//
// # What the model gets
//
// One pipe takes both streams, so their order is kept. Output is passed on as it
// was written, escape sequences and NUL too; only bytes that are not UTF-8
// become U+FFFD. Whoever shows it on a terminal has to clean it. Lines about the
// end come last: what was killed, "command timed out after …", "exit code: N".
// In a sandbox a signal is the exit code 128+n, as bash says it.
//
// # What carries over
//
// With [WithPersistentShell]: the working directory and the exported variables,
// as bytes. Not functions, aliases, options, traps, umask, limits or the
// attribute of read-only variables, and nothing that starts code in the next
// shell (BASH_ENV and its kind). A command can cd above the working directory,
// and does not move what the policy or the file tools take for it. Parallel
// calls start from one state; of those that changed it the last in call order
// wins (tools.ToolCall.Order).
//
// # How far a command reaches
//
// The runner's sandbox is what every command gets. [WithReach] lets the
// application give one command the network, or the host; [WithRerun] asks it
// when a command failed for what looks like a want of either, and runs it once
// more. Both answers are the person's: no argument of a call changes the reach.
// A failure for want of a path is told from others by looking whether the path
// is there on the host, so the model can learn from it that it is.
//
// # Sandboxes made ahead
//
// To make a sandbox takes bubblewrap several milliseconds, and more with many
// mounts. [Tool.Prepare] makes them before their commands are known. All that is
// missing then is the text on the descriptor from which the shell inside reads.
// Just before it gets that text, the arguments for a sandbox of this moment are
// computed, and compared: with its arguments and environment, and what it shows
// with what bubblewrap would mount now. A command that still runs can change the
// workspace meanwhile, so what is compared are files, not names; a difference
// costs time, nothing else.
//
// # Guards are no boundary
//
// Blocklist, allowlist and safe mode match texts in the command and are easy to
// get around. They stop accidents. The sandbox is the boundary, see
// [BubblewrapRunner]; [LocalRunner] has none.
//
// # What the sandbox leaves open
//
// The workspace is writable: a command can fill the disk, leave any kind of file
// there (as root also a setuid one, so do not run the agent as root), and change
// files that people or tools run later, such as a Makefile, package.json,
// .envrc, .vscode/tasks.json or a hooks manager's scripts. Only the repository's
// config and hooks are protected, see [WithGitProtection]. Whoever runs git on
// the host for the agent still turns hooks, fsmonitor, external diff, textconv
// and pagers off. Memory, processors and the number of processes are not
// limited. Sockets inside the workspace can be reached. With the network, so can
// everything on localhost.
package bash
