// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A yield is a field that is left to somebody else. It is left out of what is applied, but only where it is not ours
// any more: to leave out a field of ours would take it away. It holds until the object is applied for another reason, and
// is then decided anew.
type yield struct {
	// Path as encodePath writes it.
	Path string `json:"p"`
	// Manager that has the field.
	Manager string `json:"m,omitempty"`
	// Since is when a fight about the field was given up, in seconds of Unix; 0 where somebody has it legitimately.
	Since int64 `json:"s,omitempty"`
}

func (y *yield) text() string {
	return fieldset.Text(fieldset.Parse(y.Path))
}

// fought says whether a fight for the field was given up.
func (y *yield) fought() bool {
	return y.Since != 0
}

// yields are the fields of an object as it is that are to be left to others. Of the entry, nil for none, fights are known
// that were given up.
func (w *work) yields(ctx context.Context, o *object.Desired, en *entry, managed []metav1.ManagedFieldsEntry) ([]yield, error) {
	ours := fieldset.Of(fieldset.AppliedBy(object.FieldManager, managed))
	if ours == nil {
		ours = &fieldpath.Set{}
	}
	out, err := w.legitimate(ctx, o, ours, managed)
	if err != nil {
		return nil, err
	}
	for _, y := range w.givenUp(o, en) {
		p := fieldset.Parse(y.Path)
		known := slices.ContainsFunc(out, func(x yield) bool { return x.Path == y.Path })
		if len(p) > 0 && !known && !ours.Has(p) {
			out = append(out, y)
		}
	}
	return out, nil
}

// legitimate are the fields that others took, and that are theirs by the way Kubernetes works.
func (w *work) legitimate(ctx context.Context, o *object.Desired, ours *fieldpath.Set, managed []metav1.ManagedFieldsEntry) ([]yield, error) {
	var out []yield
	var want map[string]any
	for i := range managed {
		m := &managed[i]
		if isOurs(m) || (m.Subresource != "" && m.Subresource != scale) {
			continue
		}
		theirs := fieldset.Of(m.FieldsV1)
		if theirs == nil {
			continue
		}
		for _, p := range fieldset.All(theirs.Difference(ours).Leaves()) {
			if !mayYield(o, m, p) {
				continue
			}
			if want == nil {
				want = o.Content()
			}
			v, wanted := fieldset.At(want, p)
			if !wanted {
				continue
			}
			ok, err := w.belongs(ctx, o, m, p, v)
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, yield{Path: fieldset.Encode(p), Manager: m.Manager})
			}
		}
	}
	return out, nil
}

func isOurs(m *metav1.ManagedFieldsEntry) bool {
	return m.Manager == object.FieldManager && m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == ""
}

// scale is the subresource through which autoscalers write.
const scale = "scale"

// mayYield says whether it has to be asked for whose a field is.
func mayYield(o *object.Desired, m *metav1.ManagedFieldsEntry, p fieldpath.Path) bool {
	return m.Subresource == scale || isReplicas(p) || (isCABundle(p) && injected[o.Ref.GroupKind()])
}

func isReplicas(p fieldpath.Path) bool {
	return len(p) == 2 && p[0].FieldName != nil && *p[0].FieldName == "spec" && p[1].FieldName != nil && *p[1].FieldName == "replicas"
}

func isCABundle(p fieldpath.Path) bool {
	last := len(p) - 1
	return last >= 0 && p[last].FieldName != nil && *p[last].FieldName == "caBundle"
}

// injected are the kinds into which controllers put the certificate of an authority.
var injected = map[schema.GroupKind]bool{ //nolint:gochecknoglobals // A constant table.
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}: true,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:   true,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:                           true,
	object.CRDKind: true,
}

// belongs says whether a field that somebody took is his: the number of replicas where an autoscaler is for the object, and
// the certificate of an authority where what is wanted is none.
func (w *work) belongs(ctx context.Context, o *object.Desired, m *metav1.ManagedFieldsEntry, p fieldpath.Path, want any) (bool, error) {
	if isCABundle(p) {
		s, ok := want.(string)
		return !ok || placeholder(s), nil
	}
	return w.autoscaled(ctx, o, m)
}

// placeholder says whether a certificate in base64 is none.
func placeholder(s string) bool {
	b, err := base64.StdEncoding.DecodeString(s)
	return err != nil || !bytes.Contains(b, []byte("BEGIN CERTIFICATE"))
}

var hpaKind = schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"} //nolint:gochecknoglobals // Constant.

// autoscalerManager is the field manager of the autoscaler of Kubernetes.
const autoscalerManager = "kube-controller-manager"

// autoscalers of namespaces, as far as they were asked for in one call.
type autoscalers struct {
	mu sync.Mutex
	by map[string]map[cluster.ObjectRef]bool
}

// autoscaled says whether a HorizontalPodAutoscaler is for an object. Where that may not be asked, its field manager tells.
func (w *work) autoscaled(ctx context.Context, o *object.Desired, m *metav1.ManagedFieldsEntry) (bool, error) {
	w.hpas.mu.Lock()
	defer w.hpas.mu.Unlock()
	targets, ok := w.hpas.by[o.Ref.Namespace]
	if !ok {
		var err error
		if targets, err = w.targets(ctx, o.Ref.Namespace); err != nil {
			if !kerrors.IsForbidden(err) && !ssa.IsNotServed(err) {
				return false, errors.Wrapf(err, "cannot look for HorizontalPodAutoscalers in namespace %s", o.Ref.Namespace)
			}
			return m.Subresource == scale && m.Manager == autoscalerManager, nil
		}
		if w.hpas.by == nil {
			w.hpas.by = map[string]map[cluster.ObjectRef]bool{}
		}
		w.hpas.by[o.Ref.Namespace] = targets
	}
	return targets[o.Ref], nil
}

// targets of the autoscalers of a namespace.
func (w *work) targets(ctx context.Context, namespace string) (map[cluster.ObjectRef]bool, error) {
	m, err := w.c.Mapping(ctx, hpaKind)
	if err != nil {
		return nil, err
	}
	l := struct {
		Items []struct {
			Spec struct {
				ScaleTargetRef struct {
					APIVersion string `json:"apiVersion"`
					Kind       string `json:"kind"`
					Name       string `json:"name"`
				} `json:"scaleTargetRef"`
			} `json:"spec"`
		} `json:"items"`
	}{}
	if err := w.ListJSON(ctx, hpaKind, m, namespace, nil, &l); err != nil {
		return nil, ssa.Explain(err)
	}
	out := make(map[cluster.ObjectRef]bool, len(l.Items))
	for i := range l.Items {
		ref := &l.Items[i].Spec.ScaleTargetRef
		group, _, found := strings.Cut(ref.APIVersion, "/")
		if !found {
			group = ""
		}
		out[cluster.ObjectRef{Group: group, Kind: ref.Kind, Namespace: namespace, Name: ref.Name}] = true
	}
	return out, nil
}

// yielding is an object without the fields that are left to others.
func (w *work) yielding(ctx context.Context, o *object.Desired, en *entry, managed []metav1.ManagedFieldsEntry) (*object.Desired, []yield, error) {
	if o.Stage == object.StageResource {
		// Its users have all that they set.
		out, err := withoutForeign(o, managed)
		return out, nil, errors.Wrap(err, o.Ref.String())
	}
	ys, err := w.yields(ctx, o, en, managed)
	if err != nil || len(ys) == 0 {
		return o, nil, errors.Wrap(err, o.Ref.String())
	}
	cut := &fieldpath.Set{}
	for i := range ys {
		cut.Insert(fieldset.Parse(ys[i].Path))
	}
	out, err := o.Without(cut)
	return out, ys, errors.Wrap(err, o.Ref.String())
}

// given up fights hold for a while. Then it is tried whether the other one gave up too.
const givenUpFor = time.Hour

// givenUp are the fights about fields of an object that are given up: those of before, and those of which it is enough.
func (w *work) givenUp(o *object.Desired, en *entry) []yield {
	if en == nil || (en.Intent != "" && en.Intent != o.Hash) {
		// What is wanted is another thing now.
		return nil
	}
	var out []yield
	for _, y := range en.Yields {
		if y.fought() && !w.due(&y) {
			out = append(out, y)
		}
	}
	return append(out, w.mem.fights.lost(o.Ref, w.e.now())...)
}

// due says whether a fight that was given up is to be tried again.
func (w *work) due(y *yield) bool {
	return y.fought() && w.e.now().Sub(time.Unix(y.Since, 0)) >= givenUpFor
}

func (w *work) anyDue(en *entry) bool {
	for i := range en.Yields {
		if w.due(&en.Yields[i]) {
			return true
		}
	}
	return false
}
