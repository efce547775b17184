// SPDX-License-Identifier: Apache-2.0

package fieldset_test

import (
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
)

// FuzzParse checks that a path which can be read can be written and read again. The paths of an inventory come from the target
// cluster, and so do the values in which they are looked up.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"f:spec":{"f:replicas":{}}}`, `{"f:a":{"k:{\"name\":\"b\"}":{".":{},"f:c":{}}}}`, `{"f:a":{"v:1":{}}}`, `{"f:a":{"i:0":{}}}`, "{}", "[", `{"x:":{}}`, `{".":{}}`,
	} {
		f.Add(s)
	}
	object := map[string]any{"spec": map[string]any{"replicas": int64(1)}, "a": []any{map[string]any{"name": "b", "c": nil}, int64(1), nil}}
	f.Fuzz(func(t *testing.T, s string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(s))()
		p := fieldset.Parse(s)
		fieldset.At(object, p)
		if text := fieldset.Encode(p); len(p) > 0 && !fieldset.Parse(text).Equals(p) {
			t.Errorf("%q is read as %s, and written as %q", s, fieldset.Text(p), text)
		}
	})
}
