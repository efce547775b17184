// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// Exit codes of kymactl.
const (
	exitFailure  = 1
	exitUsage    = 2
	exitNotFound = 3
	exitExists   = 5
	exitTimeout  = 6
)

// kymaName is the default name of a Kyma in kymactl.
const kymaName = "default"

// bareSpace returns a space without a ProviderConfig, whose namespace in the control plane does not exist yet.
func bareSpace(ctx context.Context) *Space {
	GinkgoHelper()
	s := &Space{Name: fmt.Sprintf("spec-%08x", rand.Uint32())}
	Expect(Env.TargetClient.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Name}})).To(Succeed())
	DeferCleanup(s.Clean)
	return s
}

// parsed decodes a text that must be a single JSON value.
func parsed[T any](text string) T {
	GinkgoHelper()
	var out T
	Expect(json.Unmarshal([]byte(text), &out)).To(Succeed(), text)
	return out
}

// resourceVersions returns the resource versions of the objects of the space in the control plane, except events, and of all
// CRDs.
func resourceVersions(ctx context.Context, s *Space) map[string]string {
	GinkgoHelper()
	out := map[string]string{}
	note := func(gvk schema.GroupVersionKind, options ...client.ListOption) {
		GinkgoHelper()
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		Expect(Env.ControlClient.List(ctx, list, options...)).To(Succeed())
		for i := range list.Items {
			out[gvk.Kind+"/"+list.Items[i].GetName()] = list.Items[i].GetResourceVersion()
		}
	}
	own := client.InNamespace(s.Name)
	for _, kind := range []string{v1alpha1.KymaKind, v1alpha1.ManifestKind, v1alpha1.ProviderConfigKind} {
		note(v1alpha1.SchemeGroupVersion.WithKind(kind), own)
	}
	note(corev1.SchemeGroupVersion.WithKind("Secret"), own)
	note(v1alpha1.ModuleTemplateGroupVersionKind, client.MatchingLabels{LabelSpec: s.Name})
	note(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	return out
}

// stableVersions waits until the resource versions have not changed for a while, and returns them. Any later change is caused by the spec.
func stableVersions(ctx context.Context, s *Space) map[string]string {
	GinkgoHelper()
	last, since := resourceVersions(ctx, s), time.Now()
	Eventually(func(g Gomega) {
		if now := resourceVersions(ctx, s); !maps.Equal(now, last) {
			last, since = now, time.Now()
		}
		// Two controllers write the status of a ProviderConfig, a moment after the events to which they react.
		g.Expect(time.Since(since)).To(BeNumerically(">", Calm/2))
	}).WithContext(ctx).Should(Succeed())
	return last
}

// wantModules matches a Kyma whose spec names exactly these modules, in any order.
func wantModules(names ...string) types.GomegaMatcher {
	return WithTransform(func(k *v1alpha1.Kyma) []string {
		out := []string{}
		for i := range k.Spec.ForProvider.Modules {
			out = append(out, k.Spec.ForProvider.Modules[i].Name)
		}
		return out
	}, ConsistOf(names))
}

// exists reports whether an object exists in the control plane.
func exists(ctx context.Context, o client.Object) bool {
	GinkgoHelper()
	err := Env.ControlClient.Get(ctx, client.ObjectKeyFromObject(o), o)
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	return err == nil
}

// named sets the namespace of the space and a name on an empty object, and returns it.
func named[T client.Object](s *Space, o T, name string) T {
	Must(kmeta.Accessor(o)).SetNamespace(s.Name)
	o.SetName(name)
	return o
}
