// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"encoding/hex"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A Use describes a CRD of another owner when it was last compared with that of the bundle.
type Use struct {
	// Content is the hash of the CRD: cluster.ObjectState.Content as hexadecimal text.
	Content string `json:"c"`
	// Owner is the ID of the ApplySet that owns the CRD, or empty if none does.
	Owner string `json:"o,omitempty"`
}

// UseOf returns the use of a CRD in a state.
func UseOf(s cluster.ObjectState) *Use {
	return &Use{Content: hex.EncodeToString(s.Content[:]), Owner: s.Set}
}

// Covers reports whether a CRD has the content and the owner with which it was compared.
func (u *Use) Covers(s cluster.ObjectState) bool { return *u == *UseOf(s) }

// IsUsed reports whether the object is a CRD of another owner, which the bundle uses.
func (e *Entry) IsUsed() bool { return e.Use != nil }

// AppliedUID returns the UID of the object that the bundle applied, or an empty string if it has not applied it.
func (e *Entry) AppliedUID() string {
	if e.IsUsed() {
		return ""
	}
	return e.UID
}
