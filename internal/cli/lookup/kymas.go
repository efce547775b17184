// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// Labels by which Crossplane says what an object is composed by.
const (
	labelComposite      = "crossplane.io/composite"
	labelClaimName      = "crossplane.io/claim-name"
	labelClaimNamespace = "crossplane.io/claim-namespace"
)

// KymaName returns the name of a Kyma: the only one of the namespace where name is empty.
func KymaName(ctx context.Context, c client.Reader, namespace, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	names, err := KymaNames(ctx, c, namespace)
	if err != nil {
		return "", err
	}
	switch len(names) {
	case 1:
		return names[0], nil
	case 0:
		return "", command.NotFoundf("there is no Kyma in namespace %s: use --namespace, or make one with 'kymactl deploy'", namespace)
	default:
		return "", command.Usagef("there are several Kymas in namespace %s, name one of them: %s", namespace, strings.Join(names, ", "))
	}
}

// KymaNames returns the sorted names of the Kymas of a namespace.
func KymaNames(ctx context.Context, c client.Reader, namespace string) ([]string, error) {
	l := &v1alpha1.KymaList{}
	if err := c.List(ctx, l, client.InNamespace(namespace)); err != nil {
		return nil, Explain(err, "list the Kymas of namespace "+namespace)
	}
	out := make([]string, 0, len(l.Items))
	for i := range l.Items {
		out = append(out, l.Items[i].Name)
	}
	slices.Sort(out)
	return out, nil
}

// Kyma gets a Kyma of a namespace by name: the only one where name is empty.
func Kyma(ctx context.Context, c client.Reader, namespace, name string) (*v1alpha1.Kyma, error) {
	name, err := KymaName(ctx, c, namespace, name)
	if err != nil {
		return nil, err
	}
	k := &v1alpha1.Kyma{}
	if err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, k); err != nil {
		return nil, ExplainGet(err, namespace, name)
	}
	return k, nil
}

// ExplainGet explains why a Kyma could not be read.
func ExplainGet(err error, namespace, name string) error {
	if notfound.Is(err) {
		return NoKyma(namespace, name)
	}
	return Explain(err, "get Kyma "+namespace+"/"+name)
}

// NoKyma is the error for a Kyma that does not exist.
func NoKyma(namespace, name string) error {
	return command.NotFoundf("there is no Kyma %s in namespace %s: use --namespace, or make it with 'kymactl deploy'", name, namespace)
}

// Explain says what could not be done, and why. A control plane without our kinds has nothing that could be found.
func Explain(err error, what string) error {
	if kmeta.IsNoMatchError(err) {
		return command.NotFoundf("cannot %s: provider-kyma is not installed in this control plane: use --context, or install it with 'kymactl deploy'", what)
	}
	return errors.Wrap(err, "cannot "+what)
}

// Manifests lists those of a Kyma, sorted by name. Those that it has handed to the garbage collector are its own still.
func Manifests(ctx context.Context, c client.Reader, k *v1alpha1.Kyma) ([]v1alpha1.Manifest, error) {
	l := &v1alpha1.ManifestList{}
	if err := c.List(ctx, l, client.InNamespace(k.Namespace)); err != nil {
		return nil, Explain(err, "list the Manifests of namespace "+k.Namespace)
	}
	out := slices.DeleteFunc(l.Items, func(m v1alpha1.Manifest) bool { return !Owns(k.UID, &m) })
	slices.SortFunc(out, func(a, b v1alpha1.Manifest) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Owns reports whether a Manifest is of a Kyma.
func Owns(kyma types.UID, m client.Object) bool {
	if m.GetAnnotations()[v1alpha1.AnnotationReleasedBy] == string(kyma) {
		return true
	}
	c := metav1.GetControllerOf(m)
	return c != nil && c.UID == kyma
}

// Composer says which composite resource has composed an object, and by which claim: what is changed by hand is put
// back. It is empty where there is none.
func Composer(o client.Object) string {
	labels := o.GetLabels()
	name := labels[labelComposite]
	if name == "" {
		return ""
	}
	kind := "composite resource"
	if c := metav1.GetControllerOf(o); c != nil && c.Name == name {
		kind = c.Kind
	}
	out := kind + " " + name
	if claim := labels[labelClaimName]; claim != "" {
		out += " (claim " + labels[labelClaimNamespace] + "/" + claim + ")"
	}
	return out
}
