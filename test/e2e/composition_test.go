// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

var _ = Describe("A Kyma composed next to a cluster", func() {
	It("waits quietly for the kubeconfig of the cluster", func(ctx SpecContext) {
		offerPlatforms(ctx)
		s := newSpace(ctx)
		m := s.offer(ctx, "module")
		u := s.environment("platform", m)
		u.SetKind("KymaPlatform")
		unstructured.RemoveNestedField(u.Object, "spec", "kubeconfigSecretRef")
		s.create(ctx, u)
		DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(env.controlClient.Delete(ctx, u))).To(Succeed()) })

		By("saying what it waits for")
		Eventually(s.composed).WithContext(ctx).Should(haveCondition(xpv2.TypeReady, corev1.ConditionFalse, "Secret", "platform-kubeconfig"))
		Eventually(now(u)).WithContext(ctx).Should(SatisfyAll(haveUnready(), WithTransform(describeComposite, ContainSubstring("platform-kubeconfig"))))

		By("writing nothing meanwhile but what is new")
		before, versions := must(env.scrape(ctx)), s.settled(ctx)
		Consistently(s.versions).WithContext(ctx).WithTimeout(2 * calm).Should(Equal(versions))
		// It tries again, less and less often, and renews its lease.
		Expect(must(env.scrape(ctx)).writes(before)).To(BeNumerically("<=", 8))
		Expect(s.warnings(ctx)).To(BeNumerically("<=", 8))

		By("becoming Ready once the cluster is")
		secret := s.secret()
		secret.Name = "platform-kubeconfig"
		s.create(ctx, secret)
		cluster := &unstructured.Unstructured{}
		cluster.SetAPIVersion("example.org/v1")
		cluster.SetKind("FakeCluster")
		Expect(env.controlClient.Get(ctx, s.key("platform"), cluster)).To(Succeed())
		set(cluster, []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "Available", "lastTransitionTime": metav1.Now().UTC().Format("2006-01-02T15:04:05Z"),
		}}, "status", "conditions")
		Expect(env.controlClient.Status().Update(ctx, cluster)).To(Succeed())
		Eventually(now(u)).WithContext(ctx).Should(beReadyComposite())
		Expect(must(m.installed(ctx)).Data).To(HaveKeyWithValue("version", "1.0.0"))
		s.remove(ctx, u)
		Eventually(m.absent).WithContext(ctx).Should(BeTrue())
	})
})

// offerPlatforms has a composition served that composes a cluster and its modules.
func offerPlatforms(ctx context.Context) {
	GinkgoHelper()
	text := must(os.ReadFile(filepath.Join("testdata", "platform.yaml")))
	for doc := range strings.SplitSeq(string(text), "\n---\n") {
		o := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(doc), &o.Object)).To(Succeed())
		// Kinds are served a moment after their definitions.
		Eventually(func(ctx context.Context) error {
			return client.IgnoreAlreadyExists(env.controlClient.Create(ctx, o.DeepCopy()))
		}).WithContext(ctx).Should(Succeed())
	}
	platforms := listOf(platformGroup, "v1alpha1", "KymaPlatform")
	Eventually(func(ctx context.Context) error { return env.controlClient.List(ctx, platforms) }).WithContext(ctx).Should(Succeed())
}

// versions of all Kymas, Manifests and ProviderConfigs in the namespace.
func (s *space) versions(ctx context.Context) ([]string, error) {
	var out []string
	for _, list := range kinds() {
		if err := env.controlClient.List(ctx, list, client.InNamespace(s.name)); err != nil {
			return nil, err
		}
		for i := range list.Items {
			o := &list.Items[i]
			out = append(out, o.GetKind()+" "+o.GetName()+" "+o.GetResourceVersion())
		}
	}
	slices.Sort(out)
	return out, nil
}

// settled waits until nothing in the namespace changes for a second, and returns the versions of everything.
func (s *space) settled(ctx context.Context) []string {
	GinkgoHelper()
	var last []string
	Eventually(func(ctx context.Context) (bool, error) {
		before := last
		var err error
		last, err = s.versions(ctx)
		return slices.Equal(last, before), err
	}).WithContext(ctx).WithPolling(time.Second).Should(BeTrue())
	return last
}

// warnings among the events of the namespace, each as often as it was recorded.
func (s *space) warnings(ctx context.Context) (int, error) {
	list := &corev1.EventList{}
	err := env.controlClient.List(ctx, list, client.InNamespace(s.name))
	n := 0
	for i := range list.Items {
		if list.Items[i].Type == corev1.EventTypeWarning {
			n += int(max(1, list.Items[i].Count))
		}
	}
	return n, err
}
