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
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/crossplane"
)

// check verifies the statements of the demo.
func check(ctx context.Context, e *environment) error {
	steps := []struct {
		what string
		do   func(context.Context, *environment) error
	}{
		{"the modules run in the target cluster", checkAvailable},
		{"drift in the target cluster is repaired", checkRepair},
		{"a valid value of a Manifest is applied, and an invalid one is rejected", checkChange},
		{"the Kyma and the claim report a warning of a module", checkWarning},
		{"kymactl verifies the signature of a module, and compares its versions", checkReleases},
		{"kymactl doesn't change what the claim owns", checkClaimed},
		{"a switch to a channel with higher versions upgrades the modules", checkUpgrade},
		{"a switch to a channel with lower versions is blocked", checkNoDowngrade},
		{"a downgrade is applied after it is allowed", checkDowngrade},
		{"disabling a module removes only this module", checkDisable},
		{"deleting the claim and the Manifest leaves nothing in the target cluster", checkRemoval},
		{"the rollout of a version that never becomes Ready has failed", checkFailedRollout},
		{"a newer version that works reaches all clusters of the fleet", checkRollout},
		{"deleting the KymaSet leaves nothing in the clusters of the fleet", checkFleetRemoval},
		{"the permissions that Crossplane granted are sufficient", checkRights},
	}
	for _, s := range steps {
		sayf("checking that %s", s.what)
		if err := s.do(ctx, e); err != nil {
			return errors.Wrapf(err, "check failed: %s", s.what)
		}
	}
	return nil
}

// checkAvailable checks the Deployments without waiting, because all modules were Ready.
func checkAvailable(ctx context.Context, e *environment) error {
	for name, replicas := range map[types.NamespacedName]int32{
		{Namespace: helloNamespace, Name: hello}: helloReplicas,
		moduleNamed(greeter).deployment:          greeterCount,
		moduleNamed(templateOperator).deployment: 1,
	} {
		d := &appsv1.Deployment{}
		if err := e.target.client.Get(ctx, name, d); err != nil {
			return errors.Wrapf(err, "cannot get Deployment %s", name)
		}
		if d.Status.AvailableReplicas != replicas {
			return errors.Errorf("Deployment %s: %d of %d replicas available", name, d.Status.AvailableReplicas, replicas)
		}
	}
	return checkVersions(ctx, e, regular)
}

// checkRepair deletes an object of one module, edits an object of another, and checks that both are repaired.
func checkRepair(ctx context.Context, e *environment) error {
	old := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: greeter}}
	name := client.ObjectKeyFromObject(old)
	if err := e.target.client.Get(ctx, name, old); err != nil {
		return errors.Wrapf(err, "cannot get Service %s", name)
	}
	if err := e.target.client.Delete(ctx, old); err != nil {
		return errors.Wrapf(err, "cannot delete Service %s", name)
	}
	deployment := moduleNamed(templateOperator).deployment
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: deployment.Namespace, Name: deployment.Name}}
	if err := e.target.client.Patch(ctx, d, merge(`{"spec":{"replicas":7}}`)); err != nil {
		return errors.Wrapf(err, "cannot edit Deployment %s", deployment)
	}
	err := await(ctx, "Service "+name.String(), func(ctx context.Context) (bool, string, error) {
		s := &corev1.Service{}
		err := e.target.client.Get(ctx, name, s)
		if kerrors.IsNotFound(err) {
			return false, "not found", nil
		}
		return s.UID != old.UID, "exists", err
	})
	if err != nil {
		return err
	}
	if err := e.target.awaitReplicas(ctx, deployment, 1); err != nil {
		return err
	}
	return e.claim.await(ctx, v1alpha1.StateReady, nil)
}

// checkChange sets a value that the chart accepts, then one that it rejects, and then the first one again.
func checkChange(ctx context.Context, e *environment) error {
	name := types.NamespacedName{Namespace: helloNamespace, Name: hello}
	if err := setHello(ctx, e, `{"replicas":3}`); err != nil {
		return err
	}
	if err := e.target.awaitReplicas(ctx, name, 3); err != nil {
		return err
	}
	if err := setHello(ctx, e, `{"replicas":"many"}`); err != nil {
		return err
	}
	err := await(ctx, "Manifest "+hello, func(ctx context.Context) (bool, string, error) {
		m := &v1alpha1.Manifest{}
		err := e.control.Get(ctx, types.NamespacedName{Namespace: team, Name: hello}, m)
		_, seen := describe(m)
		return strings.Contains(seen, "replicas"), seen, err
	})
	if err != nil {
		return err
	}
	if err := e.target.awaitReplicas(ctx, name, 3); err != nil {
		return err
	}
	if err := setHello(ctx, e, `{"replicas":3}`); err != nil {
		return err
	}
	return awaitReady(ctx, e.control, hello)
}

func setHello(ctx context.Context, e *environment, values string) error {
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: hello}}
	edit := client.RawPatch(types.JSONPatchType, []byte(
		`[{"op": "replace", "path": "/spec/forProvider/installs/0/values", "value": `+values+`}]`,
	))
	return errors.Wrapf(e.control.Patch(ctx, m, edit), "cannot edit Manifest %q", hello)
}

// checkRemoval deletes the claim and the separate Manifest, and checks that none of their objects are left in both
// clusters.
func checkRemoval(ctx context.Context, e *environment) error {
	for _, o := range []client.Object{
		platform(claimKind, team, claimName),
		&v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: hello}},
	} {
		if err := e.control.Delete(ctx, o); err != nil {
			return errors.Wrapf(err, "cannot delete %T %q", o, o.GetName())
		}
	}
	if _, err := e.workshop.do(ctx, "wait", e.claim.composite, "--for", "deleted", "--timeout", waitTimeout); err != nil {
		return err
	}
	err := await(ctx, "removal of the claim, its resources and the Manifests", func(ctx context.Context) (bool, string, error) {
		left := 0
		for _, o := range []client.Object{
			platform(claimKind, team, claimName), platform(compositeKind, "", e.claim.composite),
			&v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: e.claim.composite}},
			&v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: e.claim.composite}},
		} {
			err := e.control.Get(ctx, client.ObjectKeyFromObject(o), o)
			if client.IgnoreNotFound(err) != nil {
				return false, "", errors.Wrapf(err, "cannot get %T %q", o, o.GetName())
			}
			if err == nil {
				left++
			}
		}
		manifests := &v1alpha1.ManifestList{}
		err := e.control.List(ctx, manifests, client.InNamespace(team))
		left += len(manifests.Items)
		seen := []string{fmt.Sprintf("%d objects left", left)}
		for i := range manifests.Items {
			_, what := describe(&manifests.Items[i])
			seen = append(seen, manifests.Items[i].Name+": "+what)
		}
		return left == 0, strings.Join(seen, ", "), err
	})
	if err != nil {
		return err
	}
	return e.target.checkNothingLeft(ctx)
}

func merge(patch string) client.Patch {
	return client.RawPatch(types.MergePatchType, []byte(patch))
}

// checkRights checks that no request of the provider was forbidden, and that the provider never restarted.
func checkRights(ctx context.Context, e *environment) error {
	refused, err := crossplane.Refused(e.servers.control)
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		return errors.Errorf("%d requests of the provider were denied; the first one: %+v", len(refused), refused[0])
	}
	pod, err := e.servers.crossplane.AwaitPod(ctx)
	if err != nil {
		return err
	}
	if pod.Restarts > 0 {
		return errors.Errorf("the provider restarted %d times", pod.Restarts)
	}
	return nil
}
