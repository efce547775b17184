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
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// maxNames is the maximum number of objects that a message names.
const maxNames = 5

// remove deletes an object and waits until it no longer exists. It does not delete another object that was created with the same
// name. waits returns what the deletion is waiting for; nil means the finalizers.
func (r *removal) remove(ctx context.Context, u *unstructured.Unstructured, waits func(context.Context, *unstructured.Unstructured) (string, error)) error {
	o, uid := apply.ObjectOf(u), u.GetUID()
	err := apply.Await(ctx, r.e, o.Words()+" to be deleted", func(ctx context.Context) (bool, string, error) {
		now, err := r.plane.Live(ctx, o)
		// The kind is not served after the CRD is deleted.
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
			return false, apply.Finalizers(now), nil
		}
		state, err := waits(ctx, now)
		return false, state, err
	})
	if err != nil {
		return err
	}
	return r.report.Add(o, apply.Deleted)
}

// request requests the deletion of an object. refusal is the message of a conflict, which can be temporary: Crossplane rejects
// the deletion of objects in use with a conflict. A conflict also occurs if another client has recreated the object.
func (r *removal) request(ctx context.Context, u *unstructured.Unstructured) (refusal string, err error) {
	uid := u.GetUID()
	if u.GetDeletionTimestamp() != nil {
		return "", nil
	}
	err = r.plane.Client.Delete(ctx, u, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	switch {
	case notfound.Is(err):
		return "", nil
	case kerrors.IsConflict(err):
		return err.Error(), nil
	}
	return "", errors.Wrapf(notfound.Explain(err), "cannot delete %s", apply.ObjectOf(u).Words())
}

// waitingFor describes what blocks the deletion of a Kyma: the Manifests with their messages, or else the finalizers.
func waitingFor(kyma *unstructured.Unstructured, manifests []unstructured.Unstructured) string {
	if len(manifests) == 0 {
		return apply.Finalizers(kyma) + ": is the provider running?"
	}
	var said []string
	for i := range manifests[:min(len(manifests), maxNames)] {
		m := &manifests[i]
		said = append(said, "Manifest "+m.GetName()+complaint(m))
	}
	if n := len(manifests) - maxNames; n > 0 {
		said = append(said, "and more")
	}
	return "waiting for " + strings.Join(said, "; ")
}

// complaint returns the message of a Manifest after a colon: why the last reconcile failed, or what the Manifest is waiting for.
func complaint(u *unstructured.Unstructured) string {
	for _, c := range []string{"Synced", "Ready"} {
		if status, message := apply.Condition(u, c); status != "True" && message != "" {
			return ": " + message
		}
	}
	// The condition Ready of a Manifest that is being deleted has no message.
	if message, _, _ := unstructured.NestedString(u.Object, "status", "atProvider", "message"); message != "" {
		return ": " + message
	}
	return ""
}

// removeConfigs removes the config of the Kyma and its Secret, if deploy created them and nothing else uses them.
func (r *removal) removeConfigs(ctx context.Context) error {
	for i, ref := range r.configs() {
		if err := r.removeConfig(ctx, ref, i == 0); err != nil {
			return err
		}
	}
	return nil
}

// configs returns the configs that deploy could have created for the Kyma. After an interrupted run the Kyma does not exist, so
// only the default names are known.
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

// removeConfig removes a config and its Secret. If first is true, it reports the config even if it does not exist.
func (r *removal) removeConfig(ctx context.Context, ref reference, first bool) error {
	o := ref.object(r.namespace)
	u, err := r.plane.Found(ctx, o)
	switch {
	case err != nil:
		return err
	case u == nil && first:
		err = r.report.Add(o, apply.Unchanged)
	case u == nil:
	case !apply.Ours(u) && !r.named(ref):
		return r.keep(o, first || ref == r.ref, "not created by kymactl")
	default:
		err = r.removeUnused(ctx, u, ref)
	}
	if err != nil || ref.kind != v1alpha1.ProviderConfigKind {
		return err
	}
	return r.removeSecret(ctx, ref.name)
}

// removeUnused removes a config, unless a Kyma or a Manifest uses it.
func (r *removal) removeUnused(ctx context.Context, config *unstructured.Unstructured, ref reference) error {
	users, err := r.users(ctx, ref)
	if err != nil {
		return err
	}
	if len(users) > 0 {
		return r.keep(apply.ObjectOf(config), true, "still used by "+names(users))
	}
	return r.remove(ctx, config, func(_ context.Context, u *unstructured.Unstructured) (string, error) {
		return apply.Finalizers(u) + ": is the provider running?", nil
	})
}

// named reports whether the user named a ProviderConfig with --provider-config, so that it is deleted even if deploy did not
// create it. It returns false for ClusterProviderConfigs, because other namespaces could use them.
func (r *removal) named(ref reference) bool {
	return ref.kind == v1alpha1.ProviderConfigKind && r.o.config == ref.name
}

// keep reports that an object is kept, and why. If report is false, it does nothing.
func (r *removal) keep(o apply.Object, report bool, why string) error {
	if !report {
		return nil
	}
	r.e.Sayf("Kept %s: %s.", o.Words(), why)
	return r.report.Add(o, apply.Kept)
}

// removeSecret removes the Secret of a ProviderConfig, unless another config refers to it.
func (r *removal) removeSecret(ctx context.Context, config string) error {
	o := apply.Object{GroupVersionKind: apply.CoreKind("Secret"), Namespace: r.namespace, Name: config + kubeconfigSuffix}
	u, err := r.plane.Found(ctx, o)
	if err != nil || u == nil || !apply.Ours(u) {
		return err
	}
	for _, kind := range []schema.GroupVersionKind{v1alpha1.ProviderConfigGroupVersionKind, v1alpha1.ClusterProviderConfigGroupVersionKind} {
		configs, err := r.plane.List(ctx, kind)
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
				return r.keep(o, true, "still used by "+apply.ObjectOf(&configs[i]).Words())
			}
		}
	}
	return r.remove(ctx, u, nil)
}

// users returns the Kymas and Manifests that use a config.
func (r *removal) users(ctx context.Context, ref reference) ([]apply.Object, error) {
	var out []apply.Object
	for _, kind := range []schema.GroupVersionKind{v1alpha1.KymaGroupVersionKind, v1alpha1.ManifestGroupVersionKind} {
		items, err := r.plane.List(ctx, kind)
		if err != nil {
			return nil, err
		}
		for i := range items {
			elsewhere := ref.kind == v1alpha1.ProviderConfigKind && items[i].GetNamespace() != r.namespace
			if !elsewhere && referenceOf(&items[i]) == ref {
				out = append(out, apply.ObjectOf(&items[i]))
			}
		}
	}
	return out, nil
}

// names joins the names of objects with commas, and shortens the list if it is long.
func names(objects []apply.Object) string {
	var out []string
	for _, o := range objects[:min(len(objects), maxNames)] {
		out = append(out, o.Words())
	}
	if len(objects) > maxNames {
		out = append(out, "and more")
	}
	return strings.Join(out, ", ")
}

// refuse returns an error if objects exist that would be deleted with the CRDs.
func (r *removal) refuse(ctx context.Context) error {
	kinds, err := kindsOf()
	if err != nil {
		return err
	}
	var left []apply.Object
	for _, kind := range kinds {
		items, err := r.plane.List(ctx, kind)
		if err != nil {
			return err
		}
		for i := range items {
			left = append(left, apply.ObjectOf(&items[i]))
		}
	}
	if len(left) == 0 {
		return nil
	}
	return command.WithCode(command.ExitFailure, errors.Errorf("cannot delete the CRDs while objects of their kinds "+
		"exist: delete these objects first: %s", names(left)))
}
