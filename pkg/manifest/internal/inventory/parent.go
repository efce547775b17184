// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// CheckpointKey is the data key of the parent Secret that holds Inventory.Checkpoint.
const CheckpointKey = "good"

// A Parent describes the Secret that holds an inventory.
type Parent struct {
	Ref cluster.ObjectRef
	// Set is the ID of the ApplySet.
	Set string
	// Owner is the owner of the bundle, or empty.
	Owner string
	// Origin identifies the owner beyond its name.
	Origin Origin
	// ManagedBy is Identity.ManagedBy of the engine.
	ManagedBy string
}

// format is the version of the inventory format. AnnotationTooling contains the name of the tool followed by this version.
const format = "/v1"

// Secret returns the parent Secret of an inventory. The data is the result of Marshal.
func (p Parent) Secret(inv *Inventory, data []byte) *corev1.Secret {
	s := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Name: p.Ref.Name, Namespace: p.Ref.Namespace,
			Labels: map[string]string{object.LabelApplySetID: p.Set, object.LabelManagedBy: p.ManagedBy},
			Annotations: map[string]string{
				object.AnnotationTooling:            p.ManagedBy + format,
				object.AnnotationContainsGroupKinds: GroupKinds(inv),
				object.AnnotationOwner:              p.Owner,
			},
		},
		Data: map[string][]byte{Key: data},
	}
	p.Origin.annotate(s.Annotations)
	if len(inv.Checkpoint) > 0 {
		s.Data[CheckpointKey] = inv.Checkpoint
	}
	if n := Namespaces(inv, p.Ref.Namespace); n != "" {
		s.Annotations[object.AnnotationAdditionalNamespaces] = n
	}
	return s
}

// desired returns the parent Secret of an inventory as an object to apply.
func (p Parent) desired(inv *Inventory, data []byte) (*object.Desired, error) {
	b, err := json.Marshal(p.Secret(inv, data))
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode inventory")
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(b); err != nil {
		return nil, errors.Wrap(err, "cannot encode inventory")
	}
	o, err := object.New(u, "", object.StageNamespaces)
	return &o, err
}
