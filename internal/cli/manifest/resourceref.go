// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/complete"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// Kinds in arguments of the form KIND/NAME.
const (
	manifestArgument = "manifest"
	kymaArgument     = "kyma"
)

// A resourceRef identifies the Manifest or Kyma of a command.
type resourceRef struct {
	types.NamespacedName

	kind schema.GroupVersionKind
}

// String returns the kind, namespace and name, such as "Kyma team-a/default".
func (s *resourceRef) String() string { return s.kind.Kind + " " + s.Namespace + "/" + s.Name }

func (s *resourceRef) isKyma() bool { return s.kind == v1alpha1.KymaGroupVersionKind }

// kindsOf returns the possible kinds and the name in an argument of the form [KIND/]NAME.
func kindsOf(argument string) (kinds []schema.GroupVersionKind, name string, err error) {
	kind, name, ok := strings.Cut(argument, "/")
	if !ok {
		return []schema.GroupVersionKind{v1alpha1.ManifestGroupVersionKind, v1alpha1.KymaGroupVersionKind}, argument, nil
	}
	kind, _, _ = strings.Cut(strings.ToLower(kind), ".")
	switch {
	case name == "":
	case kind == manifestArgument || kind == manifestArgument+"s":
		return []schema.GroupVersionKind{v1alpha1.ManifestGroupVersionKind}, name, nil
	case kind == kymaArgument || kind == kymaArgument+"s":
		return []schema.GroupVersionKind{v1alpha1.KymaGroupVersionKind}, name, nil
	}
	return nil, "", command.Usagef("%q is not a Manifest or a Kyma: use manifest/NAME, kyma/NAME or NAME", argument)
}

// kymaNamed returns the name in the arguments, and reports whether it can be the name of a Kyma. Without arguments, the name is
// empty.
func kymaNamed(args []string) (string, bool) {
	if len(args) == 0 {
		return "", true
	}
	kinds, name, err := kindsOf(args[0])
	return name, err == nil && slices.Contains(kinds, v1alpha1.KymaGroupVersionKind)
}

// find returns the object that an argument names. It fails if the argument has no kind, and a Manifest and a Kyma with the name
// exist.
func find(ctx context.Context, c client.Reader, namespace, argument string) (*resourceRef, *unstructured.Unstructured, error) {
	kinds, name, err := kindsOf(argument)
	if err != nil {
		return nil, nil, err
	}
	var found []*unstructured.Unstructured
	for _, k := range kinds {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(k)
		err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, u)
		if notfound.Is(err) {
			continue
		}
		if err != nil {
			return nil, nil, lookup.Explain(err, "get "+k.Kind+" "+namespace+"/"+name)
		}
		found = append(found, u)
	}
	switch {
	case len(found) > 1:
		return nil, nil, command.Usagef("both a Manifest and a Kyma %s exist in namespace %s: use manifest/%s or kyma/%s", name, namespace, name, name)
	case len(found) == 1:
		u := found[0]
		return &resourceRef{kind: u.GroupVersionKind(), NamespacedName: client.ObjectKeyFromObject(u)}, u, nil
	case len(kinds) > 1:
		return nil, nil, command.NotFoundf("there is no Manifest or Kyma %s in namespace %s: use --namespace", name, namespace)
	}
	return nil, nil, command.NotFoundf("there is no %s %s in namespace %s: use --namespace", kinds[0].Kind, name, namespace)
}

// change reads the object, calls do to modify it, and writes it if do returns true. The write includes the resource version, so
// it cannot revert changes by other clients: on a conflict, change starts again. It returns the object as written, or as read.
func (s *resourceRef) change(ctx context.Context, c client.Client, do func(u *unstructured.Unstructured) (bool, error)) (*unstructured.Unstructured, error) {
	pause := wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 7, Cap: time.Second}
	for {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(s.kind)
		if err := c.Get(ctx, s.NamespacedName, u); err != nil {
			return nil, lookup.Explain(err, "get "+s.String())
		}
		write, err := do(u)
		if err != nil || !write {
			return u, err
		}
		attempted := u.DeepCopy()
		err = c.Update(ctx, u, client.FieldOwner(command.FieldManager))
		if err == nil {
			return u, nil
		}
		if !kerrors.IsConflict(err) {
			return nil, errors.Wrapf(unanswered(attempted, err), "cannot change %s", s)
		}
		select {
		case <-ctx.Done():
			return nil, command.Ended(ctx, errors.Errorf("%s was not changed, because other clients kept changing it at the same time", s))
		case <-time.After(pause.Step()):
		}
	}
}

// completeResources returns a Completer of a single argument for the Manifests and Kymas in the namespace.
func completeResources(flags *command.ClusterFlags) complete.Completer {
	return complete.One(complete.Names(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) {
		manifests, kymas := &v1alpha1.ManifestList{}, &v1alpha1.KymaList{}
		if err := c.List(ctx, manifests, client.InNamespace(c.Namespace)); err != nil {
			return nil, err
		}
		err := c.List(ctx, kymas, client.InNamespace(c.Namespace))
		var out []string
		for i := range kymas.Items {
			out = append(out, kymaArgument+"/"+kymas.Items[i].Name)
		}
		for i := range manifests.Items {
			out = append(out, manifestArgument+"/"+manifests.Items[i].Name)
		}
		slices.Sort(out)
		return out, err
	}))
}
