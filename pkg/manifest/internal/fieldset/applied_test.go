// SPDX-License-Identifier: Apache-2.0

package fieldset

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestHash(t *testing.T) {
	const manager = "provider-kyma"
	entry := func(name, op, sub, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: name, Operation: metav1.ManagedFieldsOperationType(op), Subresource: sub, FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)},
		}
	}
	ours := entry(manager, "Apply", "", `{"f:a":{},"f:b":{"f:c":{}}}`)
	base := Hash(AppliedBy(manager, []metav1.ManagedFieldsEntry{ours}))
	cases := map[string]struct {
		reason  string
		managed []metav1.ManagedFieldsEntry
		same    bool
	}{
		"Order":    {reason: "The order of keys does not matter.", managed: []metav1.ManagedFieldsEntry{entry(manager, "Apply", "", `{"f:b":{ "f:c":{} },"f:a":{}}`)}, same: true},
		"Others":   {reason: "Fields of other managers do not matter.", managed: []metav1.ManagedFieldsEntry{entry("x", "Update", "", `{"f:d":{}}`), ours, entry(manager, "Update", "", `{"f:e":{}}`), entry(manager, "Apply", "status", `{"f:e":{}}`)}, same: true},
		"Lost":     {reason: "A field that was taken or removed is drift.", managed: []metav1.ManagedFieldsEntry{entry(manager, "Apply", "", `{"f:a":{}}`)}},
		"All":      {reason: "The loss of all fields is drift.", managed: []metav1.ManagedFieldsEntry{entry("x", "Update", "", `{"f:a":{}}`)}},
		"Damaged":  {reason: "Fields that cannot be read are not the same.", managed: []metav1.ManagedFieldsEntry{entry(manager, "Apply", "", `{`)}},
		"NoFields": {reason: "An entry without fields owns nothing.", managed: []metav1.ManagedFieldsEntry{{Manager: manager, Operation: "Apply"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Hash(AppliedBy(manager, tc.managed)) == base; got != tc.same || base == "" {
				t.Errorf("\n%s\nsame: want %v, got %v", tc.reason, tc.same, got)
			}
		})
	}
}
