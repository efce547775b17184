// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/charts"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
)

// awaitAvailable waits until all replicas of the Deployment run the current version and are available.
func awaitAvailable(ctx context.Context, a *apply.Applier, deployment *unstructured.Unstructured) error {
	o := apply.ObjectOf(deployment)
	return apply.Await(ctx, a.Environment, o.Words()+" to become available", func(ctx context.Context) (bool, string, error) {
		u, err := a.Plane.Live(ctx, o)
		if err != nil || u == nil {
			return false, "does not exist", err
		}
		result, err := status.Compute(u)
		if err != nil {
			return false, "", errors.Wrapf(err, "cannot read the status of %s", o.Words())
		}
		if result.Status == status.CurrentStatus {
			return true, "", nil
		}
		return false, result.Message + blocked(ctx, a.Plane, o.Namespace), nil
	})
}

// blocked returns why a pod of the provider cannot run, after a semicolon, or an empty string if the reason is not known.
func blocked(ctx context.Context, p *apply.Plane, namespace string) string {
	pods := &corev1.PodList{}
	if p.Client.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels{labelName: charts.Name, labelInstance: release}) != nil {
		return ""
	}
	for i := range pods.Items {
		if why := whyBlocked(&pods.Items[i]); why != "" {
			return "; Pod " + pods.Items[i].Name + ": " + why
		}
	}
	return ""
}

// whyBlocked returns why a pod cannot run, or an empty string.
func whyBlocked(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	for i := range pod.Status.ContainerStatuses {
		waiting := pod.Status.ContainerStatuses[i].State.Waiting
		if waiting == nil || waiting.Reason == "ContainerCreating" {
			continue
		}
		return strings.TrimSuffix(waiting.Reason+": "+waiting.Message, ": ")
	}
	return ""
}
