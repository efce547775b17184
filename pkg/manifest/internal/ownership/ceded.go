// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"bytes"
	"encoding/base64"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Ceded is a field that the engine leaves to another manager. The engine does not apply it, provided that it no longer owns the
// field; otherwise the API server would remove it. The engine reviews the decision whenever it applies the object for another
// reason. The JSON is part of the inventory.
type Ceded struct {
	// Path is the path of the field, encoded by fieldset.Encode.
	Path string `json:"p"`
	// Manager is the manager that owns the field.
	Manager string `json:"m,omitempty"`
	// Since is the time at which the field was ceded after a contention, in Unix seconds. It is 0 if the manager owns the field
	// legitimately.
	Since int64 `json:"s,omitempty"`
}

// Field returns the path of the field as text for users.
func (c *Ceded) Field() string {
	return fieldset.Text(fieldset.Parse(c.Path))
}

// Contended reports whether the field was ceded after a contention.
func (c *Ceded) Contended() bool {
	return c.Since != 0
}

// retryContended is the time after a contention until the engine tries to own a field again.
const retryContended = time.Hour

// IsDue reports whether the engine must try to own a contended field again.
func (c *Ceded) IsDue(now time.Time) bool {
	return c.Contended() && now.Sub(time.Unix(c.Since, 0)) >= retryContended
}

// Contended returns the fields that stay ceded after a contention because their retry is not due yet.
func Contended(ceded []Ceded, now time.Time) []Ceded {
	var out []Ceded
	for _, c := range ceded {
		if c.Contended() && !c.IsDue(now) {
			out = append(out, c)
		}
	}
	return out
}

// AnyDue reports whether the retry of at least one ceded field is due.
func AnyDue(ceded []Ceded, now time.Time) bool {
	return slices.ContainsFunc(ceded, func(c Ceded) bool { return c.IsDue(now) })
}

// An Autoscaling indicates whether an autoscaler targets an object.
type Autoscaling int

// These are the values of Autoscaling.
const (
	// Unscaled means that no autoscaler targets the object. Autoscaled means that an autoscaler does.
	Unscaled Autoscaling = iota
	Autoscaled
	// UnknownAutoscaling means that the credentials may not list autoscalers.
	UnknownAutoscaling
)

// scale is the subresource that autoscalers write. autoscalerManager is the field manager of the Kubernetes autoscaler.
const (
	scale             = "scale"
	autoscalerManager = "kube-controller-manager"
)

// CededOf returns the fields of an object to cede to other managers: fields that they own by Kubernetes convention, and fields
// that are ceded after a contention. The manager is the field manager of the engine; its own fields are never ceded. CededOf
// calls autoscaled only if the result matters.
func CededOf(
	manager string, o *object.Desired, managed []metav1.ManagedFieldsEntry, contended []Ceded, autoscaled func() (Autoscaling, error),
) ([]Ceded, error) {
	ours := fieldset.Of(fieldset.AppliedBy(manager, managed))
	if ours == nil {
		ours = &fieldpath.Set{}
	}
	var out []Ceded
	want := sync.OnceValue(o.Content)
	for i := range managed {
		m := &managed[i]
		if IsAppliedBy(manager, m) || (m.Subresource != "" && m.Subresource != scale) {
			continue
		}
		theirs := fieldset.Of(m.FieldsV1)
		if theirs == nil {
			continue
		}
		for _, p := range fieldset.All(theirs.Difference(ours).Leaves()) {
			if !mayCede(o, m, p) {
				continue
			}
			v, wanted := fieldset.At(want(), p)
			if !wanted {
				continue
			}
			ok, err := isTheirs(m, p, v, autoscaled)
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, Ceded{Path: fieldset.Encode(p), Manager: m.Manager})
			}
		}
	}
	return appendContended(out, contended, ours), nil
}

// appendContended appends the contended fields, except those that are already ceded and those that the engine owns, because the
// API server would remove the latter.
func appendContended(out, contended []Ceded, ours *fieldpath.Set) []Ceded {
	for _, c := range contended {
		p := fieldset.Parse(c.Path)
		known := slices.ContainsFunc(out, func(x Ceded) bool { return x.Path == c.Path })
		if len(p) > 0 && !known && !ours.Has(p) {
			out = append(out, c)
		}
	}
	return out
}

// mayCede reports whether another manager may own a field legitimately.
func mayCede(o *object.Desired, m *metav1.ManagedFieldsEntry, p fieldpath.Path) bool {
	return m.Subresource == scale || isReplicas(p) || (isCABundle(p) && injected[o.Ref.GroupKind()])
}

// isTheirs reports whether a field belongs to the manager that owns it. This applies to the number of replicas if an autoscaler
// targets the object, and to a CA bundle if the module does not set one. If autoscalers cannot be listed, the name of the manager
// decides.
func isTheirs(m *metav1.ManagedFieldsEntry, p fieldpath.Path, want any, autoscaled func() (Autoscaling, error)) (bool, error) {
	if isCABundle(p) {
		s, ok := want.(string)
		return !ok || isPlaceholder(s), nil
	}
	is, err := autoscaled()
	if is == UnknownAutoscaling {
		return m.Subresource == scale && m.Manager == autoscalerManager, err
	}
	return is == Autoscaled, err
}

func isReplicas(p fieldpath.Path) bool {
	return len(p) == 2 && p[0].FieldName != nil && *p[0].FieldName == "spec" && p[1].FieldName != nil && *p[1].FieldName == "replicas"
}

// isCABundle reports whether a field is a CA bundle.
func isCABundle(p fieldpath.Path) bool {
	last := len(p) - 1
	return last >= 0 && p[last].FieldName != nil && *p[last].FieldName == "caBundle"
}

// injected contains the kinds of the objects into which controllers inject CA bundles.
var injected = map[schema.GroupKind]bool{ //nolint:gochecknoglobals // A constant table.
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}: true,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:   true,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:                           true,
	object.CRDKind: true,
}

// isPlaceholder reports whether a base64-encoded value does not contain a certificate.
func isPlaceholder(s string) bool {
	b, err := base64.StdEncoding.DecodeString(s)
	return err != nil || !bytes.Contains(b, []byte("BEGIN CERTIFICATE"))
}
