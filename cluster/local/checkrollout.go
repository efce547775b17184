// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/local/fleet"
)

// rolloutFailed is the exit code of kymactl rollout status --watch after a rollout that failed.
const rolloutFailed = 8

// checkFailedRollout checks that the release reports the failure, and that nothing of the broken version is left in the canary.
// playRollout has checked that nothing changed in the other clusters.
func checkFailedRollout(ctx context.Context, e *environment) error {
	err := checkRelease(ctx, e, map[xpv2.ConditionType]corev1.ConditionStatus{
		v1alpha1.TypeFailed: corev1.ConditionTrue, v1alpha1.TypeStalled: corev1.ConditionTrue, v1alpha1.TypeComplete: corev1.ConditionFalse,
	}, v1alpha1.ReasonRolloutFailed)
	if err != nil {
		return err
	}
	if out, err := e.workshop.kymactl(ctx, "rollout", "status", fleet.Module, "--watch"); exitCode(err) != rolloutFailed {
		return errors.Errorf("kymactl rollout status: got %v, want exit code %d; output:\n%s", err, rolloutFailed, out)
	}
	for _, c := range e.fleet.Clusters {
		target, err := c.Client()
		if err != nil {
			return err
		}
		err = target.Get(ctx, types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: fleet.Module}, &appsv1.Deployment{})
		if !kerrors.IsNotFound(err) {
			return errors.Errorf("cluster %q still has the Deployment of version %s (%v)", c.Name(), bannerBroken, err)
		}
	}
	return nil
}

// checkRollout promotes a version that works, and checks that all clusters have it.
func checkRollout(ctx context.Context, e *environment) error {
	if err := promoteBanner(ctx, e, bannerFixed); err != nil {
		return err
	}
	reached, err := awaitRollout(ctx, e.fleet, bannerFixed, v1alpha1.RolloutComplete)
	if err != nil {
		return err
	}
	if len(reached) != len(e.fleet.Clusters) {
		return errors.Errorf("version %s is complete, but only the clusters %v have it", bannerFixed, reached)
	}
	if err := awaitBanner(ctx, e.fleet, bannerFixed); err != nil {
		return err
	}
	if _, err := e.workshop.do(ctx, "rollout", "status", fleet.Module, "--watch"); err != nil {
		return err
	}
	return checkRelease(ctx, e, map[xpv2.ConditionType]corev1.ConditionStatus{
		v1alpha1.TypeComplete: corev1.ConditionTrue, xpv2.TypeReady: corev1.ConditionTrue, v1alpha1.TypeFailed: corev1.ConditionFalse,
	}, xpv2.ReasonAvailable)
}

// checkRelease checks conditions of the ModuleReleaseMeta and the reason of Complete, Failed and Ready.
func checkRelease(ctx context.Context, e *environment, want map[xpv2.ConditionType]corev1.ConditionStatus, reason xpv2.ConditionReason) error {
	m, err := e.fleet.Release(ctx)
	if err != nil {
		return err
	}
	for t, status := range want {
		c := m.Status.GetCondition(t)
		if c.Status != status || c.Reason != reason || c.ObservedGeneration != m.Generation {
			return errors.Errorf("ModuleReleaseMeta %q: got the condition %+v, want status %s with reason %s", m.Name, c, status, reason)
		}
	}
	return nil
}

// checkFleetRemoval deletes the objects of the fleet, with the KymaSet first, and checks that nothing is left in the clusters. kubectl
// waits until each object is gone, and a KymaSet until its Kymas are.
func checkFleetRemoval(ctx context.Context, e *environment) error {
	for i, path := range slices.Backward(e.rollout.files) {
		if _, err := e.workshop.kubectl(ctx, "delete", "-f", path, "--timeout="+waitTimeout); err != nil {
			return err
		}
		if i < len(e.rollout.files)-1 {
			continue
		}
		if err := checkFleetEmpty(ctx, e); err != nil {
			return err
		}
	}
	_, err := e.workshop.kubectl(ctx, "delete", "namespace", fleet.Namespace, "--timeout="+waitTimeout)
	return err
}

// checkFleetEmpty checks that the fleet has no Kymas and Manifests, and that nothing is left in its clusters.
func checkFleetEmpty(ctx context.Context, e *environment) error {
	out, err := e.workshop.kubectl(ctx, "get", "kymas,manifests", "-n", fleet.Namespace, "-o", "name")
	if err != nil {
		return err
	}
	if out != "" {
		return errors.Errorf("objects left in namespace %s of the control plane: %s", fleet.Namespace, out)
	}
	for _, c := range e.fleet.Clusters {
		t, err := newTarget(c)
		if err != nil {
			return err
		}
		if err := t.checkNothingLeft(ctx); err != nil {
			return errors.Wrapf(err, "cluster %q of the fleet", c.Name())
		}
	}
	return nil
}
