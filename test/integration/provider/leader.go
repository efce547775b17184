// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

const (
	// takeover is the time limit within which another process must become the leader: the lease of 60 s, plus a margin.
	takeover = 4 * time.Minute
	// atOnce is the time limit within which another process must become the leader if the lease was released. It tries every two seconds,
	// but can be slow on a busy machine. A lease that was not released would take longer.
	atOnce = 45 * time.Second
	// member is a label of all objects in the specs of this file, which their Manifests install.
	member = "leader.example.org/member"
)

// configMaps returns a source with ConfigMaps that contain a text.
func configMaps(name, text string, count int) v1alpha1.Source {
	all := make([]string, 0, count)
	for i := range count {
		all = append(all, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s-%d, labels: {%s: %s}}\ndata: {text: %s}\n", name, i, member, name, text))
	}
	return v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Inline: strings.Join(all, "---\n")}
}

// install creates or updates a Manifest of ConfigMaps.
func (f *freshPlane) install(ctx context.Context, name, text string, count int) error {
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	if err := client.IgnoreNotFound(f.client.Get(ctx, client.ObjectKeyFromObject(m), m)); err != nil {
		return err
	}
	m.Spec.ForProvider.Installs = []v1alpha1.Install{{Name: name, Namespace: "default", Source: configMaps(name, text, count)}}
	if m.ResourceVersion == "" {
		return f.client.Create(ctx, m)
	}
	return f.client.Update(ctx, m)
}

// texts returns the distinct texts of the ConfigMaps of a Manifest, and their number.
func (f *freshPlane) texts(ctx context.Context, name string) (map[string]int, error) {
	l := &corev1.ConfigMapList{}
	if err := f.client.List(ctx, l, client.InNamespace("default"), client.MatchingLabels{member: name}); err != nil {
		return nil, err
	}
	out := map[string]int{}
	for i := range l.Items {
		out[l.Items[i].Data["text"]]++
	}
	return out, nil
}

// inventories returns the names of the inventories in the cluster.
func (f *freshPlane) inventories(ctx context.Context) ([]string, error) {
	l := &corev1.SecretList{}
	if err := f.client.List(ctx, l, client.InNamespace("kyma-system")); err != nil {
		return nil, err
	}
	out := make([]string, 0, len(l.Items))
	for i := range l.Items {
		out = append(out, l.Items[i].Name)
	}
	return out, nil
}

// leader returns the identity of the leader.
func (f *freshPlane) leader(ctx context.Context) (string, error) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "crossplane-leader-election-provider-kyma"}}
	if err := f.client.Get(ctx, client.ObjectKeyFromObject(lease), lease); err != nil || lease.Spec.HolderIdentity == nil {
		return "", client.IgnoreNotFound(err)
	}
	return *lease.Spec.HolderIdentity, nil
}

// serveReplicas installs the CRDs, and lets Manifests in the namespace default install with credentials.
func (f *freshPlane) serveReplicas(ctx context.Context, credentials v1alpha1.Credentials) {
	GinkgoHelper()
	f.serve(ctx, "providerconfigs", "clusterproviderconfigs", "providerconfigusages", "moduletemplates", "modulereleasemetas", "rolloutpolicies", "kymas", "manifests")
	config := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	config.Spec.Credentials = credentials
	config.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{Names: []string{"default"}}
	Expect(f.client.Create(ctx, config)).To(Succeed())
}

// replica starts a replica of the provider with its own directory.
func (f *freshPlane) replica(ctx context.Context, name string) *process.Process {
	GinkgoHelper()
	own := &freshPlane{cluster: f.cluster, client: f.client, dir: filepath.Join(f.dir, name)}
	p, err := own.start(ctx, f.cluster.KubeconfigFile())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(p.Stop)
	return p
}

// ready returns the status of the condition Ready of a Manifest, for its current generation.
func (f *freshPlane) ready(ctx context.Context, name string) (string, error) {
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	err := f.client.Get(ctx, client.ObjectKeyFromObject(m), m)
	return string(m.GetCondition(xpv2.TypeReady).Status), err
}

var _ = Describe("Two replicas of the provider", func() {
	It("leave nothing behind if the leader was suspended until its lease expired", func(ctx SpecContext) {
		f := newFreshPlane(ctx)
		f.serveReplicas(ctx, v1alpha1.Credentials{Source: v1alpha1.CredentialsSourceInjectedIdentity})
		Expect(f.install(ctx, "kept", "one", 1)).To(Succeed())
		Expect(f.install(ctx, "gone", "one", 1)).To(Succeed())

		By("starting the leader")
		first := f.replica(ctx, "first")
		Eventually(f.ready).WithContext(ctx).WithArguments("kept").Should(Equal("True"))
		Eventually(f.ready).WithContext(ctx).WithArguments("gone").Should(Equal("True"))
		suspended, err := f.leader(ctx)
		Expect(err).NotTo(HaveOccurred())
		second := f.replica(ctx, "second")

		By("suspending the leader during an upgrade")
		Expect(f.install(ctx, "gone", "two", 300)).To(Succeed())
		Eventually(f.texts).WithContext(ctx).WithPolling(10 * time.Millisecond).WithArguments("gone").Should(HaveKey("two"))
		first.Signal(syscall.SIGSTOP)
		Eventually(f.leader).WithContext(ctx).WithTimeout(takeover).WithPolling(time.Second).Should(SatisfyAll(Not(BeEmpty()), Not(Equal(suspended))))

		By("upgrading one Manifest and deleting the other one with the second replica")
		Expect(f.install(ctx, "kept", "two", 1)).To(Succeed())
		Eventually(f.texts).WithContext(ctx).WithTimeout(Recovery).WithArguments("kept").Should(Equal(map[string]int{"two": 1}))
		gone := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gone"}}
		Expect(f.client.Delete(ctx, gone)).To(Succeed())
		Eventually(func() error { return f.client.Get(ctx, client.ObjectKeyFromObject(gone), gone) }).
			WithContext(ctx).WithTimeout(Recovery).Should(BeNotFound())

		By("resuming the first replica, which exits and changes nothing")
		first.Signal(syscall.SIGCONT)
		Eventually(first.Done()).WithContext(ctx).WithTimeout(Recovery).Should(BeClosed())
		Expect(first.Err()).To(HaveOccurred(), "the error of a process that no longer leads")
		Expect(f.texts(ctx, "gone")).To(BeEmpty())
		Expect(f.inventories(ctx)).To(Equal([]string{"default.kept"}))
		Expect(f.texts(ctx, "kept")).To(Equal(map[string]int{"two": 1}))
		Eventually(f.ready).WithContext(ctx).WithArguments("kept").Should(Equal("True"))
		Expect(second.Err()).NotTo(HaveOccurred())
	})

	It("hand over immediately, and lose nothing, if the leader is terminated during an install", func(ctx SpecContext) {
		f := newFreshPlane(ctx)
		f.serveReplicas(ctx, v1alpha1.Credentials{Source: v1alpha1.CredentialsSourceInjectedIdentity})
		f.changeLeader(ctx, f, func() {}, func() {})
	})

	It("hand over in less than 25 seconds, and lose nothing, if the cluster of an install hangs", func(ctx SpecContext) {
		f, target := newFreshPlane(ctx), newFreshPlane(ctx)
		f.serveReplicas(ctx, v1alpha1.Credentials{Source: v1alpha1.CredentialsSourceSecret, CredentialSelectors: v1alpha1.CredentialSelectors{
			SecretRef: &v1alpha1.SecretKeySelector{Namespace: "default", Name: "target", Key: KubeconfigKey},
		}})
		Expect(f.client.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "target"}, Data: map[string][]byte{KubeconfigKey: target.cluster.Kubeconfig()},
		})).To(Succeed())
		f.changeLeader(ctx, target, target.cluster.Pause, target.cluster.Resume)
	})
})

// changeLeader terminates the leader while it installs objects into a target cluster. Another replica must become the leader, and must know
// all objects that were applied. fault is called before the leader is terminated, and repair after it has ended.
func (f *freshPlane) changeLeader(ctx context.Context, target *freshPlane, fault, repair func()) {
	GinkgoHelper()
	const count = 600
	first := f.replica(ctx, "first")
	Eventually(f.leader).WithContext(ctx).ShouldNot(BeEmpty())
	terminated := Must(f.leader(ctx))
	second := f.replica(ctx, "second")

	By("terminating the leader while it installs, and the other replica is suspended")
	second.Signal(syscall.SIGSTOP)
	Expect(f.install(ctx, "web", "one", count)).To(Succeed())
	Eventually(target.texts).WithContext(ctx).WithPolling(5 * time.Millisecond).WithArguments("web").Should(HaveKey("one"))
	fault()
	begin := time.Now()
	f.end(ctx, first)
	took := time.Since(begin)
	repair()
	applied := Must(target.texts(ctx, "web"))["one"]
	GinkgoWriter.Printf("the leader ended after %s, with %d of %d objects applied\n", took, applied, count)
	Expect(applied).To(And(BeNumerically(">", 0), BeNumerically("<", count)), "the install was interrupted")
	Expect(f.leader(ctx)).To(BeEmpty(), "the lease is released")
	Expect(target.inventories(ctx)).To(HaveExactElements("default.web"))

	By("continuing with less content, so that everything else is pruned")
	Expect(f.install(ctx, "web", "two", 1)).To(Succeed())
	begin = time.Now()
	second.Signal(syscall.SIGCONT)
	Eventually(f.leader).WithContext(ctx).WithTimeout(atOnce).WithPolling(50 * time.Millisecond).Should(SatisfyAll(Not(BeEmpty()), Not(Equal(terminated))))
	GinkgoWriter.Printf("the other replica leads after %s\n", time.Since(begin))
	Eventually(target.texts).WithContext(ctx).WithArguments("web").Should(Equal(map[string]int{"two": 1}))
	Eventually(f.ready).WithContext(ctx).WithArguments("web").Should(Equal("True"))
	Expect(second.Err()).NotTo(HaveOccurred())
}
