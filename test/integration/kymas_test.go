// SPDX-License-Identifier: Apache-2.0

package integration

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

// prompt is how long something may take that an event causes. It takes a fraction of a second where nothing else runs.
const prompt = 30 * time.Second

// kyma of the space with its ProviderConfig. It is not created yet.
func (s *space) kyma(name string, modules ...v1alpha1.Module) *v1alpha1.Kyma {
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name}}
	k.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: configName}
	k.Spec.ForProvider.Modules = modules
	return k
}

// onConfig is a Kyma with another ProviderConfig.
func onConfig(k *v1alpha1.Kyma, name string) *v1alpha1.Kyma {
	k.Spec.ProviderConfigReference.Name = name
	return k
}

// inChannel is a Kyma with a channel.
func inChannel(k *v1alpha1.Kyma, channel string) *v1alpha1.Kyma {
	k.Spec.ForProvider.Channel = channel
	return k
}

// getKyma of the space.
func (s *space) getKyma(ctx context.Context, name string) (*v1alpha1.Kyma, error) {
	k := &v1alpha1.Kyma{}
	return k, env.controlClient.Get(ctx, s.key(name), k)
}

// updateKyma of the space.
func (s *space) updateKyma(ctx context.Context, name string, edit func(k *v1alpha1.Kyma)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		k, err := s.getKyma(ctx, name)
		if err != nil {
			return err
		}
		edit(k)
		return env.controlClient.Update(ctx, k)
	})).To(Succeed())
}

// setModules of a Kyma.
func setModules(modules ...v1alpha1.Module) func(k *v1alpha1.Kyma) {
	return func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules = modules }
}

// setChannel of a Kyma.
func setChannel(channel string) func(k *v1alpha1.Kyma) {
	return func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Channel = channel }
}

// annotate an object; an empty value takes the annotation off.
func annotate[T client.Object](key, value string) func(o T) {
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

// annotateKyma with a key and a value.
func (s *space) annotateKyma(ctx context.Context, name, key, value string) {
	GinkgoHelper()
	s.updateKyma(ctx, name, annotate[*v1alpha1.Kyma](key, value))
}

// deleteKyma of the space. It is gone only later.
func (s *space) deleteKyma(ctx context.Context, name string, o ...client.DeleteOption) {
	GinkgoHelper()
	Expect(env.controlClient.Delete(ctx, &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name}}, o...)).To(Succeed())
}

// removeKyma, and wait until it is gone.
func (s *space) removeKyma(ctx context.Context, name string, o ...client.DeleteOption) {
	GinkgoHelper()
	s.deleteKyma(ctx, name, o...)
	s.awaitKymaGone(ctx, name)
}

// awaitKymaGone waits until a Kyma is gone. Nothing that it installed may be left by then.
func (s *space) awaitKymaGone(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(gone(s.getKyma)).WithContext(ctx).WithArguments(name).Should(BeTrue(), func() string {
		k, err := s.getKyma(ctx, name)
		return fmt.Sprintf("Kyma %s is still there: %s (%v)", name, describeKyma(k), err)
	})
}

// awaitKyma waits until a Kyma is Ready in its present generation.
func (s *space) awaitKyma(ctx context.Context, name string) *v1alpha1.Kyma {
	GinkgoHelper()
	Eventually(s.getKyma).WithContext(ctx).WithArguments(name).Should(beReadyKyma())
	return must(s.getKyma(ctx, name))
}

// enable creates a Kyma, and waits until it is Ready.
func (s *space) enable(ctx context.Context, k *v1alpha1.Kyma) *v1alpha1.Kyma {
	GinkgoHelper()
	s.create(ctx, k)
	return s.awaitKyma(ctx, k.Name)
}

// kymas of the space, by name.
func (s *space) kymas(ctx context.Context) ([]string, error) {
	list := &v1alpha1.KymaList{}
	err := env.controlClient.List(ctx, list, client.InNamespace(s.name))
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name+": "+describeKyma(&list.Items[i]))
	}
	return names, err
}

// beReadyKyma matches a Kyma that is Ready as it is now, not as it was before its last change.
func beReadyKyma() types.GomegaMatcher {
	return WithTransform(describeKyma, Equal("Ready"))
}

// describeKyma says Ready, or why not.
func describeKyma(k *v1alpha1.Kyma) string {
	ready, synced := k.GetCondition(xpv2.TypeReady), k.GetCondition(xpv2.TypeSynced)
	at := k.Status.AtProvider
	if synced.ObservedGeneration != k.Generation {
		return fmt.Sprintf("generation %d was seen, it is %d", synced.ObservedGeneration, k.Generation)
	}
	if synced.Status != corev1.ConditionTrue || ready.Status != corev1.ConditionTrue || at.State != v1alpha1.StateReady {
		return fmt.Sprintf("Synced %s %q, Ready %s %q, state %q, modules %+v",
			synced.Status, synced.Message, ready.Status, ready.Message, at.State, at.Modules)
	}
	return "Ready"
}

// haveKymaState matches a Kyma with a state, and a message that has all these parts.
func haveKymaState(state v1alpha1.State, message ...string) types.GomegaMatcher {
	return WithTransform(func(k *v1alpha1.Kyma) v1alpha1.KymaObservation { return k.Status.AtProvider },
		gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{"State": Equal(state), "Message": containAll(message)}))
}

// haveModule matches a Kyma with a module in a state, and a message of it that has all these parts.
func haveModule(name string, state v1alpha1.State, message ...string) types.GomegaMatcher {
	return WithTransform(func(k *v1alpha1.Kyma) []v1alpha1.ModuleStatus { return k.Status.AtProvider.Modules },
		ContainElement(gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{
			"Name": Equal(name), "State": Equal(state), "Message": containAll(message),
		})))
}

// haveVersion matches a Kyma with a module of a version, from a channel.
func haveVersion(name, version, channel string) types.GomegaMatcher {
	return WithTransform(func(k *v1alpha1.Kyma) []v1alpha1.ModuleStatus { return k.Status.AtProvider.Modules },
		ContainElement(gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{
			"Name": Equal(name), "Version": Equal(version), "Channel": Equal(channel),
		})))
}

// haveModules matches a Kyma whose status names these modules and no other, in this order.
func haveModules(names ...string) types.GomegaMatcher {
	return WithTransform(func(k *v1alpha1.Kyma) []string {
		out := []string{}
		for _, m := range k.Status.AtProvider.Modules {
			out = append(out, m.Name)
		}
		return out
	}, Equal(names))
}

// eventsOf an object of a kind, as type, reason and message, each as often as it was recorded.
func (s *space) eventsOf(ctx context.Context, kind, name string) ([]string, error) {
	list := &corev1.EventList{}
	// Events of what is in no namespace are in this one.
	namespace := s.name
	if kind == v1alpha1.ModuleTemplateKind {
		namespace = metav1.NamespaceDefault
	}
	err := env.controlClient.List(ctx, list, client.InNamespace(namespace))
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

// kymaEvents are the events of a Kyma.
func (s *space) kymaEvents(ctx context.Context, name string) ([]string, error) {
	return s.eventsOf(ctx, v1alpha1.KymaKind, name)
}

// beEvent matches an event by its type and reason, and parts of its message.
func beEvent(typeAndReason string, message ...string) types.GomegaMatcher {
	return SatisfyAll(HavePrefix(typeAndReason+" "), containAll(message))
}

// wipe the status of an object in the control plane.
func wipe(ctx context.Context, o client.Object) {
	GinkgoHelper()
	Expect(env.controlClient.Status().Patch(ctx, o, client.RawPatch("application/json-patch+json",
		[]byte(`[{"op":"replace","path":"/status","value":{}}]`)))).To(Succeed())
}

// withProvider runs the provider in another way until the end of the spec.
func withProvider(ctx context.Context, change func(p *provider)) {
	GinkgoHelper()
	kubeconfig, args := env.provider.kubeconfig, env.provider.args
	restart := func(ctx context.Context) {
		GinkgoHelper()
		if env.provider.process.State() == nil {
			Expect(env.provider.terminate(ctx)).To(Succeed())
		}
		Expect(env.provider.start(ctx)).To(Succeed())
	}
	change(env.provider)
	DeferCleanup(func(ctx SpecContext) {
		env.provider.kubeconfig, env.provider.args = kubeconfig, args
		restart(ctx)
	})
	restart(ctx)
}

// listKymas of the space.
func (s *space) listKymas(ctx context.Context) ([]v1alpha1.Kyma, error) {
	list := &v1alpha1.KymaList{}
	err := env.controlClient.List(ctx, list, client.InNamespace(s.name))
	return list.Items, err
}

// listManifests of the space.
func (s *space) listManifests(ctx context.Context) ([]v1alpha1.Manifest, error) {
	list := &v1alpha1.ManifestList{}
	err := env.controlClient.List(ctx, list, client.InNamespace(s.name))
	return list.Items, err
}
