// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

const nodeName = "node-0"

// awaitUse waits until the controllers and the node are ready. It creates the node if kwok runs.
func awaitUse(ctx context.Context, o Options, apiserver *process.Process, admin *rest.Config) error {
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return errors.Wrap(err, "cannot create a client")
	}
	if o.ControllerManager && len(o.Controllers) == 0 {
		err := apiserver.Await(ctx, "used by the controller manager", func(ctx context.Context) error {
			_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
			return err //nolint:wrapcheck // It names the object.
		})
		if err != nil {
			return err
		}
	}
	if !o.Kwok {
		return nil
	}
	_, err = client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:        nodeName,
		Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
		Labels:      map[string]string{corev1.LabelHostname: nodeName, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"},
	}}, metav1.CreateOptions{})
	if err != nil {
		return errors.Wrapf(err, "cannot create node %q", nodeName)
	}
	return apiserver.Await(ctx, "used by kwok", func(ctx context.Context) error {
		node, err := client.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
		if err != nil {
			return err //nolint:wrapcheck // It names the object.
		}
		for _, cond := range node.Status.Conditions {
			if cond.Type == corev1.NodeReady && cond.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return errors.Errorf("node %q is not ready", nodeName)
	})
}
