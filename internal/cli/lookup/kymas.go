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

// Labels that Crossplane sets on composed objects.
const (
	labelComposite      = "crossplane.io/composite"
	labelClaimName      = "crossplane.io/claim-name"
	labelClaimNamespace = "crossplane.io/claim-namespace"
)

// KymaName returns name, or if it is empty, the name of the only Kyma in the namespace. It fails with ExitNotFound if the
// namespace has no Kyma, and with ExitUsage if it has several.
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
		return "", command.NotFoundf("there is no Kyma in namespace %s: use --namespace, or create one with 'kymactl deploy'", namespace)
	default:
		return "", command.Usagef("several Kymas exist in namespace %s: specify one of them: %s", namespace, strings.Join(names, ", "))
	}
}

// KymaNames returns the names of the Kymas in a namespace, sorted.
func KymaNames(ctx context.Context, c client.Reader, namespace string) ([]string, error) {
	l := &v1alpha1.KymaList{}
	if err := c.List(ctx, l, client.InNamespace(namespace)); err != nil {
		return nil, Explain(err, "list the Kymas in namespace "+namespace)
	}
	out := make([]string, 0, len(l.Items))
	for i := range l.Items {
		out = append(out, l.Items[i].Name)
	}
	slices.Sort(out)
	return out, nil
}

// Kyma gets a Kyma. An empty name means the only Kyma in the namespace, see KymaName.
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

// ExplainGet wraps an error of getting a Kyma with the name of the Kyma. If the Kyma does not exist, it returns NoKyma.
func ExplainGet(err error, namespace, name string) error {
	if notfound.Is(err) {
		return NoKyma(namespace, name)
	}
	return Explain(err, "get Kyma "+namespace+"/"+name)
}

// NoKyma returns the error for a Kyma that does not exist, with ExitNotFound.
func NoKyma(namespace, name string) error {
	return command.NotFoundf("there is no Kyma %s in namespace %s: use --namespace, or create it with 'kymactl deploy'", name, namespace)
}

// Explain wraps err with what, the action that failed. If the control plane does not serve the kinds of the provider, the
// returned error names this cause and has ExitNotFound.
func Explain(err error, what string) error {
	if kmeta.IsNoMatchError(err) {
		return command.NotFoundf("cannot %s: provider-kyma is not installed in this control plane: use --context, or install it with 'kymactl deploy'", what)
	}
	return errors.Wrap(err, "cannot "+what)
}

// Manifests lists the Manifests of a Kyma, sorted by name, including those that the Kyma has left to the garbage collector.
func Manifests(ctx context.Context, c client.Reader, k *v1alpha1.Kyma) ([]v1alpha1.Manifest, error) {
	l := &v1alpha1.ManifestList{}
	if err := c.List(ctx, l, client.InNamespace(k.Namespace)); err != nil {
		return nil, Explain(err, "list the Manifests in namespace "+k.Namespace)
	}
	out := slices.DeleteFunc(l.Items, func(m v1alpha1.Manifest) bool { return !Owns(k.UID, &m) })
	slices.SortFunc(out, func(a, b v1alpha1.Manifest) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Owns reports whether a Manifest belongs to the Kyma with the UID kyma.
func Owns(kyma types.UID, m client.Object) bool {
	if m.GetAnnotations()[v1alpha1.AnnotationReleasedBy] == string(kyma) {
		return true
	}
	c := metav1.GetControllerOf(m)
	return c != nil && c.UID == kyma
}

// Composer returns the composite resource of an object and its claim, such as "XEnvironment a (claim team-a/b)". Crossplane
// reverts manual changes to such an object. Composer returns an empty string if the object is not composed.
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
