// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// managedBy is the label of everything that the provider installs.
const managedBy = "operator.kyma-project.io/managed-by"

// check asserts what the demo claims.
func (e *environment) check(ctx context.Context) error {
	steps := []struct {
		what string
		do   func(context.Context) error
	}{
		{"the Deployments are available in the target", e.checkAvailable},
		{"what is broken in the target is repaired", e.checkRepair},
		{"a changed value arrives in the target", e.checkChange},
		{"nothing is left in the target after removal", e.checkRemoval},
	}
	for _, s := range steps {
		sayf("checking that %s", s.what)
		if err := s.do(ctx); err != nil {
			return errors.Wrapf(err, "it is not true that %s", s.what)
		}
	}
	return nil
}

func (e *environment) checkAvailable(ctx context.Context) error {
	for name, replicas := range map[types.NamespacedName]int32{
		{Namespace: helloNamespace, Name: hello}:                             helloReplicas,
		{Namespace: "crossplane-system", Name: crossplane}:                   1,
		{Namespace: "crossplane-system", Name: crossplane + "-rbac-manager"}: 1,
		{Namespace: crossplaneLayer, Name: crossplaneLayer}:                  1,
	} {
		// No waiting: the Manifests said Ready.
		d := &appsv1.Deployment{}
		if err := e.targetClient.Get(ctx, name, d); err != nil {
			return errors.Wrapf(err, "cannot get Deployment %s", name)
		}
		if d.Status.AvailableReplicas != replicas {
			return errors.Errorf("Deployment %s: %d of %d replicas available", name, d.Status.AvailableReplicas, replicas)
		}
	}
	return nil
}

// checkRepair deletes one object and edits another.
func (e *environment) checkRepair(ctx context.Context) error {
	name := types.NamespacedName{Namespace: helloNamespace, Name: hello}
	old := &corev1.ConfigMap{}
	if err := e.targetClient.Get(ctx, name, old); err != nil {
		return errors.Wrapf(err, "cannot get ConfigMap %s", name)
	}
	if err := e.targetClient.Delete(ctx, old); err != nil {
		return errors.Wrapf(err, "cannot delete ConfigMap %s", name)
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	edit := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":7}}`))
	if err := e.targetClient.Patch(ctx, d, edit); err != nil {
		return errors.Wrapf(err, "cannot edit Deployment %s", name)
	}
	err := await(ctx, "ConfigMap "+name.String(), func(ctx context.Context) (bool, string, error) {
		cm := &corev1.ConfigMap{}
		err := e.targetClient.Get(ctx, name, cm)
		if kerrors.IsNotFound(err) {
			return false, "gone", nil
		}
		return cm.UID != old.UID && cm.Data["message"] == old.Data["message"], "there", err
	})
	if err != nil {
		return err
	}
	if err := e.awaitReplicas(ctx, name, helloReplicas); err != nil {
		return err
	}
	return e.awaitReady(ctx, hello)
}

func (e *environment) awaitReplicas(ctx context.Context, name types.NamespacedName, replicas int32) error {
	return await(ctx, "Deployment "+name.String(), func(ctx context.Context) (bool, string, error) {
		d := &appsv1.Deployment{}
		err := e.targetClient.Get(ctx, name, d)
		seen := fmt.Sprintf("%d replicas wanted, %d available", *orZero(d.Spec.Replicas), d.Status.AvailableReplicas)
		return *orZero(d.Spec.Replicas) == replicas && d.Status.AvailableReplicas == replicas, seen, err
	})
}

func orZero(n *int32) *int32 {
	if n == nil {
		return new(int32)
	}
	return n
}

func (e *environment) checkChange(ctx context.Context) error {
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: hello}}
	edit := client.RawPatch(types.JSONPatchType, []byte(
		`[{"op": "replace", "path": "/spec/forProvider/installs/0/values", "value": {"replicas": 3}}]`,
	))
	if err := e.controlClient.Patch(ctx, m, edit); err != nil {
		return errors.Wrapf(err, "cannot edit Manifest %q", hello)
	}
	return e.awaitReplicas(ctx, types.NamespacedName{Namespace: helloNamespace, Name: hello}, 3)
}

func (e *environment) checkRemoval(ctx context.Context) error {
	if err := e.controlClient.DeleteAllOf(ctx, &v1alpha1.Manifest{}, client.InNamespace(team)); err != nil {
		return errors.Wrap(err, "cannot delete the Manifests")
	}
	err := await(ctx, "Manifests", func(ctx context.Context) (bool, string, error) {
		list := &v1alpha1.ManifestList{}
		err := e.controlClient.List(ctx, list, client.InNamespace(team))
		seen := []string{fmt.Sprintf("%d left", len(list.Items))}
		for _, m := range list.Items {
			_, what := describe(&m)
			seen = append(seen, m.Name+": "+what)
		}
		return len(list.Items) == 0, strings.Join(seen, ", "), err
	})
	if err != nil {
		return err
	}
	left, err := e.leftovers(ctx)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return errors.Errorf("left in the target: %s", strings.Join(left, ", "))
	}
	return nil
}

// leftovers lists the objects of the target that carry our label or are records
// of releases. Namespaces stay: a module's namespace may hold what others made.
func (e *environment) leftovers(ctx context.Context) ([]string, error) {
	d, err := discovery.NewDiscoveryClientForConfig(e.target.Config())
	if err != nil {
		return nil, errors.Wrap(err, "cannot make a client")
	}
	resources, err := d.ServerPreferredResources()
	if err != nil {
		return nil, errors.Wrap(err, "cannot ask which kinds the target has")
	}
	var left []string
	for _, group := range resources {
		gv, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot read group version %q", group.GroupVersion)
		}
		for _, r := range group.APIResources {
			if !slices.Contains(r.Verbs, "list") || r.Kind == "Namespace" {
				continue
			}
			found, err := e.list(ctx, gv.WithKind(r.Kind), client.MatchingLabels{managedBy: "provider-kyma"})
			if err != nil {
				return nil, err
			}
			left = append(left, found...)
		}
	}
	records, err := e.list(ctx, corev1.SchemeGroupVersion.WithKind("Secret"), client.MatchingLabels{"owner": "helm"})
	return append(left, records...), err
}

func (e *environment) list(ctx context.Context, gvk schema.GroupVersionKind, labels client.MatchingLabels) ([]string, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err := e.targetClient.List(ctx, list, labels); err != nil {
		return nil, errors.Wrapf(err, "cannot list %s", gvk.Kind)
	}
	var found []string
	for _, o := range list.Items {
		found = append(found, fmt.Sprintf("%s %s/%s", gvk.Kind, o.GetNamespace(), o.GetName()))
	}
	return found, nil
}
