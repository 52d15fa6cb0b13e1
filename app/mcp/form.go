package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/phero-agent/agent/tools/human"
)

// maxFields is how many things a form can ask for, and how many choices one of
// them can have.
const (
	maxFields  = 20
	maxChoices = 50
)

// field is one thing that a form asks for.
type field struct {
	name     string
	kind     string // "string", "number", "integer", "boolean" or "array"
	words    string // the server's
	required bool
	options  []option
	preset   []string // the values that the server proposes
	check    func(value any) error
}

type option struct{ value, label string }

// fieldsOf reads the schema of a form: one level of simple values.
func fieldsOf(schema any) ([]field, error) {
	if schema == nil {
		return nil, nil
	}
	var form struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	data, err := json.Marshal(schema)
	if err == nil {
		err = json.Unmarshal(data, &form)
	}
	if err != nil {
		return nil, fmt.Errorf("the form cannot be read: %w", err)
	}
	if len(form.Properties) > maxFields {
		return nil, fmt.Errorf("the form asks for %d things: at most %d are put to a person", len(form.Properties), maxFields)
	}
	var fields []field
	for name, raw := range form.Properties {
		if name == "" || len(name) > maxText || name != plain(name) {
			return nil, fmt.Errorf("the name %.60q of a field is none that can be shown", name)
		}
		f, err := fieldOf(name, raw)
		if err != nil {
			return nil, err
		}
		f.required = slices.Contains(form.Required, name)
		fields = append(fields, f)
	}
	slices.SortFunc(fields, func(a, b field) int { // required ones first
		if a.required != b.required {
			if a.required {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	return fields, nil
}

// choices are the ways in which a schema lists values with their labels.
type choices struct {
	Enum         []string `json:"enum"`
	EnumNames    []string `json:"enumNames"`
	OneOf, AnyOf []struct {
		Const string `json:"const"`
		Title string `json:"title"`
	}
}

func fieldOf(name string, raw json.RawMessage) (field, error) {
	var p struct {
		Type        string `json:"type"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Default     any    `json:"default"`
		Items       choices
		choices
	}
	wrong := func(err error) (field, error) {
		return field{}, fmt.Errorf("the field %q of the form cannot be read: %w", name, err)
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return wrong(err)
	}
	f := field{name: name, kind: p.Type, words: strings.TrimSpace(p.Title + "\n" + p.Description), preset: presets(p.Default)}
	list := p.choices
	if p.Type == "array" {
		list = p.Items
	}
	if f.options = list.options(); len(f.options) > maxChoices {
		return wrong(fmt.Errorf("it has more than %d choices", maxChoices))
	}
	if p.Type == "boolean" {
		f.options = []option{{"true", answerYes}, {"false", answerNo}}
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return wrong(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return wrong(err)
	}
	f.check = resolved.Validate
	return f, nil
}

func (c choices) options() (list []option) {
	for i, value := range c.Enum {
		o := option{value, value}
		if i < len(c.EnumNames) {
			o.label = c.EnumNames[i]
		}
		list = append(list, o)
	}
	for _, one := range append(c.OneOf, c.AnyOf...) {
		list = append(list, option{one.Const, one.Title})
	}
	seen := map[string]bool{leaveOut: true}
	for i, o := range list {
		if o.label == "" || seen[o.label] { // one label, one value
			list[i].label = o.value
		}
		seen[list[i].label] = true
	}
	return list
}

// presets are the values of a default as a person would give them.
func presets(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		var all []string
		for _, one := range v {
			all = append(all, presets(one)...)
		}
		return all
	case float64:
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}
	}
	return []string{fmt.Sprint(v)}
}

// question is the field as the person sees it: the server's message, and what it
// says of the field.
func (f field) question(message string) human.Question {
	text := message + "\n\n" + f.name
	if words := limited(f.words); words != "" {
		text += ": " + words
	}
	switch f.kind {
	case "number", "integer":
		text += " (a number)"
	case "array":
		text += " (any of these)"
	}
	q := human.Question{Header: f.name, Question: text, MultiSelect: f.kind == "array"}
	for _, o := range f.options {
		c := human.Choice{Label: o.label}
		if o.value != o.label && f.kind != "boolean" {
			c.Description = o.value
		}
		if slices.Contains(f.preset, o.value) {
			c.Description = strings.TrimPrefix(c.Description+", the default", ", ")
		}
		q.Options = append(q.Options, c)
	}
	if len(f.options) == 0 && len(f.preset) == 1 && f.preset[0] != "" {
		q.Options = append(q.Options, human.Choice{Label: f.preset[0], Description: "the default"})
	}
	if !f.required {
		q.Options = append(q.Options, human.Choice{Label: leaveOut, Description: "it is not needed"})
	}
	return q
}

// value is what the person's answer is for the server; given is false where it is
// left out. The error says what the answer must be.
func (f field) value(a human.Answer) (value any, given bool, err error) {
	if !f.required && slices.Contains(a.Selections, leaveOut) {
		return nil, false, nil
	}
	value, err = f.parse(a)
	if err == nil && f.check != nil {
		if wrong := f.check(value); wrong != nil {
			err = fmt.Errorf("%s does not fit: %s", f.name, plain(firstLine(wrong.Error())))
		}
	}
	return value, true, err
}

func (f field) parse(a human.Answer) (any, error) {
	text := a.Other
	if len(f.options) == 0 && len(a.Selections) > 0 { // the default
		text = a.Selections[0]
	}
	chosen := []string{}
	for _, said := range append(slices.Clone(a.Selections), a.Other) {
		if i := slices.IndexFunc(f.options, func(o option) bool { return o.label == said || strings.EqualFold(o.label, said) || o.value == said }); i >= 0 {
			chosen = append(chosen, f.options[i].value)
		} else if said != "" && len(f.options) > 0 {
			return nil, fmt.Errorf("%s must be one of the choices", f.name)
		}
	}
	if f.kind == "array" {
		return chosen, nil
	}
	if len(f.options) > 0 {
		if len(chosen) == 0 {
			return nil, fmt.Errorf("%s must be one of the choices", f.name)
		}
		text = chosen[0]
	}
	switch f.kind {
	case "boolean":
		return text == "true", nil
	case "integer":
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 53)
		if err != nil {
			return nil, fmt.Errorf("%s must be a whole number", f.name)
		}
		return float64(n), nil
	case "number":
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || n-n != 0 {
			return nil, fmt.Errorf("%s must be a number", f.name)
		}
		return n, nil
	}
	return text, nil
}
