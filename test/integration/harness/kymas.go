// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"maps"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gstruct"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// Prompt is the time limit for a reaction to an event. It takes a fraction of a second on an idle machine.
const Prompt = 30 * time.Second

// Kyma returns a Kyma with the ProviderConfig of the space, without creating it.
func (s *Space) Kyma(name string, modules ...v1alpha1.Module) *v1alpha1.Kyma {
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: name}}
	k.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: ConfigName}
	k.Spec.ForProvider.Modules = modules
	return k
}

// OnConfig sets the ProviderConfig of a Kyma, and returns the Kyma.
func OnConfig(k *v1alpha1.Kyma, name string) *v1alpha1.Kyma {
	k.Spec.ProviderConfigReference.Name = name
	return k
}

// InChannel sets the channel of a Kyma, and returns the Kyma.
func InChannel(k *v1alpha1.Kyma, channel string) *v1alpha1.Kyma {
	k.Spec.ForProvider.Channel = channel
	return k
}

// GetKyma returns a Kyma of the space.
func (s *Space) GetKyma(ctx context.Context, name string) (*v1alpha1.Kyma, error) {
	k := &v1alpha1.Kyma{}
	return k, Env.ControlClient.Get(ctx, s.Key(name), k)
}

// UpdateKyma edits a Kyma of the space, and retries on conflicts.
func (s *Space) UpdateKyma(ctx context.Context, name string, edit func(k *v1alpha1.Kyma)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		k, err := s.GetKyma(ctx, name)
		if err != nil {
			return err
		}
		edit(k)
		return Env.ControlClient.Update(ctx, k)
	})).To(Succeed())
}

// SetModules returns an edit that sets the modules of a Kyma.
func SetModules(modules ...v1alpha1.Module) func(k *v1alpha1.Kyma) {
	return func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules = modules }
}

// SetChannel returns an edit that sets the channel of a Kyma.
func SetChannel(channel string) func(k *v1alpha1.Kyma) {
	return func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Channel = channel }
}

// Annotate returns an edit that sets an annotation of an object, or removes it if the value is empty.
func Annotate[T client.Object](key, value string) func(o T) {
	return func(o T) {
		all := map[string]string{}
		maps.Copy(all, o.GetAnnotations())
		all[key] = value
		if value == "" {
			delete(all, key)
		}
		o.SetAnnotations(all)
	}
}

// AnnotateKyma sets an annotation of a Kyma, or removes it if the value is empty.
func (s *Space) AnnotateKyma(ctx context.Context, name, key, value string) {
	GinkgoHelper()
	s.UpdateKyma(ctx, name, Annotate[*v1alpha1.Kyma](key, value))
}

// DeleteKyma deletes a Kyma of the space, without waiting until it is gone.
func (s *Space) DeleteKyma(ctx context.Context, name string, o ...client.DeleteOption) {
	GinkgoHelper()
	Expect(Env.ControlClient.Delete(ctx, &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: name}}, o...)).To(Succeed())
}

// RemoveKyma deletes a Kyma, and waits until it is gone.
func (s *Space) RemoveKyma(ctx context.Context, name string, o ...client.DeleteOption) {
	GinkgoHelper()
	s.DeleteKyma(ctx, name, o...)
	s.AwaitKymaGone(ctx, name)
}

// AwaitKymaGone waits until a Kyma is gone. By then, everything that it installed must be gone, too.
func (s *Space) AwaitKymaGone(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(Gone(s.GetKyma)).WithContext(ctx).WithArguments(name).Should(BeTrue(), func() string {
		k, err := s.GetKyma(ctx, name)
		return fmt.Sprintf("Kyma %s is still there: %s (%v)", name, DescribeKyma(k), err)
	})
}

// AwaitKyma waits until a Kyma is Ready in its current generation, and returns it.
func (s *Space) AwaitKyma(ctx context.Context, name string) *v1alpha1.Kyma {
	GinkgoHelper()
	Eventually(s.GetKyma).WithContext(ctx).WithArguments(name).Should(BeReadyKyma())
	return Must(s.GetKyma(ctx, name))
}

// Enable creates a Kyma, waits until it is Ready, and returns it.
func (s *Space) Enable(ctx context.Context, k *v1alpha1.Kyma) *v1alpha1.Kyma {
	GinkgoHelper()
	s.Create(ctx, k)
	return s.AwaitKyma(ctx, k.Name)
}

// Kymas returns the name and description of each Kyma of the space.
func (s *Space) Kymas(ctx context.Context) ([]string, error) {
	list := &v1alpha1.KymaList{}
	err := Env.ControlClient.List(ctx, list, client.InNamespace(s.Name))
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name+": "+DescribeKyma(&list.Items[i]))
	}
	return names, err
}

// BeReadyKyma matches a Kyma that is Ready in its current generation.
func BeReadyKyma() types.GomegaMatcher {
	return WithTransform(DescribeKyma, Equal("Ready"))
}

// DescribeKyma returns "Ready", or why a Kyma is not Ready in its current generation.
func DescribeKyma(k *v1alpha1.Kyma) string {
	return describeState(k, k.Status.AtProvider.State, fmt.Sprintf("modules %+v", k.Status.AtProvider.Modules))
}

// HaveKymaState matches a Kyma by its state, and a message that contains all parts.
func HaveKymaState(state v1alpha1.State, message ...string) types.GomegaMatcher {
	return WithTransform(func(k *v1alpha1.Kyma) v1alpha1.KymaObservation { return k.Status.AtProvider },
		gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{"State": Equal(state), "Message": ContainAll(message)}))
}

// HaveModule matches a Kyma with a module in a state, whose message contains all parts.
func HaveModule(name string, state v1alpha1.State, message ...string) types.GomegaMatcher {
	return WithTransform(func(k *v1alpha1.Kyma) []v1alpha1.ModuleStatus { return k.Status.AtProvider.Modules },
		ContainElement(gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{
			"Name": Equal(name), "State": Equal(state), "Message": ContainAll(message),
		})))
}

// HaveVersion matches a Kyma with a module in a version from a channel.
func HaveVersion(name, version, channel string) types.GomegaMatcher {
	return WithTransform(func(k *v1alpha1.Kyma) []v1alpha1.ModuleStatus { return k.Status.AtProvider.Modules },
		ContainElement(gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{
			"Name": Equal(name), "Version": Equal(version), "Channel": Equal(channel),
		})))
}

// HaveModules matches a Kyma whose status names exactly these modules, in this order.
func HaveModules(names ...string) types.GomegaMatcher {
	return WithTransform(func(k *v1alpha1.Kyma) []string {
		out := []string{}
		for _, m := range k.Status.AtProvider.Modules {
			out = append(out, m.Name)
		}
		return out
	}, Equal(names))
}

// EventsOf returns the events of an object as type, reason and message, with one entry for each time that an event was
// recorded.
func (s *Space) EventsOf(ctx context.Context, kind, name string) ([]string, error) {
	list := &corev1.EventList{}
	// Events of cluster-scoped objects are in the namespace default.
	namespace := s.Name
	if kind == v1alpha1.ModuleTemplateKind || kind == v1alpha1.KymaSetKind {
		namespace = metav1.NamespaceDefault
	}
	err := Env.ControlClient.List(ctx, list, client.InNamespace(namespace))
	var out []string
	for i := range list.Items {
		e := &list.Items[i]
		if e.InvolvedObject.Kind != kind || e.InvolvedObject.Name != name {
			continue
		}
		for range max(1, e.Count) {
			out = append(out, e.Type+" "+e.Reason+" "+e.Message)
		}
	}
	return out, err
}

// KymaEvents returns the events of a Kyma.
func (s *Space) KymaEvents(ctx context.Context, name string) ([]string, error) {
	return s.EventsOf(ctx, v1alpha1.KymaKind, name)
}

// BeEvent matches an event by its type and reason, and by parts of its message.
func BeEvent(typeAndReason string, message ...string) types.GomegaMatcher {
	return SatisfyAll(HavePrefix(typeAndReason+" "), ContainAll(message))
}

// Wipe empties the status of an object in the control plane.
func Wipe(ctx context.Context, o client.Object) {
	GinkgoHelper()
	Expect(Env.ControlClient.Status().Patch(ctx, o, client.RawPatch("application/json-patch+json",
		[]byte(`[{"op":"replace","path":"/status","value":{}}]`)))).To(Succeed())
}

// WithProvider restarts the provider with a change until the end of the spec.
func WithProvider(ctx context.Context, change func(p *Provider)) {
	GinkgoHelper()
	before := *Env.Provider
	restart := func(ctx context.Context) {
		GinkgoHelper()
		if Env.Provider.Process.State() == nil {
			Expect(Env.Provider.Terminate(ctx)).To(Succeed())
		}
		Expect(Env.Provider.Start(ctx)).To(Succeed())
	}
	change(Env.Provider)
	DeferCleanup(func(ctx SpecContext) {
		p := Env.Provider
		p.Binary, p.Kubeconfig, p.Args, p.Env = before.Binary, before.Kubeconfig, before.Args, before.Env
		restart(ctx)
	})
	restart(ctx)
}

// ListKymas returns the Kymas of the space.
func (s *Space) ListKymas(ctx context.Context) ([]v1alpha1.Kyma, error) {
	list := &v1alpha1.KymaList{}
	err := Env.ControlClient.List(ctx, list, client.InNamespace(s.Name))
	return list.Items, err
}

// ListManifests returns the Manifests of the space.
func (s *Space) ListManifests(ctx context.Context) ([]v1alpha1.Manifest, error) {
	list := &v1alpha1.ManifestList{}
	err := Env.ControlClient.List(ctx, list, client.InNamespace(s.Name))
	return list.Items, err
}
