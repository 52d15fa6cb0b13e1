// Package file has the tools that read, write and search files: read, write, edit,
// multi_edit, glob and grep.
//
//	path ──resolve──► inside an allowed directory? ──openPlace──► its parent, open
//	read:   place ──► content ──► numbered lines, or an image
//	write:  place ──plan──► Change ──► Preview shows it
//	                          └─commit──► BeforeWrite ──► temporary file ──► unchanged? ──► rename ──► OnWrite
//	search: top ──► folders and files on all processors ──► ignore rules ──► grep: literal, automaton, regexp
//
// # Paths and races
//
// A path is cleaned by its text, then every symlink is followed, also a dangling
// one; what comes out must lie in the working directory or another root, for read, glob
// and grep also in a read-only one; the nearest of them counts. It is opened as it was
// resolved, name by name and by descriptor, and no name on the way may be a link: what
// is swapped in after the check is refused. A search opens its folders the same way and
// enters no linked one. Where names differ only in case, the file system says whether a
// path lies in the working directory; further down a path keeps the spelling that it was
// given, so that the tracker may ask for a read that was done under another one.
//
//   - A hard link cannot be told from its file. Reading shows the file. Writing
//     breaks the link: the other name keeps the old content.
//   - The working directory is taken as resolved when the tool is made. When it is
//     replaced by a link, every call fails; a new directory in its place is used.
//   - A read-only root grants; in the working directory it takes nothing away.
//   - Names are bytes: two spellings of one accented letter are two names, unless the
//     file system says otherwise.
//   - Names that are not UTF-8 are listed with \xNN. JSON cannot carry them, so a
//     read of such a name says that it does not exist.
//   - On systems other than Linux a link that is swapped in during a search may lead
//     it to another folder below its start, never out of it.
//
// # Reading
//
// Lines are counted from 1 and shown without their ends and without a byte order
// mark. The cap counts characters of the text with its line numbers; a line that
// does not fit begins the next page, one that fits on no page is clipped. Text with
// NUL bytes is refused, UTF-16 too. A file above 10 MiB, or the limit, is read as a
// stream, and the tracker knows it by size and time; above 10 MiB its lines are not
// counted. Images are shrunk to what models take, of an animation the first picture is
// shown; a WebP goes as it is, up to 5 MB, as no decoder of it is at hand. The text
// beside an image tells a model that sees none what it misses.
//
// # Writing
//
//   - A new file gets 0644 less the umask, a missing directory 0755 less it. A replaced
//     file keeps its mode, setuid and sticky bits too, its owner, its ACL and its extended
//     attributes. Where a new file cannot be given all of that, or where the file
//     is a mount, it is written in place: that is not atomic, but when it fails the old
//     content is put back. Inode flags (chattr) and birth times are not kept.
//   - A file without write permission is refused, although a rename could replace it;
//     for root, one whose mode has no write bit.
//   - The temporary file is hidden, has a random name that begins with .phero-tmp-, is
//     made exclusively and private. Only a run that is killed leaves one behind.
//   - Between the last comparison and the rename lies no other step of ours; a program
//     that writes just then loses. A new file is linked into place, and never replaces one.
//   - write keeps what no model sees: a file's byte order mark, and its line ends where
//     all of them are "\r\n". Content with a "\r" of its own is taken literally.
//   - write replaces no file above 1 GiB, as the old content is held for the undo.
//   - Which paths are asked about (.git, shell start files and their kind) is the
//     policy's to say; taking changes back is the journal's.
//   - A change that changes nothing is a success of write without a hook call, and an
//     error of the edits.
//
// # Editing
//
// Matching is by bytes, with one exception: a "\n" of old_string stands for "\r\n"
// too, since read shows both alike. What is put in has the line ends of what it
// replaces, line by line; the bytes outside never change. An old_string or new_string
// with a "\r" of its own is taken literally. Nothing else is ever taken as equal: a
// refusal shows the nearest text and says what differs. The result names the lines in
// which the new text begins, so that no read is needed to find it.
//
// # Searching
//
// glob returns the newest files; grep searches in path order and stops when its cap
// is full. glob gives absolute paths; grep repeats its path in every entry, so below the
// working directory it is relative to that. Both results are JSON, which says whether
// something was left out.
//
//   - Rules come from the .gitignore files from the repository's root down, without one
//     from the working directory down; not from .git/info/exclude or the user's own file;
//     and a file that git tracks although it is ignored counts as ignored. A path that is
//     named is searched even if it is ignored; the rules above it do not count then.
//     Links named .gitignore are not read.
//   - A path that would make an entry of grep ambiguous is quoted.
//   - Patterns of glob may not climb with .. after a wildcard, and have linear time,
//     whatever their braces; those of grep are at most 32 KiB long.
//   - A multiline grep passes over files above the limit, and says so with Truncated. A
//     line above 1 MiB is searched in pieces.
//   - Of a directory with more than 200,000 entries a part is held at a time, and it is
//     listed anew for each, so that the memory does not grow with it.
//   - A cancelled search ends soon, and its results are thrown away. Only the sorting of
//     one folder is not cut short.
package file
