package tree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/phero-agent/agent/tools/regular"
)

// tracked is what the index of git says of a file.
type tracked struct {
	path         string // from the top of the repository, with slashes
	oid          string // raw bytes
	mtime, ctime int64  // nanoseconds
	ino, size    uint32 // the low bits
}

// clean tells whether a file is as git last saw it, so that its bytes are those of
// the object unless a filter or a change of line ends stands between them.
func (e *tracked) clean(s sig) bool {
	return e.mtime == s.mtime && e.ctime == s.ctime && e.ino == uint32(s.ino) && e.size == uint32(s.size)
}

const maxIndex = 256 << 20 // bytes

// errIndex says that an index is of a kind that is not read here: one that is
// split, or damaged. All files count as untracked then.
var errIndex = errors.New("the index is of an unknown kind")

// readIndex reads the files of an index, by path. hash is the size of an object id.
func readIndex(path string, hash int) ([]tracked, error) {
	data, err := regular.Read(path, maxIndex)
	if err != nil {
		return nil, err
	}
	return parseIndex(data, hash)
}

func parseIndex(data []byte, hash int) ([]tracked, error) {
	const (
		fixed    = 42 // bytes of an entry without the id and the name
		gitLink  = 0o160000
		treeMode = 0o040000
		extended = 0x4000
		stage    = 0x3000
	)
	if len(data) < 12+hash || string(data[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, count := binary.BigEndian.Uint32(data[4:]), int(binary.BigEndian.Uint32(data[8:]))
	if version < 2 || version > 4 || count > len(data)/fixed {
		return nil, errIndex
	}
	all := string(data) // names and ids are parts of it
	u32 := func(at int) uint32 { return binary.BigEndian.Uint32(data[at:]) }
	entries := make([]tracked, 0, count)
	at, last := 12, ""
	for range count {
		name := at + fixed + hash
		if name > len(data)-hash {
			return nil, errIndex
		}
		flags := binary.BigEndian.Uint16(data[name-2:])
		if flags&extended != 0 {
			name += 2
		}
		shared := ""
		if version == 4 {
			drop, n := indexVarint(data[min(name, len(data)):])
			if n == 0 || drop > len(last) {
				return nil, errIndex
			}
			shared, name = last[:len(last)-drop], name+n
		}
		size := bytes.IndexByte(data[min(name, len(data)):], 0)
		if size < 0 {
			return nil, errIndex
		}
		e := tracked{
			path:  all[name : name+size],
			oid:   all[at+40 : at+40+hash],
			ctime: int64(u32(at))*1e9 + int64(u32(at+4)), mtime: int64(u32(at+8))*1e9 + int64(u32(at+12)),
			ino: u32(at + 20), size: u32(at + 36),
		}
		if version == 4 {
			e.path = shared + e.path
		}
		last = e.path
		kind := u32(at+24) & 0o170000
		if kind != gitLink && kind != treeMode && flags&stage == 0 {
			entries = append(entries, e)
		}
		if version == 4 {
			at = name + size + 1
		} else {
			at += (name - at + size + 8) &^ 7
		}
	}
	if splitIndex(data, at, hash) {
		return nil, errIndex
	}
	return entries, nil
}

// splitIndex looks for the extension that says that more entries are in another file.
func splitIndex(data []byte, at, hash int) bool {
	for at+8 <= len(data)-hash {
		if string(data[at:at+4]) == "link" {
			return true
		}
		at += 8 + int(binary.BigEndian.Uint32(data[at+4:]))
	}
	return false
}

// indexVarint reads the variable-length number of an index of version 4.
func indexVarint(b []byte) (value, size int) {
	for i, c := range b[:min(len(b), 5)] {
		if i > 0 {
			value++
		}
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

// find returns what the index says of a path, nil when git does not track it.
func find(index []tracked, path string) *tracked {
	i, ok := slices.BinarySearchFunc(index, path, func(e tracked, p string) int { return strings.Compare(e.path, p) })
	if !ok {
		return nil
	}
	return &index[i]
}

// directories are all that tracked files are in, with a slash at the end.
func directories(index []tracked) map[string]bool {
	dirs := map[string]bool{}
	for i := range index {
		p := index[i].path
		for n := strings.LastIndexByte(p, '/'); n >= 0 && !dirs[p[:n+1]]; n = strings.LastIndexByte(p[:n], '/') {
			dirs[p[:n+1]] = true
		}
	}
	return dirs
}
