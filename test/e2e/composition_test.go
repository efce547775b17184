// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// clustersGroup is the API group of a stand-in for a provider of clusters, teamsGroup that of the example that composes it.
const (
	clustersGroup = "clusters.example.org"
	teamsGroup    = "platform.example.org"
	clusterName   = "platform"
)

var _ = Describe("A Kyma composed next to a cluster, as in the example", func() {
	It("waits for the kubeconfig of the cluster without repeated writes, and is deleted before it", func(ctx SpecContext) {
		offerTeamClusters(ctx)
		s := newSpace(ctx)
		m := s.operated(ctx, "module")
		u := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": teamsGroup + "/v1alpha1", "kind": "TeamCluster",
			"metadata": map[string]any{"namespace": s.name, "name": clusterName},
			"spec":     map[string]any{"region": "eu-central", "modules": modulesOf(m)},
		}}
		s.create(ctx, u)
		DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(env.controlClient.Delete(ctx, u))).To(Succeed()) })

		By("reporting what it waits for")
		Eventually(s.composed).WithContext(ctx).Should(haveCondition(xpv2.TypeReady, corev1.ConditionFalse, "Secret", clusterName+"-kubeconfig"))
		Eventually(now(u)).WithContext(ctx).Should(SatisfyAll(haveUnready(), showMessage(clusterName+"-kubeconfig")))

		By("writing almost nothing while it waits")
		versions := s.stableVersions(ctx)
		before, warned, begin := must(env.scrape(ctx)), must(s.warnings(ctx)), time.Now()
		Consistently(s.versions).WithContext(ctx).WithTimeout(2 * calm).Should(Equal(versions))
		// The provider retries, less and less often, and renews its lease every two seconds.
		renewals := time.Since(begin).Seconds()/2 + 1
		Expect(must(env.scrape(ctx)).writes(before)).To(BeNumerically("<=", renewals+6))
		Expect(must(s.warnings(ctx)) - warned).To(BeNumerically("<=", 6))

		By("becoming Ready after the cluster")
		s.finishCluster(ctx)
		m.report(ctx, `{"state":"Ready"}`)
		Eventually(now(u)).WithContext(ctx).Should(beReadyComposite())
		Expect(must(m.installed(ctx)).Data).To(HaveKeyWithValue("version", "1.0.0"))

		By("removing the modules before the cluster is deleted")
		m.hold(ctx, true)
		s.delete(ctx, u)
		Eventually(s.composed).WithContext(ctx).Should(HaveField("DeletionTimestamp", Not(BeNil())))
		Consistently(s.cluster).WithContext(ctx).WithTimeout(calm / 2).Should(HaveField("GetDeletionTimestamp()", BeNil()))
		m.hold(ctx, false)
		Eventually(m.absent).WithContext(ctx).Should(BeTrue())
		Eventually(func(ctx context.Context) (bool, error) {
			_, err := s.cluster(ctx)
			return kerrors.IsNotFound(err), client.IgnoreNotFound(err)
		}).WithContext(ctx).Should(BeTrue())
		Expect(s.objects(ctx)).To(BeEmpty())
	})
})

// offerTeamClusters creates the XRD and the composition of the example and the CRD of its clusters.
func offerTeamClusters(ctx context.Context) {
	GinkgoHelper()
	example := filepath.Join(must(tools.Root()), "examples", "in-composition", "cluster")
	for _, file := range []string{
		filepath.Join("testdata", "clusters.yaml"), filepath.Join(example, "definition.yaml"), filepath.Join(example, "composition.yaml"),
	} {
		o := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal(must(os.ReadFile(file)), &o.Object)).To(Succeed())
		Expect(env.controlClient.Create(ctx, o)).To(Succeed())
	}
	for group, kind := range map[string]string{clustersGroup: "Cluster", teamsGroup: "TeamCluster"} {
		// Kinds are served a moment after their CRDs exist.
		Eventually(func(ctx context.Context) error { return env.controlClient.List(ctx, listOf(group, "v1alpha1", kind)) }).WithContext(ctx).Should(Succeed())
	}
}

// cluster returns the composed cluster.
func (s *space) cluster(ctx context.Context) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(clustersGroup + "/v1alpha1")
	u.SetKind("Cluster")
	return fetched(ctx, env.controlClient, s.key(clusterName), u)
}

// finishCluster writes the connection secret and sets the cluster Ready, as its provider would.
func (s *space) finishCluster(ctx context.Context) {
	GinkgoHelper()
	cluster := must(s.cluster(ctx))
	secret := s.secret()
	secret.Name = text(cluster, "spec", "writeConnectionSecretToRef", "name")
	s.create(ctx, secret)
	ready := map[string]any{"type": "Ready", "status": "True", "reason": "Available", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
	// Crossplane writes the cluster too.
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		cluster, err := s.cluster(ctx)
		if err != nil {
			return err
		}
		set(cluster, []any{ready}, "status", "conditions")
		return env.controlClient.Status().Update(ctx, cluster)
	})).To(Succeed())
}

// versions returns the kind, name and resource version of all objects that kinds lists, in the namespace.
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

// stableVersions waits until nothing in the namespace changes for a second, and returns the versions of all objects.
func (s *space) stableVersions(ctx context.Context) []string {
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

// warnings returns the number of warning events in the namespace, counting repeated events.
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
