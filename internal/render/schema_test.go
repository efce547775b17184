// SPDX-License-Identifier: Apache-2.0

package render

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

func TestSchema(t *testing.T) {
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(`true`))
	}))
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(file, []byte(`true`), 0o600); err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		reason string
		schema string
		child  string
		values map[string]any
		want   string // without the chart
	}{
		"Valid": {
			reason: "Values of the required types are valid.",
			schema: `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"n":{"type":"integer"},"l":{"type":"array"}}}`,
			values: map[string]any{"n": int64(3), "l": []any{}},
		},
		"Type": {
			reason: "The error names the field and both types.",
			schema: `{"properties":{"a":{"properties":{"replicas":{"type":"integer"}}}}}`,
			values: map[string]any{"a": map[string]any{"replicas": "two"}},
			want:   "values: a.replicas: got string, want integer",
		},
		"Several": {
			reason: "All violations are reported in a single line.",
			schema: `{"required":["must"],"additionalProperties":false,"properties":{"child":true,"must":true,"a":true}}`,
			values: map[string]any{"b": 1},
			want:   "values: missing property 'must'; additional properties 'b' not allowed",
		},
		"Order": {
			reason: "Equal values result in equal messages, because each different message would be written to a status.",
			schema: `{"additionalProperties":false,"properties":{"child":true,"a":{"type":"null"},"b":{"type":"null"},"c":{"type":"null"},"d":{"type":"null"}}}`,
			values: map[string]any{"d": 1, "c": 1, "b": 1, "a": 1, "w": 1, "x": 1, "y": 1, "z": 1},
			want: "values: additional properties 'w', 'x', 'y', 'z' not allowed; a: got number, want null; b: got number, want null; " +
				"c: got number, want null; d: got number, want null",
		},
		"Secret": {
			reason: "The error does not contain values.",
			schema: `{"properties":{"password":{"pattern":"^[a-z]+$"}}}`,
			values: map[string]any{"password": "Hunter2"},
			want:   `values: password: does not match pattern "^[a-z]+$"`,
		},
		"Number": {
			reason: "The error does not contain numbers.",
			schema: `{"properties":{"a":{"minimum":3},"b":{"maximum":1.5},"c":{"exclusiveMinimum":3},"d":{"exclusiveMaximum":1},"e":{"multipleOf":2}}}`,
			values: map[string]any{"a": 1, "b": 77, "c": 1, "d": 77, "e": 77},
			want:   "values: a: must be at least 3; b: must be at most 1.5; c: must be more than 3; d: must be less than 1; e: must be a multiple of 2",
		},
		"Child": {
			reason: "Dependencies have schemas of their own.",
			child:  `{"properties":{"x":{"type":"string"}}}`,
			values: map[string]any{"child": map[string]any{"x": 1}},
			want:   "values: child.x: got number, want string",
		},
		"Recursive": {
			reason: "A schema may refer to itself.",
			schema: `{"$ref":"#/definitions/n","definitions":{"n":{"type":"object","additionalProperties":{"anyOf":[{"$ref":"#/definitions/n"},{"type":"number"}]}}}}`,
			values: map[string]any{"a": map[string]any{"b": map[string]any{"c": 1}}},
		},
		"Cycle": {
			reason: "A schema that only refers to itself must not end the process.",
			schema: `{"$ref":"#"}`,
			want:   "values: both /$ref and resolve to \"file:///values.schema.json#\" causing reference cycle",
		},
		"HTTP": {
			reason: "Remote schemas are not downloaded.",
			schema: `{"properties":{"a":{"$ref":"` + srv.URL + `/x.json"}}}`,
			want:   "values.schema.json: the schema refers to " + srv.URL + "/x.json, which is not fetched: include the referenced schema",
		},
		"MetaSchema": {
			reason: "Remote metaschemas are not downloaded.",
			schema: `{"$schema":"` + srv.URL + `/schema"}`,
			want:   "values.schema.json: the schema refers to " + srv.URL + "/schema, which is not fetched",
		},
		"Device": {
			reason: "A schema must not refer to a device (CVE-2025-55199).",
			schema: `{"$ref":"file:///dev/zero"}`,
			want:   "values.schema.json: the schema refers to file:///dev/zero, which is not fetched",
		},
		"Relative": {
			reason: "A schema must not refer to a relative path.",
			schema: `{"$ref":"../` + file + `"}`,
			want:   "values.schema.json: the schema refers to file:///",
		},
		"ID": {
			reason: "An $id does not allow references to files.",
			schema: `{"$id":"` + srv.URL + `/","properties":{"a":{"$ref":"other.json"}}}`,
			want:   "values.schema.json: the schema refers to " + srv.URL + "/other.json, which is not fetched",
		},
		"URN": {
			reason: "An unknown name allows everything, as in Helm.",
			schema: `{"properties":{"a":{"$ref":"urn:example:x"}}}`,
			values: map[string]any{"a": 1},
		},
		"Malformed": {
			reason: "The schema of a dependency must be JSON.",
			child:  `{"type":`,
			want:   "child/values.schema.json: unexpected EOF",
		},
		"WrongKeyword": {
			reason: "A schema must be valid.",
			schema: `{"type":"no-such-type"}`,
			want:   "values.schema.json: ",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files := tree{"Chart.yaml": chartYAML("app")}.with(tree{"Chart.yaml": chartYAML("child")}.below("charts/child"))
			if tc.schema != "" {
				files["values.schema.json"] = tc.schema
			}
			if tc.child != "" {
				files["charts/child/values.schema.json"] = tc.child
			}
			_, err := mustLoad(t, files).Render(t.Context(), Options{ReleaseName: "rel", Values: tc.values})
			got := text(err)
			if tc.want == "" && got != "" {
				t.Errorf("\n%s\nRender(...): %v", tc.reason, err)
			}
			if want := `chart "app": ` + tc.want; tc.want != "" && !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
				t.Errorf("\n%s\nRender(...): want %q, got %q", tc.reason, want, got)
			}
		})
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("a schema caused %d requests", n)
	}
}
