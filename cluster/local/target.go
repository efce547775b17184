// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// A target is the cluster that modules are installed into, accessed as its administrator.
type target struct {
	client client.Client
	config *rest.Config
}

func newTarget(c *controlplane.Cluster) (target, error) {
	made, err := c.Client()
	return target{client: made, config: c.Config()}, err
}

// samples returns a client of the custom resources of a module.
func (t target) samples(m module) (dynamic.ResourceInterface, error) {
	c, err := dynamic.NewForConfig(t.config)
	if err != nil {
		return nil, errors.Wrap(err, "cannot create a client for the target cluster")
	}
	return c.Resource(m.resource).Namespace(m.sample.Namespace), nil
}

func (t target) sampleState(ctx context.Context, m module) (string, error) {
	c, err := t.samples(m)
	if err != nil {
		return "", err
	}
	u, err := c.Get(ctx, m.sample.Name, metav1.GetOptions{})
	if err != nil {
		return "", errors.Wrapf(err, "cannot get the custom resource of module %q", m.name)
	}
	state, _, err := unstructured.NestedString(u.Object, "status", "state")
	return state, errors.Wrapf(err, "cannot read the custom resource of module %q", m.name)
}

func (t target) awaitReplicas(ctx context.Context, name types.NamespacedName, replicas int32) error {
	return await(ctx, "Deployment "+name.String(), func(ctx context.Context) (bool, string, error) {
		d := &appsv1.Deployment{}
		err := t.client.Get(ctx, name, d)
		seen := fmt.Sprintf("%d replicas desired, %d available", *orZero(d.Spec.Replicas), d.Status.AvailableReplicas)
		return *orZero(d.Spec.Replicas) == replicas && d.Status.AvailableReplicas == replicas, seen, err
	})
}

func orZero(n *int32) *int32 {
	if n == nil {
		return new(int32)
	}
	return n
}
