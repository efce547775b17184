// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// mostFields are named of one drifted object.
const mostFields = 8

// lostFields are those that we own now, after a repair, and did not own before it: what somebody else had changed or
// removed. Only paths are looked at, so that no value can leak.
func lostFields(before, after *metav1.FieldsV1) []string {
	b, a := fieldSet(before), fieldSet(after)
	if a == nil {
		return nil
	}
	if b != nil {
		a = a.Difference(b)
	}
	var out []string
	a.Leaves().Iterate(func(p fieldpath.Path) {
		if len(out) <= mostFields {
			out = append(out, strings.TrimPrefix(p.String(), "."))
		}
	})
	if len(out) > mostFields {
		out[mostFields] = "…"
	}
	return out
}

func fieldSet(f *metav1.FieldsV1) *fieldpath.Set {
	if f == nil {
		return nil
	}
	s := &fieldpath.Set{}
	if err := s.FromJSON(bytes.NewReader(f.GetRawBytes())); err != nil {
		return nil
	}
	return s
}
