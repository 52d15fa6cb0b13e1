// Package tree finds what changed in a workspace between two moments, with the
// contents that were there before. So what a command did can be taken back (UNDO-09).
//
//	Scan ──► folders: lstat of every file, against the last scan ──► deltas
//	                                                                   │
//	   index of git: which files hold the bytes of an object  ◄── contents ──► keep: blobs
//	                                                                   │
//	                                         Change: before, after ◄───┴──► Lost: not kept
//
// A scan lists a directory again only when its times changed, and reads a file only
// when what lstat tells of it did. Of a file whose bytes are those of an object of
// git nothing is kept until it changes; of every other file, dirty or untracked, the
// content is kept beforehand, up to [MaxKept] each and [MaxKeptInAll] together.
//
// Not covered: what git ignores and does not track, node_modules, .git and .phero,
// devices, sockets and FIFOs, owners, extended attributes, times, and that two names
// are one file. Git is never run: its index and its objects are read here. Where they
// are of a kind that is not known, as a split index, all files count as untracked.
package tree
