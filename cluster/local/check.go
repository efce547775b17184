// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// check asserts what the demo claims.
func (e *environment) check(ctx context.Context) error {
	steps := []struct {
		what string
		do   func(context.Context) error
	}{
		{"the modules run in the target", e.checkAvailable},
		{"what is broken in the target is repaired", e.checkRepair},
		{"a good value of a Manifest arrives in the target, and a bad one does not", e.checkChange},
		{"a warning of a module is that of the Kyma and of the claim", e.checkWarning},
		{"kymactl says who signed a module, and what differs in its next version", e.checkReleases},
		{"kymactl leaves to the claim what belongs to the claim", e.checkClaimed},
		{"a channel with higher versions is installed", e.checkUpgrade},
		{"a channel with lower versions is not installed", e.checkNoDowngrade},
		{"lower versions are installed where that is asked for", e.checkDowngrade},
		{"a module that is disabled goes, and no other", e.checkDisable},
		{"nothing is left in the target after removal", e.checkRemoval},
		{"the rights that Crossplane granted were enough", e.checkRights},
	}
	for _, s := range steps {
		sayf("checking that %s", s.what)
		if err := s.do(ctx); err != nil {
			return errors.Wrapf(err, "it is not true that %s", s.what)
		}
	}
	return nil
}

// checkAvailable does not wait: all were Ready.
func (e *environment) checkAvailable(ctx context.Context) error {
	for name, replicas := range map[types.NamespacedName]int32{
		{Namespace: helloNamespace, Name: hello}: helloReplicas,
		moduleNamed(greeter).deployment:          greeterCount,
		moduleNamed(templateOperator).deployment: 1,
	} {
		d := &appsv1.Deployment{}
		if err := e.targetClient.Get(ctx, name, d); err != nil {
			return errors.Wrapf(err, "cannot get Deployment %s", name)
		}
		if d.Status.AvailableReplicas != replicas {
			return errors.Errorf("Deployment %s: %d of %d replicas available", name, d.Status.AvailableReplicas, replicas)
		}
	}
	return e.checkVersions(ctx, regular)
}

// checkRepair deletes an object of one module and edits one of another.
func (e *environment) checkRepair(ctx context.Context) error {
	old := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: greeter}}
	name := client.ObjectKeyFromObject(old)
	if err := e.targetClient.Get(ctx, name, old); err != nil {
		return errors.Wrapf(err, "cannot get Service %s", name)
	}
	if err := e.targetClient.Delete(ctx, old); err != nil {
		return errors.Wrapf(err, "cannot delete Service %s", name)
	}
	deployment := moduleNamed(templateOperator).deployment
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: deployment.Namespace, Name: deployment.Name}}
	if err := e.targetClient.Patch(ctx, d, merge(`{"spec":{"replicas":7}}`)); err != nil {
		return errors.Wrapf(err, "cannot edit Deployment %s", deployment)
	}
	err := await(ctx, "Service "+name.String(), func(ctx context.Context) (bool, string, error) {
		s := &corev1.Service{}
		err := e.targetClient.Get(ctx, name, s)
		if kerrors.IsNotFound(err) {
			return false, "gone", nil
		}
		return s.UID != old.UID, "there", err
	})
	if err != nil {
		return err
	}
	if err := e.awaitReplicas(ctx, deployment, 1); err != nil {
		return err
	}
	return e.awaitClaim(ctx, v1alpha1.StateReady, nil)
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

// checkChange sets a value that the chart accepts, one that it refuses, and the
// first again.
func (e *environment) checkChange(ctx context.Context) error {
	name := types.NamespacedName{Namespace: helloNamespace, Name: hello}
	if err := e.setHello(ctx, `{"replicas":3}`); err != nil {
		return err
	}
	if err := e.awaitReplicas(ctx, name, 3); err != nil {
		return err
	}
	if err := e.setHello(ctx, `{"replicas":"many"}`); err != nil {
		return err
	}
	err := await(ctx, "Manifest "+hello, func(ctx context.Context) (bool, string, error) {
		m := &v1alpha1.Manifest{}
		err := e.controlClient.Get(ctx, types.NamespacedName{Namespace: team, Name: hello}, m)
		_, seen := describe(m)
		return strings.Contains(seen, "replicas"), seen, err
	})
	if err != nil {
		return err
	}
	if err := e.awaitReplicas(ctx, name, 3); err != nil {
		return err
	}
	if err := e.setHello(ctx, `{"replicas":3}`); err != nil {
		return err
	}
	return e.awaitReady(ctx, hello)
}

func (e *environment) setHello(ctx context.Context, values string) error {
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: hello}}
	edit := client.RawPatch(types.JSONPatchType, []byte(
		`[{"op": "replace", "path": "/spec/forProvider/installs/0/values", "value": `+values+`}]`,
	))
	return errors.Wrapf(e.controlClient.Patch(ctx, m, edit), "cannot edit Manifest %q", hello)
}

// checkRemoval deletes the claim, and the Manifest that is not the claim's.
func (e *environment) checkRemoval(ctx context.Context) error {
	for _, o := range []client.Object{
		platform(claimKind, team, claim),
		&v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: hello}},
	} {
		if err := e.controlClient.Delete(ctx, o); err != nil {
			return errors.Wrapf(err, "cannot delete %T %q", o, o.GetName())
		}
	}
	if _, err := e.do(ctx, "wait", e.composite, "--for", "deleted", "--timeout", waitTimeout); err != nil {
		return err
	}
	err := await(ctx, "what the claim became, and the Manifests", func(ctx context.Context) (bool, string, error) {
		left := 0
		for _, o := range []client.Object{
			platform(claimKind, team, claim), platform(compositeKind, "", e.composite),
			&v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: e.composite}},
			&v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: e.composite}},
		} {
			err := e.controlClient.Get(ctx, client.ObjectKeyFromObject(o), o)
			if client.IgnoreNotFound(err) != nil {
				return false, "", errors.Wrapf(err, "cannot get %T %q", o, o.GetName())
			}
			if err == nil {
				left++
			}
		}
		manifests := &v1alpha1.ManifestList{}
		err := e.controlClient.List(ctx, manifests, client.InNamespace(team))
		left += len(manifests.Items)
		seen := []string{fmt.Sprintf("%d left", left)}
		for i := range manifests.Items {
			_, what := describe(&manifests.Items[i])
			seen = append(seen, manifests.Items[i].Name+": "+what)
		}
		return left == 0, strings.Join(seen, ", "), err
	})
	if err != nil {
		return err
	}
	return e.checkNothingLeft(ctx)
}

func merge(patch string) client.Patch {
	return client.RawPatch(types.MergePatchType, []byte(patch))
}
