// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

// FuzzModule checks arbitrary modules: errors must be a single line, and the same each time.
func FuzzModule(f *testing.F) {
	const cr = "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w}, spec: {size: 1}}"
	f.Add(widgets, configMap, cr)
	f.Add(gadgets, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{image: a}]}}", cr)
	f.Add(widgets, "a: b: c", "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w}, spec: {size: null, tags: [[]]}}")
	f.Fuzz(func(t *testing.T, crds, raw, cr string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 256 << 20, PerByte: 64 << 10}, len(crds)+len(raw)+len(cr))()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		s := Subject{CRDs: []archive.File{file("crd.yaml", crds)}, Installs: []Install{plain("raw", raw)}}
		if objects, err := yamldoc.Objects([]byte(cr)); err == nil && len(objects) > 0 {
			s.CustomResource = objects[0]
		}
		first, err := Module(ctx, s)
		second, again := Module(ctx, s)
		if (err == nil) != (again == nil) || err != nil && err.Error() != again.Error() {
			t.Errorf("Module(...) of the same subject: %v, then %v", err, again)
		}
		if err != nil {
			if text := err.Error(); text == "" || strings.Contains(text, "\n") {
				t.Errorf("Module(...): want one line, got %q", text)
			}
			return
		}
		if len(first.Warnings) != len(second.Warnings) {
			t.Errorf("Module(...) of the same subject: %d warnings, then %d", len(first.Warnings), len(second.Warnings))
		}
	})
}
