// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"bytes"
	"encoding/base64"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Ceded field is left to another manager. It is not applied, provided that the engine does not own it any more: otherwise
// the API server would remove it. The decision holds until the object is applied for another reason, and is then made again.
// The JSON is part of the inventory.
type Ceded struct {
	// Path as fieldset.Encode writes it.
	Path string `json:"p"`
	// Manager that owns the field.
	Manager string `json:"m,omitempty"`
	// Since is when the field was ceded after a contention, in Unix seconds; 0 where the manager owns it legitimately.
	Since int64 `json:"s,omitempty"`
}

// Field returns the path of the field as users read it.
func (c *Ceded) Field() string {
	return fieldset.Text(fieldset.Parse(c.Path))
}

// Contended reports whether the field was ceded after a contention.
func (c *Ceded) Contended() bool {
	return c.Since != 0
}

// retryContended is how long after a contention the engine tries to own a field again.
const retryContended = time.Hour

// IsDue reports whether the engine should try to own a contended field again.
func (c *Ceded) IsDue(now time.Time) bool {
	return c.Contended() && now.Sub(time.Unix(c.Since, 0)) >= retryContended
}

// AnyDue reports whether the engine should try to own any of some ceded fields again.
func AnyDue(ceded []Ceded, now time.Time) bool {
	return slices.ContainsFunc(ceded, func(c Ceded) bool { return c.IsDue(now) })
}

// Scale is the subresource through which autoscalers write.
const Scale = "scale"

// MayCede reports whether a field of another manager may be one that the manager owns legitimately.
func MayCede(o *object.Desired, m *metav1.ManagedFieldsEntry, p fieldpath.Path) bool {
	return m.Subresource == Scale || isReplicas(p) || (IsCABundle(p) && injected[o.Ref.GroupKind()])
}

func isReplicas(p fieldpath.Path) bool {
	return len(p) == 2 && p[0].FieldName != nil && *p[0].FieldName == "spec" && p[1].FieldName != nil && *p[1].FieldName == "replicas"
}

// IsCABundle reports whether a field holds the certificate of an authority.
func IsCABundle(p fieldpath.Path) bool {
	last := len(p) - 1
	return last >= 0 && p[last].FieldName != nil && *p[last].FieldName == "caBundle"
}

// injected are the kinds into which controllers inject the certificate of an authority.
var injected = map[schema.GroupKind]bool{ //nolint:gochecknoglobals // A constant table.
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}: true,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:   true,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:                           true,
	object.CRDKind: true,
}

// IsPlaceholder reports whether a text in base64 is not a certificate.
func IsPlaceholder(s string) bool {
	b, err := base64.StdEncoding.DecodeString(s)
	return err != nil || !bytes.Contains(b, []byte("BEGIN CERTIFICATE"))
}
