// Package bash is the shell of the agent: three tools for the model (bash,
// bash_output and kill_shell), the runners that launch its commands, and the
// sandbox around them.
//
//	call ─► guard ─► reach ─► Runner.Command ─► start ─► sink ─► Output
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
// A timeout or a cancelled context sends SIGTERM to the process group, and
// SIGKILL 300 ms later.
//
// # What the model gets
//
// One pipe takes both streams, so their order is kept. Output is passed on as it
// was written, escape sequences and NUL too; only bytes that are not UTF-8
// become U+FFFD. Whoever shows it on a terminal has to clean it. Lines about the
// end come last: what was killed, "command timed out after …", "exit code: N".
// In a sandbox a signal is the exit code 128+n, as bash says it.
//
// # Guards are no boundary
//
// Blocklist, allowlist and safe mode match texts in the command and are easy to
// get around. They stop accidents. The sandbox is the boundary, see
// [BubblewrapRunner]; [LocalRunner] has none.
package bash
