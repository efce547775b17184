// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"

	"github.com/google/go-containerregistry/pkg/crane"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane/crossplane"
)

// leaseName is the name of the lease with which the processes of the provider elect their leader.
const leaseName = "crossplane-leader-election-provider-kyma"

// exitExists is the exit code of kymactl if an object exists already.
const exitExists = 5

var _ = Describe("The packages", func() {
	It("are installed and healthy, with the digest of the build", func(ctx SpecContext) {
		p := must(fetched(ctx, env.controlClient, client.ObjectKey{Name: crossplane.ObjectName(crossplane.ProviderPackage)}, &pkgv1.Provider{}))
		Expect(p.GetCondition(pkgv1.TypeInstalled)).To(HaveField("Status", BeEquivalentTo("True")))
		Expect(p.GetCondition(pkgv1.TypeHealthy)).To(HaveField("Status", BeEquivalentTo("True")))
		pushed := must(crane.Digest(env.registry.Host() + "/" + crossplane.Organization + "/" + crossplane.ProviderPackage + ":" + firstVersion))
		Expect(pushed).To(Equal(env.digests[crossplane.ProviderPackage]))
		configuration := must(fetched(ctx, env.controlClient,
			client.ObjectKey{Name: crossplane.ObjectName(crossplane.ConfigurationPackage)}, &pkgv1.Configuration{}))
		Expect(configuration.GetCondition(pkgv1.TypeHealthy)).To(HaveField("Status", BeEquivalentTo("True")))
	})

	It("install the CRDs of all kinds", func(ctx SpecContext) {
		for _, name := range []string{
			"kymas.kyma.m.crossplane.io", "manifests.kyma.m.crossplane.io", "moduletemplates.kyma.m.crossplane.io",
			"providerconfigs.kyma.m.crossplane.io", "clusterproviderconfigs.kyma.m.crossplane.io", "providerconfigusages.kyma.m.crossplane.io",
			"kymaenvironments." + platformGroup, "xkymaenvironments." + platformGroup, "kymaenvironmentclaims." + platformGroup,
		} {
			// Crossplane creates the CRDs of a composite resource after its package has become healthy.
			Eventually(func(ctx context.Context) ([]apiextensionsv1.CustomResourceDefinitionCondition, error) {
				d, err := fetched(ctx, env.controlClient, client.ObjectKey{Name: name}, &apiextensionsv1.CustomResourceDefinition{})
				if err != nil {
					return nil, err
				}
				return d.Status.Conditions, nil
			}).WithContext(ctx).Should(ContainElement(SatisfyAll(
				HaveField("Type", apiextensionsv1.Established), HaveField("Status", apiextensionsv1.ConditionTrue))), name)
		}
	})

	It("are detected by kymactl, which does not install them again", func(ctx SpecContext) {
		s := newSpace(ctx)
		ref := must(env.pushProvider(ctx, firstVersion))
		s.create(ctx, s.config())
		s.kymactl(ctx, exitExists, "deploy", "--package", ref, "--provider-config", secretName)
		Expect(s.count(ctx)).To(Equal(1), "the ProviderConfig")
		s.kymactl(ctx, 0, "deploy", "--provider-config", secretName, "--wait")
		list := &pkgv1.ProviderList{}
		Expect(env.controlClient.List(ctx, list)).To(Succeed())
		Expect(list.Items).To(HaveLen(1))
		s.kymactl(ctx, 0, "undeploy")
		Expect(s.count(ctx)).To(Equal(1), "the ProviderConfig")
	})

	It("run one process, which is the leader, with the ServiceAccount that Crossplane created", func(ctx SpecContext) {
		pod := must(env.crossplane.AwaitPod(ctx))
		Expect(pod.Restarts).To(BeZero())
		leases := &coordinationv1.LeaseList{}
		Expect(env.controlClient.List(ctx, leases, client.InNamespace(crossplane.Namespace))).To(Succeed())
		Expect(leases.Items).To(ContainElement(HaveField("Name", leaseName)))
	})
})
