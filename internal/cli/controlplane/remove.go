// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// maxNames is how many objects a message names.
const maxNames = 5

// remove an object, this one and none that got its name since, and wait until it
// is gone. waits says what for, or nil where it is for finalizers.
func (r *removal) remove(ctx context.Context, u *unstructured.Unstructured, waits func(context.Context, *unstructured.Unstructured) (string, error)) error {
	o, uid := objectOf(u), u.GetUID()
	err := await(ctx, r.e, o.words()+" was gone", func(ctx context.Context) (bool, string, error) {
		now, err := r.live(ctx, o)
		// With its CRD goes the kind.
		if kmeta.IsNoMatchError(err) || err == nil && (now == nil || now.GetUID() != uid) {
			return true, "", nil
		}
		if err != nil {
			return false, "", err
		}
		if refusal, err := r.request(ctx, now); refusal != "" || err != nil {
			return false, refusal, err
		}
		if waits == nil {
			return false, finalizers(now), nil
		}
		state, err := waits(ctx, now)
		return false, state, err
	})
	if err != nil {
		return err
	}
	return r.report.add(o, deleted)
}

// request that an object is deleted. A refusal may pass: Crossplane refuses with a
// conflict to delete what is in use, until it sees that it is not any more. The other
// conflict is that another writer was faster, and has made another object of that name.
func (r *removal) request(ctx context.Context, u *unstructured.Unstructured) (refusal string, err error) {
	uid := u.GetUID()
	if u.GetDeletionTimestamp() != nil {
		return "", nil
	}
	err = r.k.Delete(ctx, u, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	switch {
	case notfound.Is(err):
		return "", nil
	case kerrors.IsConflict(err):
		return err.Error(), nil
	}
	return "", errors.Wrapf(notfound.Explain(err), "cannot delete %s", objectOf(u).words())
}

// waitingFor says which Manifests a Kyma waits for, and what they say themselves.
func waitingFor(kyma *unstructured.Unstructured, manifests []unstructured.Unstructured) string {
	if len(manifests) == 0 {
		return finalizers(kyma) + ", does the provider run?"
	}
	var said []string
	for i := range manifests[:min(len(manifests), maxNames)] {
		m := &manifests[i]
		said = append(said, "Manifest "+m.GetName()+complaint(m))
	}
	if n := len(manifests) - maxNames; n > 0 {
		said = append(said, "and others")
	}
	return "it waits for " + strings.Join(said, "; ")
}

// complaint is what a Manifest says: why a pass failed, or else what is in the way.
func complaint(u *unstructured.Unstructured) string {
	for _, c := range []string{"Synced", "Ready"} {
		if status, message := condition(u, c); status != "True" && message != "" {
			return ": " + message
		}
	}
	// While it is being deleted, its condition Ready has no message.
	if message, _, _ := unstructured.NestedString(u.Object, "status", "atProvider", "message"); message != "" {
		return ": " + message
	}
	return ""
}

// removeConfigs removes the config of the Kyma and its Secret, where deploy made
// them and nothing else uses them.
func (r *removal) removeConfigs(ctx context.Context) error {
	for i, ref := range r.configs() {
		if err := r.removeConfig(ctx, ref, i == 0); err != nil {
			return err
		}
	}
	return nil
}

// configs that may be there because of the Kyma. After a run that was interrupted
// the Kyma is gone, and only the names are left that deploy gives.
func (r *removal) configs() []reference {
	own := reference{kind: v1alpha1.ProviderConfigKind, name: r.o.kyma}
	switch {
	case r.o.config != "":
		own.name = r.o.config
		return []reference{own, {kind: v1alpha1.ClusterProviderConfigKind, name: r.o.config}}
	case r.ref == own:
		return []reference{own}
	case r.ref.name != "":
		return []reference{r.ref, own}
	}
	return []reference{own, {kind: v1alpha1.ClusterProviderConfigKind, name: inClusterConfig}}
}

// removeConfig removes one config. first is the one that is told of even where it
// does not exist.
func (r *removal) removeConfig(ctx context.Context, ref reference, first bool) error {
	o := ref.object(r.namespace)
	u, err := r.found(ctx, o)
	switch {
	case err != nil:
		return err
	case u == nil && first:
		err = r.report.add(o, unchanged)
	case u == nil:
	case !ours(u) && !r.named(ref):
		return r.keep(o, first || ref == r.ref, "it was not made by kymactl")
	default:
		err = r.removeUnused(ctx, u, ref)
	}
	if err != nil || ref.kind != v1alpha1.ProviderConfigKind {
		return err
	}
	return r.removeSecret(ctx, ref.name)
}

func (r *removal) removeUnused(ctx context.Context, config *unstructured.Unstructured, ref reference) error {
	users, err := r.users(ctx, ref)
	if err != nil {
		return err
	}
	if len(users) > 0 {
		return r.keep(objectOf(config), true, "it is used by "+names(users))
	}
	return r.remove(ctx, config, func(_ context.Context, u *unstructured.Unstructured) (string, error) {
		return finalizers(u) + ", does the provider run?", nil
	})
}

// named says whether the user named a config, which is as good as having made it.
// What is for all namespaces is not deleted by a name that may be meant for one.
func (r *removal) named(ref reference) bool {
	return ref.kind == v1alpha1.ProviderConfigKind && r.o.config == ref.name
}

func (r *removal) keep(o object, tell bool, why string) error {
	if !tell {
		return nil
	}
	r.e.Sayf("%s is kept: %s.", o.words(), why)
	return r.report.add(o, kept)
}

// removeSecret removes the kubeconfig of a ProviderConfig, unless another one
// names it.
func (r *removal) removeSecret(ctx context.Context, config string) error {
	o := object{GroupVersionKind: coreKind("Secret"), Namespace: r.namespace, Name: config + kubeconfigSuffix}
	u, err := r.found(ctx, o)
	if err != nil || u == nil || !ours(u) {
		return err
	}
	for _, kind := range []schema.GroupVersionKind{v1alpha1.ProviderConfigGroupVersionKind, v1alpha1.ClusterProviderConfigGroupVersionKind} {
		configs, err := r.list(ctx, kind)
		if err != nil {
			return err
		}
		for i := range configs {
			name, _, _ := unstructured.NestedString(configs[i].Object, "spec", "credentials", "secretRef", "name")
			namespace, _, _ := unstructured.NestedString(configs[i].Object, "spec", "credentials", "secretRef", "namespace")
			if namespace == "" {
				namespace = configs[i].GetNamespace()
			}
			if name == o.Name && namespace == o.Namespace {
				return r.keep(o, true, "it is used by "+objectOf(&configs[i]).words())
			}
		}
	}
	return r.remove(ctx, u, nil)
}

// users of a config: what would lose its cluster.
func (r *removal) users(ctx context.Context, ref reference) ([]object, error) {
	var out []object
	for _, kind := range []schema.GroupVersionKind{v1alpha1.KymaGroupVersionKind, v1alpha1.ManifestGroupVersionKind} {
		items, err := r.list(ctx, kind)
		if err != nil {
			return nil, err
		}
		for i := range items {
			elsewhere := ref.kind == v1alpha1.ProviderConfigKind && items[i].GetNamespace() != r.namespace
			if !elsewhere && referenceOf(&items[i]) == ref {
				out = append(out, objectOf(&items[i]))
			}
		}
	}
	return out, nil
}

// list all objects of a kind; a kind that is not served has none.
func (r *removal) list(ctx context.Context, kind schema.GroupVersionKind, o ...client.ListOption) ([]unstructured.Unstructured, error) {
	l := listOf(kind)
	err := r.k.List(ctx, l, o...)
	if kmeta.IsNoMatchError(err) || notfound.Foreign(err) {
		if err = r.unserved(ctx, kind); kmeta.IsNoMatchError(err) {
			return nil, nil
		}
	}
	return l.Items, errors.Wrapf(err, "cannot list objects of kind %s", kind.Kind)
}

func names(objects []object) string {
	var out []string
	for _, o := range objects[:min(len(objects), maxNames)] {
		out = append(out, o.words())
	}
	if len(objects) > maxNames {
		out = append(out, "and others")
	}
	return strings.Join(out, ", ")
}

// refuse to delete CRDs while there are objects of ours.
func (r *removal) refuse(ctx context.Context) error {
	var left []object
	for _, kind := range kindsOf() {
		items, err := r.list(ctx, kind)
		if err != nil {
			return err
		}
		for i := range items {
			left = append(left, objectOf(&items[i]))
		}
	}
	if len(left) == 0 {
		return nil
	}
	return command.WithCode(command.ExitFailure, errors.Errorf("the definitions stay, as these would be deleted with them, delete them first: %s", names(left)))
}
