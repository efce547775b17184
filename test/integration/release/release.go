// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"fmt"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const channel = "regular"

// A fleet has two Kymas with the same module: canary in the target, and rest in the control plane. A RolloutPolicy has the wave canary for
// the first of them.
type fleet struct {
	*Space

	module *Offer
	name   string
}

// newFleet returns a fleet whose Kymas have version 1.0.0 of the module.
func newFleet(ctx context.Context, change func(p *v1alpha1.RolloutPolicySpec)) *fleet {
	GinkgoHelper()
	s := NewSpace(ctx)
	f := &fleet{Space: s, module: NewOffer(s, "mod")}
	f.name = f.module.Name
	f.add(ctx, "1.0.0", true)
	policy := &v1alpha1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: f.name}}
	one := intstr.FromInt32(1)
	policy.Spec = v1alpha1.RolloutPolicySpec{
		Waves: []v1alpha1.RolloutWave{{
			Name: "canary", Selector: metav1.SetAsLabelSelector(map[string]string{"ring": "canary"}), Soak: &metav1.Duration{Duration: time.Second},
		}},
		FailureBudget: &one, ProgressDeadline: &metav1.Duration{Duration: Patience},
	}
	change(&policy.Spec)
	f.create(ctx, policy)
	release := &v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: f.name}}
	release.Spec.ModuleName = f.name
	release.Spec.Channels = []v1alpha1.ChannelRelease{{Channel: channel, Release: v1alpha1.Release{Version: "1.0.0", RolloutPolicy: f.name}}}
	f.create(ctx, release)

	s.Config(ctx, "control-plane", Env.Control.Kubeconfig())
	canary, rest := s.Kyma("canary", f.module.Module()), OnConfig(s.Kyma("rest", f.module.Module()), "control-plane")
	canary.Labels = map[string]string{"ring": "canary"}
	for _, k := range []*v1alpha1.Kyma{canary, rest} {
		Expect(s.Enable(ctx, k)).To(HaveVersion(f.name, "1.0.0", channel))
	}
	return f
}

// create creates a cluster-scoped object, and deletes it at the end of the spec.
func (f *fleet) create(ctx context.Context, o client.Object) {
	GinkgoHelper()
	f.Create(ctx, o)
	DeferCleanup(func(ctx SpecContext) { Expect(Env.ControlClient.Delete(ctx, o)).To(Succeed()) })
}

// add adds a version of the module to the catalogue. It becomes Ready or not.
func (f *fleet) add(ctx context.Context, version string, works bool) {
	GinkgoHelper()
	c := f.module.Component(version)
	if !works {
		c.Resources[0].Files["values.yaml"] = []byte("message: hello\nnever: true\n")
	}
	Push(ctx, c)
	t := f.module.Template("", c)
	t.Name = f.name + "-" + version
	f.Create(ctx, t)
	f.module.AwaitResolved(ctx, t.Name, version)
}

// edit changes the release of the channel.
func (f *fleet) edit(ctx context.Context, change func(r *v1alpha1.Release)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		m, err := f.get(ctx)
		if err != nil {
			return err
		}
		change(&m.Spec.Channels[0].Release)
		return Env.ControlClient.Update(ctx, m)
	})).To(Succeed())
}

func (f *fleet) promote(ctx context.Context, version string) {
	GinkgoHelper()
	f.edit(ctx, func(r *v1alpha1.Release) { r.Version = version })
}

func (f *fleet) get(ctx context.Context) (*v1alpha1.ModuleReleaseMeta, error) {
	m := &v1alpha1.ModuleReleaseMeta{}
	return m, Env.ControlClient.Get(ctx, client.ObjectKey{Name: f.name}, m)
}

// events returns the events of the release, with their type, reason and message. Events of cluster-scoped objects are in the namespace default.
func (f *fleet) events(ctx context.Context) ([]string, error) {
	list := &corev1.EventList{}
	err := Env.ControlClient.List(ctx, list, client.InNamespace(metav1.NamespaceDefault))
	var out []string
	for i := range list.Items {
		if e := &list.Items[i]; e.InvolvedObject.Name == f.name && e.InvolvedObject.Kind == v1alpha1.ModuleReleaseMetaKind {
			out = append(out, e.Type+" "+e.Reason+" "+e.Message)
		}
	}
	return out, err
}

// await waits until the rollout in the channel is in a phase, with a version.
func (f *fleet) await(ctx context.Context, version string, phase v1alpha1.RolloutPhase) *v1alpha1.ModuleReleaseMeta {
	GinkgoHelper()
	Eventually(f.get).WithContext(ctx).Should(bePhase(version, phase))
	return Must(f.get(ctx))
}

func bePhase(version string, phase v1alpha1.RolloutPhase) types.GomegaMatcher {
	return SatisfyAll(
		WithTransform(func(m *v1alpha1.ModuleReleaseMeta) bool { return m.Status.ObservedGeneration == m.Generation }, BeTrue()),
		HaveField("Status.Channels", ConsistOf(SatisfyAll(HaveField("Version", version), HaveField("Phase", phase)))))
}

// awaitKyma waits until the module of a Kyma is Ready in a version.
func (f *fleet) awaitKyma(ctx context.Context, name, version string) {
	GinkgoHelper()
	Eventually(f.GetKyma).WithContext(ctx).WithArguments(name).Should(SatisfyAll(
		HaveVersion(f.name, version, channel), HaveModule(f.name, v1alpha1.StateReady), BeReadyKyma()))
}

var _ = Describe("A version that a ModuleReleaseMeta releases", func() {
	It("changes one wave after another, waits while it is paused, and is complete when all have it", func(ctx SpecContext) {
		// The wave soaks for a while, so that the message about the next wave can be seen.
		f := newFleet(ctx, func(p *v1alpha1.RolloutPolicySpec) { p.Waves[0].Soak = &metav1.Duration{Duration: 5 * time.Second} })
		f.await(ctx, "1.0.0", v1alpha1.RolloutComplete)
		f.add(ctx, "1.1.0", true)
		f.edit(ctx, func(r *v1alpha1.Release) { r.Version, r.Paused = "1.1.0", true })
		f.await(ctx, "1.1.0", v1alpha1.RolloutPaused)
		Eventually(f.GetKyma).WithContext(ctx).WithArguments("canary").Should(HaveModule(f.name, v1alpha1.StateReady, "upgrade to 1.1.0 waits until the rollout is resumed"))
		Consistently(f.GetKyma).WithContext(ctx).WithArguments("canary").Should(HaveVersion(f.name, "1.0.0", channel))

		By("resuming it")
		f.edit(ctx, func(r *v1alpha1.Release) { r.Paused = false })
		Eventually(f.GetKyma).WithContext(ctx).WithArguments("rest").Should(HaveModule(f.name, v1alpha1.StateReady, "upgrade to 1.1.0 waits for wave rest of the rollout"))
		f.awaitKyma(ctx, "canary", "1.1.0")
		f.awaitKyma(ctx, "rest", "1.1.0")
		m := f.await(ctx, "1.1.0", v1alpha1.RolloutComplete)
		Eventually(f.get).WithContext(ctx).Should(HaveField("Status.Channels", ConsistOf(SatisfyAll(
			HaveField("Total", int32(2)), HaveField("Updated", int32(2)), HaveField("Ready", int32(2)), HaveField("Previous", "1.0.0")))))
		Expect(m.Status.GetCondition(v1alpha1.TypeComplete).Status).To(Equal(corev1.ConditionTrue))
		Expect(m.Status.GetCondition(xpv2.TypeReady).Status).To(Equal(corev1.ConditionTrue))
		Eventually(f.events).WithContext(ctx).Should(SatisfyAll(
			ContainElement(BeEvent("Normal RolloutWaveStarted", "wave rest")), ContainElement(BeEvent("Normal RolloutComplete", "1.1.0"))))

		By("writing nothing at rest")
		m = Must(f.get(ctx))
		Consistently(f.get).WithContext(ctx).Should(HaveField("ResourceVersion", m.ResourceVersion))
	})

	It("goes back in the wave in which it fails, and reaches no other", func(ctx SpecContext) {
		f := newFleet(ctx, func(p *v1alpha1.RolloutPolicySpec) {
			p.OnFailure, p.ProgressDeadline = v1alpha1.FailurePolicyRollback, &metav1.Duration{Duration: 6 * time.Second}
		})
		before := Must(f.Get(ctx, f.module.Manifest("rest")))
		f.add(ctx, "1.1.0", false)
		f.promote(ctx, "1.1.0")
		Eventually(f.GetKyma).WithContext(ctx).WithArguments("canary").Should(HaveVersion(f.name, "1.1.0", channel))
		m := f.await(ctx, "1.1.0", v1alpha1.RolloutRolledBack)
		Expect(m.Status.GetCondition(v1alpha1.TypeFailed)).To(SatisfyAll(
			HaveField("Status", corev1.ConditionTrue), HaveField("Message", ContainSubstring("1 Kyma failed in wave canary"))))
		f.awaitKyma(ctx, "canary", "1.0.0")
		Expect(Must(f.Get(ctx, f.module.Manifest("rest"))).Generation).To(Equal(before.Generation))
		Eventually(f.events).WithContext(ctx).Should(ContainElement(BeEvent("Warning RolloutFailed", "1.1.0", f.Name+"/canary")))

		By("releasing a version that works")
		policy := &v1alpha1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: f.name}}
		longer := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"progressDeadline":%q}}`, Patience))
		Expect(Env.ControlClient.Patch(ctx, policy, longer)).To(Succeed())
		f.add(ctx, "1.2.0", true)
		f.promote(ctx, "1.2.0")
		f.awaitKyma(ctx, "canary", "1.2.0")
		f.awaitKyma(ctx, "rest", "1.2.0")
		f.await(ctx, "1.2.0", v1alpha1.RolloutComplete)
	})

	It("is replaced by a newer one in mid-rollout, and goes back when it is aborted", func(ctx SpecContext) {
		f := newFleet(ctx, func(p *v1alpha1.RolloutPolicySpec) {
			p.Waves[0].Soak, p.OnFailure = &metav1.Duration{Duration: time.Hour}, v1alpha1.FailurePolicyRollback
		})
		f.add(ctx, "1.1.0", true)
		f.promote(ctx, "1.1.0")
		f.awaitKyma(ctx, "canary", "1.1.0")
		f.await(ctx, "1.1.0", v1alpha1.RolloutProgressing)

		By("releasing a newer version")
		f.add(ctx, "1.2.0", true)
		f.promote(ctx, "1.2.0")
		f.awaitKyma(ctx, "canary", "1.2.0")
		Expect(f.await(ctx, "1.2.0", v1alpha1.RolloutProgressing).Status.Channels[0].Previous).To(Equal("1.0.0"), "version 1.1.0 was never complete")

		By("aborting the rollout")
		f.edit(ctx, func(r *v1alpha1.Release) { r.AbortedVersion = "1.2.0" })
		f.await(ctx, "1.2.0", v1alpha1.RolloutRolledBack)
		f.awaitKyma(ctx, "canary", "1.0.0")
		f.awaitKyma(ctx, "rest", "1.0.0")
		Eventually(f.events).WithContext(ctx).Should(SatisfyAll(
			ContainElement(BeEvent("Warning RolloutFailed", "the rollout was aborted")), ContainElement(BeEvent("Normal RolloutRolledBack", "1.0.0"))))

		By("retrying it")
		f.edit(ctx, func(r *v1alpha1.Release) { r.AbortedVersion, r.Retry = "", "again" })
		f.awaitKyma(ctx, "canary", "1.2.0")
	})

	It("must be in the catalogue, and a Kyma that pins another version does not follow it", func(ctx SpecContext) {
		f := newFleet(ctx, func(*v1alpha1.RolloutPolicySpec) {})
		f.UpdateKyma(ctx, "rest", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules[0].Version = "1.0.0" })
		f.promote(ctx, "1.1.0")
		Eventually(f.get).WithContext(ctx).Should(WithTransform(func(m *v1alpha1.ModuleReleaseMeta) xpv2.Condition { return m.Status.GetCondition(xpv2.TypeReady) },
			SatisfyAll(HaveField("Reason", v1alpha1.ReasonInvalidRelease), HaveField("Message", ContainSubstring("no ModuleTemplate provides version 1.1.0")))))
		f.awaitKyma(ctx, "canary", "1.0.0")
		f.add(ctx, "1.1.0", true)
		f.awaitKyma(ctx, "canary", "1.1.0")
		Expect(f.await(ctx, "1.1.0", v1alpha1.RolloutComplete).Status.Channels[0].Total).To(Equal(int32(1)))
		Expect(Must(f.GetKyma(ctx, "rest"))).To(HaveVersion(f.name, "1.0.0", ""))
	})

	It("is installed in each Kyma that is selected if it is mandatory, and is removed when it is not mandatory any longer", func(ctx SpecContext) {
		s := NewSpace(ctx)
		f := &fleet{Space: s, module: NewOffer(s, "mod")}
		f.name = f.module.Name
		f.add(ctx, "1.0.0", true)
		k := s.Kyma("kyma")
		k.Labels = map[string]string{LabelSpec: s.Name}
		s.Enable(ctx, k)
		release := &v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: f.name}}
		release.Spec = v1alpha1.ModuleReleaseMetaSpec{
			ModuleName: f.name, Mandatory: &v1alpha1.Release{Version: "1.0.0"}, KymaSelector: metav1.SetAsLabelSelector(k.Labels),
		}
		s.Create(ctx, release)
		Eventually(f.module.Installed).WithContext(ctx).Should(HaveData("version", "1.0.0"))
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(BeReadyKyma(), HaveField("Status.AtProvider.Modules",
			ConsistOf(SatisfyAll(HaveField("Origin", v1alpha1.ModuleOriginMandatory), HaveField("Version", "1.0.0"))))))

		By("no longer making it mandatory")
		Expect(Env.ControlClient.Delete(ctx, release)).To(Succeed())
		Eventually(f.module.Absent).WithContext(ctx).Should(BeTrue())
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(SatisfyAll(BeReadyKyma(), HaveField("Status.AtProvider.Modules", BeEmpty())))
	})
})
