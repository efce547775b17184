// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// annotationControlPlane is the annotation of an inventory that names its control plane.
const annotationControlPlane = "kyma.m.crossplane.io/control-plane"

// A restoredFleet is the fleet of a control plane that was lost, and the control plane that replaces it.
type restoredFleet struct {
	*Space

	plane           *freshPlane
	chart, operated *Offer
	// inventories are the names of the inventories in the target.
	inventories []string
}

// newRestoredFleet installs a fleet from the control plane of the suite: a Manifest of a chart with a hook and of plain objects, and
// a Kyma with two modules, one of which has a custom resource.
func newRestoredFleet(ctx context.Context) *restoredFleet {
	GinkgoHelper()
	s := NewSpace(ctx)
	f := &restoredFleet{Space: s, chart: NewOffer(s, "chart"), operated: OfferOperated(s, "operated")}
	f.chart.Release(ctx, "regular", "1.0.0")
	f.operated.Release(ctx, "regular", "1.0.0")
	s.Create(ctx, s.Kyma("kyma", f.chart.Module(), f.operated.Module()))
	f.operated.Report(ctx, `{"state":"Ready"}`)
	s.AwaitKyma(ctx, "kyma")
	web := WebChart().With("templates/hook.yaml", `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-hook, annotations: {"helm.sh/hook": "pre-install,pre-upgrade"}}
`)
	s.Install(ctx, s.Manifest("web",
		s.InstallOf("web", web.PushLayer(ctx), Values{"workload": false}), s.InstallOf("plain", s.Inline("plain", "text: one"), nil)))
	for _, name := range []string{"web", f.chart.Manifest("kyma"), f.operated.Manifest("kyma")} {
		f.inventories = append(f.inventories, s.Name+"."+name)
	}
	return f
}

// replace starts the control plane that replaces the one of the suite, which the helpers of the harness use until the end of the
// spec, or until the returned function is called.
func (f *restoredFleet) replace(ctx context.Context) (back func()) {
	GinkgoHelper()
	f.plane = newFreshPlane(ctx)
	f.plane.serve(ctx, "providerconfigs", "clusterproviderconfigs", "providerconfigusages", "moduletemplates", "modulereleasemetas", "rolloutpolicies", "kymas", "manifests")
	control, c := Env.Control, Env.ControlClient
	back = func() { Env.Control, Env.ControlClient = control, c }
	DeferCleanup(back)
	Env.Control, Env.ControlClient = f.plane.cluster, f.plane.client
	return back
}

// startReplacement starts the provider of the control plane that replaces the former one.
func (f *restoredFleet) startReplacement(ctx context.Context, args ...string) *process.Process {
	GinkgoHelper()
	p := Must(f.plane.start(ctx, f.plane.cluster.KubeconfigFile(), args...))
	DeferCleanup(p.Stop)
	return p
}

// restored returns a Manifest as a backup tool would create it in a new control plane: with all metadata that the provider set, and
// without its status.
func restored(m *v1alpha1.Manifest) *v1alpha1.Manifest {
	return &v1alpha1.Manifest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: m.Namespace, Name: m.Name, Labels: m.Labels, Annotations: m.Annotations, Finalizers: m.Finalizers,
			OwnerReferences: m.OwnerReferences,
		},
		Spec: m.Spec,
	}
}

// restore creates what users created in the former control plane.
func (f *restoredFleet) restore(ctx context.Context, web *v1alpha1.Manifest) {
	GinkgoHelper()
	f.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Name}})
	f.Config(ctx, ConfigName, Env.Target.Kubeconfig())
	f.Create(ctx, restored(web))
	f.chart.Release(ctx, "regular", "1.0.0")
	f.operated.Release(ctx, "regular", "1.0.0")
	f.Create(ctx, f.Kyma("kyma", f.chart.Module(), f.operated.Module()))
}

// replaceChild replaces a Manifest of the restored Kyma with the one of the former Kyma, while no provider runs.
func (f *restoredFleet) replaceChild(ctx context.Context, child *v1alpha1.Manifest) {
	GinkgoHelper()
	f.Update(ctx, child.Name, func(m *v1alpha1.Manifest) { m.Finalizers = nil })
	f.Delete(ctx, child.Name)
	f.Create(ctx, restored(child))
}

// versions returns the UID and the resource version of each object of the fleet in the target. With relaxed, it omits the resource
// versions of the inventories.
func (f *restoredFleet) versions(ctx context.Context, relaxed bool) (map[string]string, error) {
	all, err := f.Objects(ctx, Env.Target)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for title, o := range all {
		if slices.Contains([]string{"Endpoints", "EndpointSlice"}, o.GetKind()) {
			continue // The controllers of the cluster create them, with the labels of the Service.
		}
		out[title] = string(o.GetUID()) + " " + o.GetResourceVersion()
		if relaxed && f.isInventory(o) {
			out[title] = string(o.GetUID())
		}
	}
	return out, nil
}

func (f *restoredFleet) isInventory(o *unstructured.Unstructured) bool {
	return o.GetNamespace() == InventoryNamespace && slices.Contains(f.inventories, o.GetName())
}

// owners returns the control planes of the inventories, by name, as their annotations record them.
func (f *restoredFleet) owners(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for _, name := range f.inventories {
		secret, err := Fetched(ctx, client.ObjectKey{Namespace: InventoryNamespace, Name: name}, &corev1.Secret{})
		if err != nil {
			return nil, err
		}
		out[name] = secret.Annotations[annotationControlPlane]
	}
	return out, nil
}

// belongTo matches the owners of the inventories if all of them are the control plane with a UID.
func (f *restoredFleet) belongTo(uid string) types.GomegaMatcher {
	return SatisfyAll(HaveLen(len(f.inventories)), HaveEach(ContainSubstring(uid)))
}

// awaitRefusals waits until each Manifest reports that its inventory belongs to a control plane, and returns its UID.
func (f *restoredFleet) awaitRefusals(ctx context.Context, names ...string) string {
	GinkgoHelper()
	uids := map[string]bool{}
	for _, name := range names {
		says := fmt.Sprintf("Secret %s/%s.%s is the inventory of Manifest %s/%s in the control plane with UID ",
			InventoryNamespace, f.Name, name, f.Name, name)
		Eventually(f.Get).WithContext(ctx).WithArguments(name).Should(SatisfyAll(
			NotSynced(says, "--take-over-control-plane"), NotReady(says), HaveState(v1alpha1.StateError, says)))
		message := Must(f.Get(ctx, name)).GetCondition(xpv2.TypeSynced).Message
		uids[regexp.MustCompile(`--take-over-control-plane[= ]([-0-9a-f]{36})`).FindStringSubmatch(message)[1]] = true
	}
	Expect(uids).To(HaveLen(1))
	return slices.Collect(maps.Keys(uids))[0]
}

// removeTwice starts the former provider again, which removes nothing, and then removes the fleet with the new control plane. back makes
// the helpers of the harness use the former control plane.
func (f *restoredFleet) removeTwice(ctx context.Context, back func(), replacement string, manifests ...string) {
	GinkgoHelper()
	By("starting the former provider again, which is refused")
	replaced := Env.ControlClient
	back()
	before := Must(f.versions(ctx, false))
	Expect(Env.Provider.Start(ctx)).To(Succeed())
	Expect(f.awaitRefusals(ctx, manifests...)).To(Equal(replacement))
	f.Remove(ctx, "web")
	f.RemoveKyma(ctx, "kyma")
	Expect(f.versions(ctx, false)).To(Equal(before))

	By("removing the fleet with the new control plane")
	Env.ControlClient = replaced
	f.Remove(ctx, "web")
	f.RemoveKyma(ctx, "kyma")
	Expect(f.Leftovers(ctx, Env.Target)).To(HaveExactElements("ConfigMap "+f.Name+"/web-hook"), "Helm keeps hooks, too")
}

// uidOf returns the UID of the namespace kube-system of a cluster.
func uidOf(ctx context.Context, c client.Client) string {
	GinkgoHelper()
	ns := &corev1.Namespace{}
	Expect(c.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, ns)).To(Succeed())
	return string(ns.UID)
}

var _ = Describe("A control plane that replaces another one", func() {
	It("changes nothing without a flag, and takes over the inventories of the whole fleet with it", func(ctx SpecContext) {
		f := newRestoredFleet(ctx)
		manifests := []string{"web", f.chart.Manifest("kyma"), f.operated.Manifest("kyma")}
		former := uidOf(ctx, Env.ControlClient)
		before, kept := Must(f.versions(ctx, false)), Must(f.versions(ctx, true))
		Expect(f.owners(ctx)).To(f.belongTo(former))
		web, child := Must(f.Get(ctx, "web")), Must(f.Get(ctx, f.chart.Manifest("kyma")))

		By("restoring the fleet in a new control plane, without the flag")
		back := f.replace(ctx)
		p := f.startReplacement(ctx)
		f.restore(ctx, web)
		Expect(f.awaitRefusals(ctx, manifests...)).To(Equal(former))
		Eventually(f.GetKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(NotReady(former), HaveKymaState(v1alpha1.StateError, former)))

		By("deleting one of the restored Manifests, which removes nothing")
		f.Remove(ctx, "web")
		Consistently(f.versions).WithContext(ctx).WithArguments(false).Should(Equal(before))
		f.Create(ctx, &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: f.Name, Name: "web"}, Spec: web.Spec})
		f.awaitRefusals(ctx, "web")
		Expect(f.versions(ctx, false)).To(Equal(before))

		By("starting the provider with the flag, after the former one has ended")
		Expect(Env.Provider.Terminate(ctx)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			if Env.Provider.Process.State() != nil {
				Expect(Env.Provider.Start(ctx)).To(Succeed())
			}
		})
		f.plane.end(ctx, p)
		f.replaceChild(ctx, child)
		p = f.startReplacement(ctx, "--take-over-control-plane="+former)
		f.AwaitReady(ctx, "web")

		By("deleting a Manifest whose owner does not exist, as Kubernetes does, which removes nothing")
		f.awaitRefusals(ctx, child.Name)
		f.Delete(ctx, child.Name)
		f.AwaitKyma(ctx, "kyma")
		replacement := uidOf(ctx, Env.ControlClient)
		Eventually(f.owners).WithContext(ctx).Should(f.belongTo(replacement))
		Consistently(f.versions).WithContext(ctx).WithArguments(true).Should(Equal(kept))

		By("changing a Manifest without the flag")
		f.plane.end(ctx, p)
		f.startReplacement(ctx)
		f.Update(ctx, "web", SetValues(Values{"workload": false, "message": "changed"}))
		f.AwaitMessage(ctx, "web-settings", "changed")
		f.AwaitReady(ctx, "web")

		f.removeTwice(ctx, back, replacement, manifests...)
	})
})
