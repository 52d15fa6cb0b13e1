package tools_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/phero-agent/agent/tools"
)

// CORE-15
func TestSchema(t *testing.T) {
	type step struct {
		Text  string `json:"text"`
		State string `json:"state" enum:"open,done"`
	}
	type base struct {
		ID string `json:"id" description:"of the thing"`
	}
	type input struct {
		base
		Path    string            `json:"path" description:"a path"`
		Limit   int               `json:"limit,omitempty"`
		Size    int64             `json:"size,omitzero"`
		Ratio   float64           `json:"ratio,omitempty"`
		Force   bool              `json:"force,omitempty"`
		Numbers *bool             `json:"-n,omitempty"`
		Steps   []step            `json:"steps,omitempty" description:"in order"`
		Env     map[string]string `json:"env,omitempty"`
		Bytes   []byte            `json:"bytes,omitempty"`
		Plain   string
		Hidden  string `json:"-"`
		//lint:ignore SA5008 encoding/json takes this as the name "-"
		Dash    string `json:"-,omitempty"`
		private string
	}
	_ = input{}.private

	got, err := json.MarshalIndent(tools.Schema[input](), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
 "properties": {
  "-": {
   "type": "string"
  },
  "-n": {
   "type": "boolean"
  },
  "Plain": {
   "type": "string"
  },
  "bytes": {
   "type": "string"
  },
  "env": {
   "type": "object"
  },
  "force": {
   "type": "boolean"
  },
  "id": {
   "description": "of the thing",
   "type": "string"
  },
  "limit": {
   "type": "integer"
  },
  "path": {
   "description": "a path",
   "type": "string"
  },
  "ratio": {
   "type": "number"
  },
  "size": {
   "type": "integer"
  },
  "steps": {
   "description": "in order",
   "items": {
    "properties": {
     "state": {
      "enum": [
       "open",
       "done"
      ],
      "type": "string"
     },
     "text": {
      "type": "string"
     }
    },
    "required": [
     "text",
     "state"
    ],
    "type": "object"
   },
   "type": "array"
  }
 },
 "required": [
  "id",
  "path",
  "Plain"
 ],
 "type": "object"
}`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

// CORE-01: a tool without input has an object schema too, with properties, which some servers want.
func TestSchemaOfNothing(t *testing.T) {
	want := map[string]any{"type": "object", "properties": map[string]any{}}
	if d := cmp.Diff(want, tools.Schema[struct{}]()); d != "" {
		t.Error(d)
	}
}
