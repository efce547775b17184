// SPDX-License-Identifier: Apache-2.0

package fieldset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AppliedBy returns the fields that a manager owns by server-side apply, or nil if there are none.
func AppliedBy(manager string, managed []metav1.ManagedFieldsEntry) *metav1.FieldsV1 {
	for i := range managed {
		e := &managed[i]
		if e.Manager == manager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "" {
			return e.FieldsV1
		}
	}
	return nil
}

// Hash returns a hash of fields, or an empty string if there are none. It does not depend on the order of the fields, which
// differs between servers and decoders.
func Hash(f *metav1.FieldsV1) string {
	if f == nil {
		return ""
	}
	var fields any
	if err := json.Unmarshal(f.GetRawBytes(), &fields); err != nil {
		return ""
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
