// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const nodeName = "node-0"

// awaitOthers waits until the controllers and the node are of use. A crash of
// any server ends the wait.
func (c *Cluster) awaitOthers(ctx context.Context) error {
	if len(c.others) == 0 {
		return nil
	}
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return errors.Wrap(err, "cannot make a client")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-c.crashed:
			cancel()
		case <-ctx.Done():
		}
	}()

	err = c.awaitUse(ctx, client)
	if crash := c.Err(); crash != nil {
		return crash
	}
	return err
}

func (c *Cluster) awaitUse(ctx context.Context, client kubernetes.Interface) error {
	if c.options.ControllerManager && len(c.options.Controllers) == 0 {
		err := c.apiserver.await(ctx, "used by the controller manager", func(ctx context.Context) error {
			_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
			return err //nolint:wrapcheck // It names the object.
		})
		if err != nil {
			return err
		}
	}
	if !c.options.Kwok {
		return nil
	}
	_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:        nodeName,
		Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
		Labels:      map[string]string{corev1.LabelHostname: nodeName, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"},
	}}, metav1.CreateOptions{})
	if err != nil {
		return errors.Wrapf(err, "cannot create node %q", nodeName)
	}
	return c.apiserver.await(ctx, "used by kwok", func(ctx context.Context) error {
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
