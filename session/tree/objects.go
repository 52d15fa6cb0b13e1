package tree

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/phero-agent/agent/tools/regular"
)

// objects reads contents from the object stores of a repository: loose ones and
// packs, also of the repositories that it borrows from. No git is run for it: its
// settings can name programs.
type objects struct {
	hash  int
	dirs  []string
	packs []*pack // opened when the first object is not loose
	open  bool
}

// pack is a pack with its index, version 2.
type pack struct {
	data, index *os.File
	count       int64
}

var (
	errNoObject = errors.New("its content is not in the repository any more")
	errPack     = errors.New("a pack of the repository is damaged, or of an unknown kind")
	errLarge    = errors.New("too large")
)

func newObjects(common string, hash int) *objects {
	o := &objects{hash: hash}
	o.borrow(filepath.Join(common, "objects"), 5)
	return o
}

// borrow adds a store, and those that it names as alternates.
func (o *objects) borrow(dir string, depth int) {
	o.dirs = append(o.dirs, dir)
	text, err := regular.Read(filepath.Join(dir, "info", "alternates"), maxSettings)
	if err != nil || depth == 0 {
		return
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && line[0] != '#' {
			o.borrow(absolute(line, dir), depth-1)
		}
	}
}

func (o *objects) close() {
	for _, p := range o.packs {
		p.data.Close()
		p.index.Close()
	}
}

// read returns the content of an object, given by its id in raw bytes, whatever its kind.
func (o *objects) read(oid string) ([]byte, error) { return o.readBelow(oid, 0) }

// readBelow is read for the base of a delta, so deep in its chain.
func (o *objects) readBelow(oid string, depth int) ([]byte, error) {
	data, err := o.loose(oid)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	if !o.open {
		o.open = true
		for _, dir := range o.dirs {
			indexes, _ := filepath.Glob(filepath.Join(dir, "pack", "*.idx"))
			for _, path := range indexes {
				o.openPack(path)
			}
		}
	}
	for _, p := range o.packs {
		if at, ok := p.find(oid, o.hash); ok {
			return o.entry(p, at, depth)
		}
	}
	return nil, errNoObject
}

func (o *objects) loose(oid string) ([]byte, error) {
	name := hex.EncodeToString([]byte(oid))
	for _, dir := range o.dirs {
		f, err := regular.Open(filepath.Join(dir, name[:2], name[2:]))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		data, err := inflate(f, maxHashed+32)
		if err != nil {
			return nil, err
		}
		_, content, ok := bytes.Cut(data, []byte{0})
		if !ok {
			return nil, errPack
		}
		return content, nil
	}
	return nil, fs.ErrNotExist
}

func inflate(r io.Reader, limit int64) ([]byte, error) {
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errLarge
	}
	return data, err
}

func (o *objects) openPack(path string) {
	index, err := regular.Open(path)
	if err != nil {
		return
	}
	data, err := regular.Open(strings.TrimSuffix(path, ".idx") + ".pack")
	if err != nil {
		index.Close()
		return
	}
	p := &pack{data: data, index: index}
	head := make([]byte, 8)
	if _, err := index.ReadAt(head, 0); err != nil || string(head) != "\xfftOc\x00\x00\x00\x02" {
		data.Close()
		index.Close()
		return
	}
	p.count = p.number(8+255*4, 4)
	o.packs = append(o.packs, p)
}

// number reads an unsigned number of the index; a wrong one finds no object.
func (p *pack) number(at int64, size int) int64 {
	b := make([]byte, 8)
	if _, err := p.index.ReadAt(b[8-size:], at); err != nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

// find is where in the pack an object is.
func (p *pack) find(oid string, hash int) (int64, bool) {
	const names = 8 + 256*4
	low := int64(0)
	if oid[0] > 0 {
		low = p.number(8+int64(oid[0]-1)*4, 4)
	}
	high := p.number(8+int64(oid[0])*4, 4)
	if low > high || high > p.count {
		return 0, false
	}
	name := make([]byte, hash)
	at := func(i int64) string {
		if _, err := p.index.ReadAt(name, names+i*int64(hash)); err != nil {
			return ""
		}
		return string(name)
	}
	i := low + int64(sort.Search(int(high-low), func(i int) bool { return at(low+int64(i)) >= oid }))
	if i >= high || at(i) != oid {
		return 0, false
	}
	offsets := names + p.count*int64(hash+4)
	offset := p.number(offsets+i*4, 4)
	if offset&(1<<31) != 0 {
		offset = p.number(offsets+p.count*4+(offset&^(1<<31))*8, 8)
	}
	return offset, true
}

const (
	offsetDelta = 6
	nameDelta   = 7
	deltasMost  = 4096 // in a chain
)

// entry reads what is at a place of a pack, put together where it is a delta.
func (o *objects) entry(p *pack, at int64, depth int) (data []byte, err error) {
	if depth > deltasMost || at < 0 {
		return nil, errPack
	}
	r := bufio.NewReader(io.NewSectionReader(p.data, at, 1<<62))
	kind, size, err := readHead(r)
	if err != nil {
		return nil, err
	}
	if size > maxHashed {
		return nil, errLarge
	}
	var base []byte
	switch kind {
	case offsetDelta:
		back, err := readOffset(r)
		if err != nil || back <= 0 {
			return nil, errPack
		}
		base, err = o.entry(p, at-back, depth+1)
		if err != nil {
			return nil, err
		}
	case nameDelta:
		name := make([]byte, o.hash)
		if _, err := io.ReadFull(r, name); err != nil {
			return nil, err
		}
		if base, err = o.readBelow(string(name), depth+1); err != nil {
			return nil, err
		}
	}
	if data, err = inflate(r, size); err != nil {
		return nil, fmt.Errorf("%w: %w", errPack, err)
	}
	if base != nil {
		return applyDelta(base, data)
	}
	return data, nil
}

// readHead reads what an entry of a pack begins with: its kind, and its size when inflated.
func readHead(r *bufio.Reader) (kind byte, size int64, err error) {
	b, err := r.ReadByte()
	if err != nil {
		return 0, 0, err
	}
	kind, size = b>>4&7, int64(b&15)
	for shift := 4; b&0x80 != 0; shift += 7 {
		if b, err = r.ReadByte(); err != nil || shift > 56 {
			return 0, 0, errPack
		}
		size |= int64(b&0x7f) << shift
	}
	return kind, size, nil
}

func readOffset(r *bufio.Reader) (int64, error) {
	b, err := r.ReadByte()
	n := int64(b & 0x7f)
	for err == nil && b&0x80 != 0 && n < 1<<48 {
		b, err = r.ReadByte()
		n = (n+1)<<7 | int64(b&0x7f)
	}
	return n, err
}

// applyDelta makes a content from another one and what is different.
func applyDelta(base, delta []byte) ([]byte, error) {
	from, delta, ok := deltaSize(delta)
	size, delta, ok2 := deltaSize(delta)
	if !ok || !ok2 || from != uint64(len(base)) || size > maxHashed {
		return nil, errPack
	}
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 { // literal bytes
			if op == 0 || int(op) > len(delta) {
				return nil, errPack
			}
			out = append(out, delta[:op]...)
			delta = delta[op:]
			continue
		}
		var args [7]uint64
		for i := range args {
			if op&(1<<i) == 0 {
				continue
			}
			if len(delta) == 0 {
				return nil, errPack
			}
			args[i] = uint64(delta[0])
			delta = delta[1:]
		}
		at := args[0] | args[1]<<8 | args[2]<<16 | args[3]<<24
		n := args[4] | args[5]<<8 | args[6]<<16
		if n == 0 {
			n = 1 << 16
		}
		if at+n > uint64(len(base)) || uint64(len(out))+n > size {
			return nil, errPack
		}
		out = append(out, base[at:at+n]...)
	}
	if uint64(len(out)) != size {
		return nil, errPack
	}
	return out, nil
}

func deltaSize(b []byte) (n uint64, rest []byte, ok bool) {
	for i, c := range b[:min(len(b), 9)] {
		n |= uint64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return n, b[i+1:], true
		}
	}
	return 0, nil, false
}
