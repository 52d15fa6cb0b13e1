// Package text makes strings safe and fitting for the screen.
//
//	bytes of a command ──► Writer ──► the last lines, cells and colours as a terminal shows them
//	text of a model    ──► Cleaner ─► the same text without anything that drives a terminal
//	text of a tool     ──► Clean, CleanColor, Line
//	what is approved   ──► Visible ─► every odd character shown as a sign
//	a styled line      ──► Width, Pad, Truncate, Cut, Wrap: measured in cells, never in bytes
//
// Widths are those of grapheme clusters. The only escape sequence that any
// function returns is SGR (colours and attributes), and every line that is
// returned ends in the state in which it began: lines can be cut, dropped and
// joined freely.
package text
