// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// perCluster is the number of hostile Manifests for each hostile cluster.
const perCluster = 5

// A hostile tenant has Manifests for clusters that attack the provider.
type hostile struct {
	*Space

	// says contains the text that each Manifest of a cluster must report, by the name of its ProviderConfig.
	says map[string]string
}

func newHostile(ctx SpecContext) *hostile {
	GinkgoHelper()
	return &hostile{Space: NewSpace(ctx), says: map[string]string{}}
}

// add adds a cluster with several Manifests of a source, which must report a text.
func (h *hostile) add(ctx SpecContext, name string, kubeconfig []byte, source v1alpha1.Source, says string) {
	GinkgoHelper()
	h.Config(ctx, name, kubeconfig)
	h.says[name] = says
	for i := range perCluster {
		manifest := fmt.Sprintf("%s-%d", name, i)
		h.Create(ctx, With(h.Manifest(manifest, h.InstallOf(manifest, source, nil)), name))
	}
}

// await waits until each Manifest reports its error.
func (h *hostile) await(ctx SpecContext) {
	GinkgoHelper()
	for name, says := range h.says {
		for i := range perCluster {
			AwaitTrouble(ctx, h.Space, fmt.Sprintf("%s-%d", name, i), says)
		}
		GinkgoWriter.Println(Must(h.Get(ctx, name+"-0")).Status.AtProvider.Message)
	}
}

// edit changes the Manifests continuously, one after the other, until the end of the spec. Without a change, the provider waits longer
// after each error.
func (h *hostile) edit(ctx SpecContext) *pause {
	GinkgoHelper()
	names := slices.Sorted(slices.Values(Must(h.Manifests(ctx))))
	return repeatedly(func(ctx context.Context, i int) {
		name, _, _ := strings.Cut(names[i%len(names)], ":")
		if m, err := h.Get(ctx, name); err == nil {
			SetValues(Values{"attempt": i})(m)
			_ = Env.ControlClient.Update(ctx, m)
		}
	})
}

// withBombs creates a hostile tenant with the kubeconfigs of bombs.
func withBombs(ctx SpecContext) *hostile {
	GinkgoHelper()
	h := newHostile(ctx)
	source := h.Inline("a", "message: hello")
	aliases, values := bombs()
	h.add(ctx, "aliases", aliases, source, "cannot read kubeconfig: YAML is larger than 1048576 bytes when its aliases are expanded")
	h.add(ctx, "values", values, source, "cannot read kubeconfig: YAML contains too many values: more than 50000 commas, colons and line breaks")
	return h
}

// withAPIs creates a hostile tenant with clusters that serve too many APIs.
func withAPIs(ctx SpecContext) *hostile {
	GinkgoHelper()
	// The servers run until the Manifests are removed.
	groups, kinds, version := discovering(5000, 1), discovering(1500, 20), discovering(1, 20_000)
	h := newHostile(ctx)
	asks := NewChart("asks", "1.0.0").With("templates/a.yaml", `
{{- if .Capabilities.APIVersions.Has "example.org/v1" }}{{ fail "it is served" }}{{ end }}
`).PushLayer(ctx)
	const advice = "; delete CRDs and APIServices that are not needed"
	h.add(ctx, "groups", At(groups)(), asks, "the cluster has too many APIs: more than 2000 groups"+advice)
	h.add(ctx, "kinds", At(kinds)(), asks, "the cluster has too many APIs: more than 20000 kinds"+advice)
	absent := h.Inline()
	absent.Inline += "apiVersion: g0.example.org/v1\nkind: Absent\nmetadata: {name: a}\n"
	h.add(ctx, "version", At(version)(), absent,
		"the API version has too many kinds: their names exceed 1 MiB; delete unused CRDs")
	return h
}

// bombs returns two kubeconfigs of 400 kB: one whose aliases expand to nine gigabytes, and one with 200,000 values.
func bombs() (aliases, values []byte) {
	valid := At("https://127.0.0.1:1")()
	aliases = fmt.Appendf(nil, "%sx-a: &a %s\nx-b: [%s]\n", valid, strings.Repeat("x", 300_000), strings.Repeat("*a,", 33_000))
	values = fmt.Appendf(nil, "%sx-a: [%s]\n", valid, strings.Repeat("0,", 200_000))
	return aliases, values
}

// flooded creates a hostile tenant with a Manifest for a flood, whose ConfigMap changes continuously. The flood ends at the end of the
// spec, so that the Manifest can be removed.
func flooded(ctx SpecContext, f *flood) (*hostile, *pause) {
	GinkgoHelper()
	url := f.start()
	h := newHostile(ctx)
	f.namespace = h.Name
	DeferCleanup(func() { f.over.Store(true) })
	h.Config(ctx, "flood", At(url)())
	h.Create(ctx, With(h.Manifest("flood", h.InstallOf("flood", h.Inline("flood", "message: hello"), nil)), "flood"))
	paused := repeatedly(func(ctx context.Context, i int) {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: h.Name, Name: "flood"}}
		_ = Env.TargetClient.Patch(ctx, o, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{"edit":"%d"}}}`, i)))
	})
	return h, paused
}

var _ = Describe("A tenant with kubeconfigs that take all memory when they are decoded", Label("short"), func() {
	It("gets an error for each kubeconfig, and affects no other tenant", func(ctx SpecContext) {
		shipped(ctx)
		t := newTenant(ctx)
		t.beside(ctx, func() func() {
			h := withBombs(ctx)
			return func() { h.await(ctx) }
		})
	})
})

var _ = Describe("A tenant with clusters that serve thousands of APIs", Label("short"), func() {
	It("gets an error for each cluster, and affects no other tenant", func(ctx SpecContext) {
		shipped(ctx)
		t := newTenant(ctx)
		t.beside(ctx, func() func() {
			h := withAPIs(ctx)
			return func() { h.await(ctx) }
		})
	})
})

var _ = Describe("A tenant with a cluster whose objects have too many labels", Label("short"), func() {
	DescribeTable("affects no other tenant", func(ctx SpecContext, f *flood, state v1alpha1.State, says string) {
		shipped(ctx)
		WithProvider(ctx, func(p *Provider) { p.Env = f.env })
		t := newTenant(ctx)
		t.beside(ctx, func() func() {
			h, _ := flooded(ctx, f)
			return func() {
				Eventually(h.Get).WithContext(ctx).WithArguments("flood").Should(HaveState(state, says))
				GinkgoWriter.Println(Must(h.Get(ctx, "flood")).Status.AtProvider.Message)
			}
		})
	},
		Entry("and can be used if an API server could store the objects", &flood{size: 1 << 20}, v1alpha1.StateReady, ""),
		Entry("and gets a message if there are too many objects to watch", &flood{size: 1 << 10, objects: 21_000}, v1alpha1.StateReady,
			"objects of kind ConfigMap with label "+LabelManagedBy+"="+ManagedBy+
				" are not watched, because there are too many or they are too large (the maximum is 20000 objects or 16 MiB)"),
		// A single response can use more memory than the limit of this suite, unless the container has little memory.
		Entry("and gets an error if the objects are too large to read", &flood{size: 33 << 20, env: []string{"GOMEMLIMIT=256MiB"}}, v1alpha1.StateError,
			"the response exceeds the size limit"),
	)
})

var _ = Describe("A tenant whose input is too large", func() {
	DescribeTable("hardly delays the installs of another tenant", func(ctx SpecContext, attack func(ctx SpecContext) *pause) {
		shipped(ctx)
		t := newTenant(ctx)
		paused := attack(ctx)
		paused.Store(true)
		// The speed of the machine changes by more than the limit, so what is compared is measured in turns.
		t.expectHardlyDelayed(ctx, t.median(ctx), "the input", func(int) time.Duration {
			paused.Store(true)
			before := t.median(ctx)
			paused.Store(false)
			return before
		})
	},
		Entry("with kubeconfigs that take all memory when they are decoded", func(ctx SpecContext) *pause {
			h := withBombs(ctx)
			h.await(ctx)
			return h.edit(ctx)
		}),
		Entry("with clusters that serve thousands of APIs", func(ctx SpecContext) *pause {
			h := withAPIs(ctx)
			h.await(ctx)
			return h.edit(ctx)
		}),
		Entry("with a cluster whose objects have too many labels", func(ctx SpecContext) *pause {
			_, paused := flooded(ctx, &flood{size: 1 << 20})
			return paused
		}),
	)
})
