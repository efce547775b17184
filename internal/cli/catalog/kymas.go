// SPDX-License-Identifier: Apache-2.0

package catalog

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

// defaultChannel is that of a Kyma that names none.
const defaultChannel = "regular"

// Labels by which Crossplane says what an object is composed by.
const (
	labelComposite      = "crossplane.io/composite"
	labelClaimName      = "crossplane.io/claim-name"
	labelClaimNamespace = "crossplane.io/claim-namespace"
)

// resolve the name of a Kyma: the only one of the namespace where name is empty.
func resolve(ctx context.Context, c client.Reader, namespace, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	l := &v1alpha1.KymaList{}
	if err := c.List(ctx, l, client.InNamespace(namespace)); err != nil {
		return "", explain(err, "list the Kymas of namespace "+namespace)
	}
	switch names := kymaNames(l.Items); len(names) {
	case 1:
		return names[0], nil
	case 0:
		return "", command.NotFoundf("there is no Kyma in namespace %s: use --namespace, or make one with 'kymactl deploy'", namespace)
	default:
		return "", command.Usagef("there are several Kymas in namespace %s, name one of them: %s", namespace, strings.Join(names, ", "))
	}
}

// kymaOf a namespace by name: the only one where name is empty.
func kymaOf(ctx context.Context, c client.Reader, namespace, name string) (*v1alpha1.Kyma, error) {
	name, err := resolve(ctx, c, namespace, name)
	if err != nil {
		return nil, err
	}
	k := &v1alpha1.Kyma{}
	if err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, k); err != nil {
		return nil, explainGet(err, namespace, name)
	}
	return k, nil
}

func explainGet(err error, namespace, name string) error {
	if notfound.Is(err) {
		return noKyma(namespace, name)
	}
	return explain(err, "get Kyma "+namespace+"/"+name)
}

func noKyma(namespace, name string) error {
	return command.NotFoundf("there is no Kyma %s in namespace %s: use --namespace, or make it with 'kymactl deploy'", name, namespace)
}

// explain an error of the control plane. One without our kinds has nothing that could be found.
func explain(err error, what string) error {
	if kmeta.IsNoMatchError(err) {
		return command.NotFoundf("cannot %s: provider-kyma is not installed in this control plane: use --context, or install it with 'kymactl deploy'", what)
	}
	return errors.Wrap(err, "cannot "+what)
}

func kymaNames(kymas []v1alpha1.Kyma) []string {
	out := make([]string, 0, len(kymas))
	for i := range kymas {
		out = append(out, kymas[i].Name)
	}
	slices.Sort(out)
	return out
}

// manifestsOf a Kyma, sorted by name. Those that it has handed to the garbage collector are its own still.
func manifestsOf(ctx context.Context, c client.Reader, k *v1alpha1.Kyma) ([]v1alpha1.Manifest, error) {
	l := &v1alpha1.ManifestList{}
	if err := c.List(ctx, l, client.InNamespace(k.Namespace)); err != nil {
		return nil, explain(err, "list the Manifests of namespace "+k.Namespace)
	}
	out := slices.DeleteFunc(l.Items, func(m v1alpha1.Manifest) bool { return !owns(k.UID, &m) })
	slices.SortFunc(out, func(a, b v1alpha1.Manifest) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// owns says whether a Manifest is of a Kyma.
func owns(kyma types.UID, m client.Object) bool {
	if m.GetAnnotations()[v1alpha1.AnnotationReleasedBy] == string(kyma) {
		return true
	}
	c := metav1.GetControllerOf(m)
	return c != nil && c.UID == kyma
}

// channelOf a module: its own, or that of the Kyma.
func channelOf(own, kyma string) string {
	switch {
	case own != "":
		return own
	case kyma != "":
		return kyma
	}
	return defaultChannel
}

// composer says which composite resource has composed an object, and by which claim: what is changed by hand is put
// back. It is empty where there is none.
func composer(o client.Object) string {
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
