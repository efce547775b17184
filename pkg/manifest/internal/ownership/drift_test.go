// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLostFields(t *testing.T) {
	fields := func(s string) *metav1.FieldsV1 {
		if s == "" {
			return nil
		}
		return &metav1.FieldsV1{Raw: []byte(s)}
	}
	cases := map[string]struct {
		reason        string
		before, after string
		want          []string
	}{
		"Nothing": {reason: "No field was lost.", before: `{"f:data":{"f:a":{}}}`, after: `{"f:data":{"f:a":{}}}`},
		"One":     {reason: "Only leaves are named.", before: `{"f:data":{"f:a":{}}}`, after: `{"f:data":{".":{},"f:a":{},"f:b":{}}}`, want: []string{"data.b"}},
		"All":     {reason: "The engine owned no field before.", after: `{"f:spec":{"f:replicas":{}}}`, want: []string{"spec.replicas"}},
		"List": {
			reason: "List items are named by their key.",
			before: `{"f:spec":{}}`, after: `{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:image":{}}}}}`,
			want: []string{`spec.containers[name="web"].image`},
		},
		"Many": {
			reason: "Only the first fields are named.",
			after:  `{"f:data":{"f:a":{},"f:b":{},"f:c":{},"f:d":{},"f:e":{},"f:f":{},"f:g":{},"f:h":{},"f:i":{},"f:j":{}}}`,
			want:   []string{"data.a", "data.b", "data.c", "data.d", "data.e", "data.f", "data.g", "data.h", "…"},
		},
		"NotOurs": {reason: "There is nothing to compare with.", before: `{"f:data":{}}`},
		"Damaged": {reason: "Malformed fields count as missing.", before: `{`, after: `{"f:data":{"f:a":{}}}`, want: []string{"data.a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Names(Lost(fields(tc.before), fields(tc.after)))); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIsDrift(t *testing.T) {
	cases := map[string]struct {
		reason  string
		changed bool
		ceded   int
		want    bool
	}{
		"Changed":      {reason: "A field was changed.", changed: true, want: true},
		"ChangedCeded": {reason: "Ceded fields do not excuse the change of another field.", changed: true, ceded: 1, want: true},
		"Ceded":        {reason: "Ceded fields are not drift.", ceded: 2},
		"Unexplained":  {reason: "A difference without an explanation is drift.", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsDrift(tc.changed, tc.ceded); got != tc.want {
				t.Errorf("\n%s\nIsDrift(%t, %d): want %t, got %t", tc.reason, tc.changed, tc.ceded, tc.want, got)
			}
		})
	}
}
