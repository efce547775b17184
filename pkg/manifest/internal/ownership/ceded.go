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

// Contended returns the fields among some ceded ones that stay ceded after a contention: those that are not due yet.
func Contended(ceded []Ceded, now time.Time) []Ceded {
	var out []Ceded
	for _, c := range ceded {
		if c.Contended() && !c.IsDue(now) {
			out = append(out, c)
		}
	}
	return out
}

// AnyDue reports whether the engine should try to own any of some ceded fields again.
func AnyDue(ceded []Ceded, now time.Time) bool {
	return slices.ContainsFunc(ceded, func(c Ceded) bool { return c.IsDue(now) })
}

// An Autoscaling says whether an autoscaler is for an object.
type Autoscaling int

// The answers to whether an autoscaler is for an object.
const (
	// Unscaled and Autoscaled mean that no autoscaler, and that one, is for the object.
	Unscaled Autoscaling = iota
	Autoscaled
	// UnknownAutoscaling means that autoscalers may not be seen.
	UnknownAutoscaling
)

// scale is the subresource through which autoscalers write, and autoscalerManager the field manager of that of Kubernetes.
const (
	scale             = "scale"
	autoscalerManager = "kube-controller-manager"
)

// CededOf returns the fields of an object that are left to the managers that own them: those that others took and own by the way
// Kubernetes works, and those that are ceded after a contention. The manager is that of the engine; what it owns is never ceded.
// Autoscaled is called only if the answer depends on it.
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

// appendContended appends the contended fields that are neither ceded already nor owned by the engine: the API server would remove
// the latter.
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

// mayCede reports whether a field of another manager may be one that the manager owns legitimately.
func mayCede(o *object.Desired, m *metav1.ManagedFieldsEntry, p fieldpath.Path) bool {
	return m.Subresource == scale || isReplicas(p) || (isCABundle(p) && injected[o.Ref.GroupKind()])
}

// isTheirs reports whether a field belongs to the manager that took it: the number of replicas where an autoscaler is for the
// object, and the certificate of an authority where the module sets none. Where autoscalers may not be seen, the manager decides.
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

// isCABundle reports whether a field holds the certificate of an authority.
func isCABundle(p fieldpath.Path) bool {
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

// isPlaceholder reports whether a text in base64 is not a certificate.
func isPlaceholder(s string) bool {
	b, err := base64.StdEncoding.DecodeString(s)
	return err != nil || !bytes.Contains(b, []byte("BEGIN CERTIFICATE"))
}
