package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/phero-agent/agent/tools/regular"
)

// maxFile is how much of a settings file is read, in bytes.
const maxFile = 1 << 20

// layer is one place that settings come from; later ones win.
type layer struct {
	name    string // a file's path; else what stands before a setting's flag or variable
	project bool   // came with the repository
	file    File
	data    []byte         // of a file
	lines   map[string]int // where a file has its settings, and "key[i]" the elements of a list
	source  func(s setting) string
}

// where names the place of a setting, or of an element of its list.
func (l *layer) where(s setting, element int) string {
	if l.source != nil {
		return l.source(s)
	}
	line := l.lines[s.key]
	if at, ok := l.lines[s.key+"["+strconv.Itoa(element)+"]"]; ok {
		line = at
	}
	return fmt.Sprintf("%s:%d", l.name, line)
}

// readFile reads a settings file; nil without an error: there is none.
func readFile(path string, project bool) (*layer, error) {
	data, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	l := &layer{name: path, project: project, data: data, lines: positions(data)}
	if err := l.decode(); err != nil {
		return nil, err
	}
	return l, nil
}

// readRegular reads a file that is one: the repository could have put anything there.
func readRegular(path string) ([]byte, error) {
	data, err := regular.Read(path, maxFile)
	switch {
	case errors.Is(err, regular.ErrNotRegular):
		return nil, fmt.Errorf("%s is no regular file: remove it", path)
	case errors.Is(err, regular.ErrTooLong):
		return nil, fmt.Errorf("%s is larger than 1 MiB: make it smaller", path)
	}
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), err
}

// decode fills the layer's file. Its errors name the line and the setting, all of
// them where names are unknown.
func (l *layer) decode() error {
	dec := toml.NewDecoder(bytes.NewReader(l.data))
	dec.DisallowUnknownFields()
	err := dec.Decode(&l.file)
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		var errs []error
		for i := range unknown.Errors {
			errs = append(errs, l.unknown(&unknown.Errors[i]))
		}
		return errors.Join(errs...)
	case errors.As(err, &wrong):
		line, _ := wrong.Position()
		if s, ok := find(strings.Join(wrong.Key(), ".")); ok && !strings.Contains(wrong.Error(), "already") {
			return fmt.Errorf("%s:%d: %s: %s", l.name, line, s.key, s.wants())
		}
		return fmt.Errorf("%s:%d: %s", l.name, line, strings.TrimPrefix(wrong.Error(), "toml: "))
	case err != nil:
		return fmt.Errorf("%s: %s", l.name, strings.TrimPrefix(err.Error(), "toml: "))
	}
	return errors.Join(l.checkDurations(), l.checkValues())
}

// checkDurations refuses numbers where a duration is meant: the decoder would take
// them for nanoseconds.
func (l *layer) checkDurations() error {
	tree := map[string]any{}
	if err := toml.Unmarshal(l.data, &tree); err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	var errs []error
	var walk func(table string, tree map[string]any)
	walk = func(table string, tree map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			key := strings.TrimPrefix(table+"."+name, ".")
			switch v := tree[name].(type) {
			case map[string]any:
				walk(key, v)
			case int64:
				if s, ok := find(key); ok && s.kind == reflect.TypeFor[Duration]() {
					errs = append(errs, fmt.Errorf("%s:%d: %s: %s", l.name, cmp.Or(l.lines[key], l.lines[table]), key, s.wants()))
				}
			}
		}
	}
	walk("", tree)
	return errors.Join(errs...)
}

func (l *layer) unknown(e *toml.DecodeError) error {
	line, _ := e.Position()
	key := strings.Join(e.Key(), ".")
	text := fmt.Sprintf("%s:%d: there is no setting %q", l.name, line, key)
	if near := nearest(key); near != "" {
		text += fmt.Sprintf("; did you mean %s?", near)
	}
	return errors.New(text)
}

// checkValues holds the settings with few values to them.
func (l *layer) checkValues() error {
	var errs []error
	for _, s := range all() {
		v := s.in(&l.file)
		if s.values() == nil || v.IsNil() {
			continue
		}
		if err := s.check(v.Elem().String()); err != nil {
			errs = append(errs, fmt.Errorf("%s: %s = %w", l.where(s, 0), s.key, err))
		}
	}
	return errors.Join(errs...)
}

// check says whether a setting can have this value.
func (s setting) check(value string) error {
	for _, v := range s.values() {
		if v == value {
			return nil
		}
	}
	return fmt.Errorf("%q: use one of %s", value, strings.Join(s.values(), ", "))
}

// positions finds the lines of settings and of the elements of their lists. What
// cannot be parsed is left out: decode says what is wrong.
func positions(data []byte) map[string]int {
	lines := map[string]int{}
	p := unstable.Parser{}
	p.Reset(data)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			var line int
			table, line = keyOf(&p, e)
			lines[table] = line
			table += "."
		case unstable.KeyValue:
			key, line := keyOf(&p, e)
			key = table + key
			lines[key] = line
			if v := e.Value(); v.Kind == unstable.Array {
				it := v.Children()
				for i := 0; it.Next(); i++ {
					if raw := it.Node().Raw; raw.Length > 0 {
						lines[key+"["+strconv.Itoa(i)+"]"] = p.Shape(raw).Start.Line
					}
				}
			}
		}
	}
	return lines
}

func keyOf(p *unstable.Parser, e *unstable.Node) (key string, line int) {
	var parts []string
	it := e.Key()
	for it.Next() {
		if line == 0 {
			line = p.Shape(it.Node().Raw).Start.Line
		}
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, "."), line
}
