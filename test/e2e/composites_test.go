// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const (
	platformGroup   = "platform.kyma.crossplane.io"
	environmentKind = "KymaEnvironment"
	claimKind       = "KymaEnvironmentClaim"
)

// composite returns a composite resource of the configuration package with modules, without creating it.
func (s *space) composite(kind, name string, modules ...*offer) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": platformGroup + "/v1alpha1", "kind": kind,
		"metadata": map[string]any{"namespace": s.name, "name": name},
		"spec": map[string]any{
			"modules":             modulesOf(modules...),
			"kubeconfigSecretRef": map[string]any{"name": secretName},
			"registries":          []any{map[string]any{"host": env.registry.Host(), "plainHTTP": true}},
		},
	}}
}

// environment returns a composite resource in the namespace of the space.
func (s *space) environment(name string, modules ...*offer) *unstructured.Unstructured {
	return s.composite(environmentKind, name, modules...)
}

// claim returns a claim whose ProviderConfig and Kyma are in the namespace of the space.
func (s *space) claim(name string, modules ...*offer) *unstructured.Unstructured {
	return s.composite(claimKind, name, modules...)
}

// modulesOf returns the modules for the spec of a composite resource.
func modulesOf(modules ...*offer) []any {
	out := make([]any, 0, len(modules))
	for _, m := range modules {
		out = append(out, map[string]any{"name": m.name})
	}
	return out
}

func set(u *unstructured.Unstructured, value any, path ...string) {
	GinkgoHelper()
	Expect(unstructured.SetNestedField(u.Object, value, path...)).To(Succeed())
}

func text(u *unstructured.Unstructured, path ...string) string {
	GinkgoHelper()
	out, _, err := unstructured.NestedString(u.Object, path...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

// now returns a function that reads the current object from the control plane.
func now(u *unstructured.Unstructured) func(ctx context.Context) (*unstructured.Unstructured, error) {
	return func(ctx context.Context) (*unstructured.Unstructured, error) {
		into := &unstructured.Unstructured{}
		into.SetGroupVersionKind(u.GroupVersionKind())
		return fetched(ctx, env.controlClient, client.ObjectKeyFromObject(u), into)
	}
}

// awaitComposite creates a composite resource or claim, waits until it is Ready, and returns it.
func (s *space) awaitComposite(ctx context.Context, u *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	s.create(ctx, u)
	Eventually(now(u)).WithContext(ctx).Should(beReadyComposite())
	return must(now(u)(ctx))
}

// composed returns the only Kyma in the namespace, which a composition created.
func (s *space) composed(ctx context.Context) (*v1alpha1.Kyma, error) {
	list := &v1alpha1.KymaList{}
	if err := env.controlClient.List(ctx, list, client.InNamespace(s.name)); err != nil {
		return nil, err
	}
	if len(list.Items) != 1 {
		return nil, errNotOne
	}
	return &list.Items[0], nil
}

// whenReady watches the objects of a kind in the namespace, and sends the time at which the first of them becomes Ready.
func (s *space) whenReady(ctx context.Context, group, kind string) <-chan time.Time {
	GinkgoHelper()
	w := must(env.controlClient.Watch(ctx, listOf(group, "v1alpha1", kind), client.InNamespace(s.name)))
	DeferCleanup(w.Stop)
	at := make(chan time.Time, 1)
	go func() {
		for e := range w.ResultChan() {
			u, ok := e.Object.(*unstructured.Unstructured)
			if ok && e.Type != watch.Deleted && conditionOf(u, "Ready")["status"] == "True" {
				at <- time.Now()
				return
			}
		}
	}()
	return at
}
