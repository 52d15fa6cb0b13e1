// Package permissions decides, before a tool call runs, whether it may: it is
// allowed, denied, or asked of a person.
//
//	arguments ──► call (subject.go): what the call touches
//	                bash: a line → simple commands, or opaque (command.go, guard.go)
//	                files: a path, resolved and as written (path.go)
//	call ──► Trace (decide.go): deny rules → plan mode → ask rules → the mode
//	           → run grants, always answers, allow rules, the read-only list → the default
//	Trace ──► run, fail with a DeniedError, or ask a person (ask.go)
//
// # Rules
//
// A rule is a tool's name and, in parentheses, a pattern of its subject:
// "read", "bash(go test *)". A * matches any run of characters, also none;
// nothing else is special. "mcp_<server>_*" names every tool of one MCP server.
// The order in which rules are given does not matter: deny beats ask beats
// allow beats the default.
//
// # Command lines
//
// Each simple command of a bash line is decided on its own, and the line is as
// bad as the worst of them. Allow rules match a command's text as written,
// single-spaced, without comments and without redirections that write no file.
// Assignments before a command are matched only by a rule that spells them
// ("bash(CGO_ENABLED=0 go test *)"). Deny and ask rules also match the text
// with its arguments unquoted and without its assignments.
//
// A line is opaque when what bash would run cannot be told from its text: it
// does not parse, substitutes, calculates, sets variables, defines functions,
// writes a file, or names a command by something else than a plain word. An
// opaque line is asked whatever allow rule or default matches it; only an always
// answer to exactly that line, or a mode that runs everything, lets it run.
//
// Rules on bash are advice, not a wall: what an allowed command starts is not
// seen here, and command strings handed to builtins and programs (trap, eval,
// find -exec, xargs, ssh, make) are arguments like any other: an allow rule for
// them allows what they run. The sandbox is the wall. Only a tool named bash is
// read as command lines.
//
// # Paths
//
// Paths are matched as the file tools open them: absolute, cleaned, symlinks
// resolved, at each decision. Deny and ask rules match the path as written,
// too. A pattern that begins with * matches any path that ends so. No case or
// Unicode folding is done, also on disks that fold. Between decision and call a
// link can be swapped: then the tool's own check of the workspace holds, not a
// deny rule. Other subjects are plain text: "web_fetch(https://go.dev*)", without
// the slash, also matches https://go.dev.evil.example/.
package permissions
