package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// File is what one settings file can say; nil where it says nothing. The tags are
// all that is told about a setting, here and in docs/settings.md:
//
//	toml     its name
//	doc      what it does
//	default  its value where nothing is said
//	values   the values that it can have
//	env      the variable that says the same; a list has an element a line
//	flag     the flag that says the same
//	project  what a project's file can do with it: "tighten" counts at once, "no"
//	         never; else it counts after the person trusted the file
type File struct {
	Model    *string   `toml:"model" env:"AGENT_MODEL" flag:"--model" doc:"the model, or provider/model; without it the large model of the provider whose key is set"`
	BaseURL  *string   `toml:"base_url" env:"OPENAI_BASE_URL" flag:"--base-url" doc:"the URL of the model's server, up to and with /v1; it gets OPENAI_API_KEY"`
	Timeout  *Duration `toml:"timeout" default:"30m" flag:"--timeout" doc:"how long a turn may take, as \"90s\" or \"30m\", questions left out; \"0\": no limit"`
	MaxTurns *int      `toml:"max_turns" default:"0" flag:"--max-turns" doc:"how many requests to the model a turn may make; 0: no limit"`

	Permissions struct {
		Mode  *string  `toml:"mode" default:"ask" values:"ask,accept-edits,auto,plan" flag:"--permission-mode" doc:"the permission mode at the start"`
		Allow []string `toml:"allow" flag:"--allow" doc:"rules of calls that run unasked, as \"bash(go test *)\""`
		Ask   []string `toml:"ask" flag:"--ask" project:"tighten" doc:"rules of calls that are always asked"`
		Deny  []string `toml:"deny" flag:"--deny" project:"tighten" doc:"rules of calls that never run, as \"bash(git push *)\""`
	} `toml:"permissions"`

	Sandbox struct {
		Runner      *string  `toml:"runner" default:"auto" values:"auto,bwrap,landlock,none" flag:"--sandbox" doc:"what commands run in; auto takes the best that works here"`
		Network     *bool    `toml:"network" default:"false" flag:"--network" doc:"commands have the network, and with it everything that listens on localhost"`
		NetworkFor  []string `toml:"network_for" env:"AGENT_NETWORK_FOR" flag:"--network-for" doc:"patterns of commands that have the network, as \"npm install *\""`
		AddDirs     []string `toml:"add_dirs" flag:"--add-dir" doc:"directories beside the workspace that tools and commands may read and write; \"~/\" is your home, a relative one of a project's file is in the workspace"`
		ShareCaches *bool    `toml:"share_caches" default:"false" doc:"commands build into your own caches of Go, npm, pip and cargo instead of private ones, and can change them"`
	} `toml:"sandbox"`

	Web struct {
		AllowedHosts []string `toml:"allowed_hosts" doc:"the only hosts that web_fetch may reach, as \"go.dev\" or \"*.go.dev\"; without any, every public one"`
		Proxy        *string  `toml:"proxy" project:"no" doc:"the proxy of web_fetch, which is trusted: no other one is used for it"`
	} `toml:"web"`

	MCP map[string]Server `toml:"mcp" doc:"servers of the Model Context Protocol by their names; what a server's table can say is below"`

	UI struct {
		Theme  *string  `toml:"theme" default:"auto" values:"auto,dark,light,contrast" project:"no" doc:"the colours; auto is dark or light, as the terminal is"`
		Colors []string `toml:"colors" project:"no" doc:"colours of your own over the theme's, as \"accent = #ff8800\": dim, accent, user, ok, fail, warn, add or del; #rrggbb, 0 to 255, a name as bright-blue, bold, dim, italic, underline or plain"`
		Keys   []string `toml:"keys" project:"no" doc:"other keys for what the help (F1) lists, as \"ctrl+s = alt+s\" or, with the place, \"composer ctrl+r = alt+r\"; nothing after the sign takes the key away"`
		Vim    *bool    `toml:"vim" default:"false" project:"no" doc:"the keys of vi in the text: esc leaves the insert mode"`
		Motion *bool    `toml:"motion" default:"true" project:"no" doc:"the spinner turns"`
		Mouse  *bool    `toml:"mouse" default:"true" project:"no" doc:"the mouse scrolls, unfolds and selects here; false leaves it to the terminal"`
		Notify *string  `toml:"notify" default:"auto" values:"auto,bell,osc9,osc777,off" project:"no" doc:"how you are told of a question or a turn's end while the window has not the focus"`
		Plain  *bool    `toml:"plain" default:"false" project:"no" flag:"--plain" doc:"line by line instead of the screen, as for screen readers"`
	} `toml:"ui"`
}

// Duration is a time as "90s" or "1h30m"; "0" is none.
type Duration time.Duration

// UnmarshalText reads the duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// MarshalText writes the duration without its zero parts.
func (d Duration) MarshalText() ([]byte, error) {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return []byte(s), nil
}

// setting is one setting of a File.
type setting struct {
	key   string // as "sandbox.network_for"
	index []int  // of its field
	tag   reflect.StructTag
	kind  reflect.Type // without the pointer
}

// all lists the settings in their order in File.
func all() []setting { return settingsOf(reflect.TypeFor[File](), "", nil) }

func settingsOf(t reflect.Type, prefix string, index []int) (list []setting) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("toml") == "-" {
			continue
		}
		at := append(index[:len(index):len(index)], i)
		key := prefix + f.Tag.Get("toml")
		if f.Type.Kind() == reflect.Struct {
			list = append(list, settingsOf(f.Type, key+".", at)...)
			continue
		}
		kind := f.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		list = append(list, setting{key: key, index: at, tag: f.Tag, kind: kind})
	}
	return list
}

// values are the only values of a setting; nil: any.
func (s setting) values() []string {
	if v := s.tag.Get("values"); v != "" {
		return strings.Split(v, ",")
	}
	return nil
}

// Values are the only values of the setting with the key; nil: any.
func Values(key string) []string {
	s, _ := find(key)
	return s.values()
}

// in is the setting's field of a file.
func (s setting) in(f *File) reflect.Value { return reflect.ValueOf(f).Elem().FieldByIndex(s.index) }

// tomlText is a field's value as a settings file says it.
func tomlText(v reflect.Value) string {
	switch v := reflect.Indirect(v).Interface().(type) {
	case Duration:
		t, _ := v.MarshalText() // cannot fail
		return strconv.Quote(string(t))
	case string:
		return strconv.Quote(v)
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = strconv.Quote(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case map[string]string:
		pairs := make([]string, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			pairs = append(pairs, strconv.Quote(name)+" = "+strconv.Quote(v[name]))
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	default:
		return fmt.Sprint(v) // a number, or true or false
	}
}
