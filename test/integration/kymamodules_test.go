// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	// modulesRepository is the repository of components in the registry.
	modulesRepository = "modules"
	// labelSpec is on each ModuleTemplate. It names the space, as ModuleTemplates are in no namespace.
	labelSpec = "example.org/spec"
)

// An offer is a module that ModuleTemplates of a spec offer. Its name is also that of its only chart, and of the ConfigMap
// of the chart, in the namespace of the space.
type offer struct {
	s    *space
	name string
	// operated modules have a CRD, and a default custom resource of it.
	operated bool
}

// offer of a module, whose name is unique, as ModuleTemplates and CRDs are in no namespace. Installs of modules are
// all in one namespace of the target.
func (s *space) offer(short string) *offer { return &offer{s: s, name: s.name + "-" + short} }

// operated is an offer of a module with a custom resource, whose state is that of the module.
func (s *space) operated(short string) *offer {
	return &offer{s: s, name: s.name + "-" + short, operated: true}
}

// module as a Kyma asks for it.
func (o *offer) module() v1alpha1.Module { return v1alpha1.Module{Name: o.name} }

// inChannel is the module in a channel of its own.
func (o *offer) inChannel(channel string) v1alpha1.Module {
	return v1alpha1.Module{Name: o.name, Channel: channel}
}

// chart of the module, in a version. It is the same for all modules of the space.
func (o *offer) chart(version string) chart {
	return newChart("module", version).with("values.yaml", "message: hello\nnever: false\n").with("templates/config.yaml", `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  namespace: `+o.s.name+`
data:
  version: {{ .Chart.Version | quote }}
  message: {{ .Values.message | quote }}
`).with("templates/never.yaml", "{{ if .Values.never }}"+neverReady+"{{ end }}\n")
}

// component of the module, in a version.
func (o *offer) component(version string) controlplane.Component {
	c := controlplane.Component{
		Name: "example.org/module/" + o.name, Version: version,
		Resources: []controlplane.ComponentResource{{Name: o.name, Type: "helm-chart", Files: o.chart(version).files}},
	}
	if o.operated {
		c.Resources = append(c.Resources, controlplane.ComponentResource{
			Name: "crds", Type: "crds", Files: controlplane.Files{"widgets.yaml": []byte(controlplane.WidgetDefinition(o.group()))},
		})
	}
	return c
}

// group of the custom resources of the module.
func (o *offer) group() string { return o.name + ".example.org" }

// push a component.
func push(ctx context.Context, c controlplane.Component) controlplane.PushedComponent {
	GinkgoHelper()
	return must(env.registry.PushComponent(ctx, modulesRepository, c))
}

// componentAt is where a component is in the registry.
func componentAt(c controlplane.Component) *v1alpha1.Component {
	return &v1alpha1.Component{
		Repository: env.registry.Host() + "/" + modulesRepository, Name: c.Name, Version: c.Version,
		NameMapping: v1alpha1.NameMapping(c.Mapping),
	}
}

// template of the module in a channel. It is not created yet.
func (o *offer) template(channel string, c controlplane.Component) *v1alpha1.ModuleTemplate {
	GinkgoHelper()
	t := &v1alpha1.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: o.templateName(channel), Labels: map[string]string{labelSpec: o.s.name}},
		Spec:       v1alpha1.ModuleTemplateSpec{Channel: channel, Component: componentAt(c)},
	}
	if o.operated {
		// It has no name, and gets that of the module.
		t.Spec.Data = raw(values{
			"apiVersion": o.group() + "/v1", "kind": "Widget", "metadata": values{"namespace": o.s.name}, "spec": values{"size": "small"},
		})
	}
	return t
}

func (o *offer) templateName(channel string) string { return o.name + "-" + channel }

// release a version of the module in a channel: the component is pushed, and the ModuleTemplate is created or changed.
func (o *offer) release(ctx context.Context, channel, version string) *v1alpha1.ModuleTemplate {
	GinkgoHelper()
	c := o.component(version)
	push(ctx, c)
	t := o.template(channel, c)
	err := env.controlClient.Create(ctx, t.DeepCopy())
	if err == nil {
		return o.awaitResolved(ctx, t.Name, version)
	}
	updateTemplate(ctx, t.Name, func(have *v1alpha1.ModuleTemplate) { have.Spec = t.Spec })
	return must(getTemplate(ctx, t.Name))
}

// awaitResolved waits until a ModuleTemplate is resolved to a version.
func (o *offer) awaitResolved(ctx context.Context, name, version string) *v1alpha1.ModuleTemplate {
	GinkgoHelper()
	Eventually(getTemplate).WithContext(ctx).WithArguments(name).Should(SatisfyAll(
		beResolved(corev1.ConditionTrue, v1alpha1.ReasonResolved), HaveField("Status.Version", version)))
	return must(getTemplate(ctx, name))
}

// getTemplate by name.
func getTemplate(ctx context.Context, name string) (*v1alpha1.ModuleTemplate, error) {
	t := &v1alpha1.ModuleTemplate{}
	return t, env.controlClient.Get(ctx, client.ObjectKey{Name: name}, t)
}

// updateTemplate by name.
func updateTemplate(ctx context.Context, name string, edit func(t *v1alpha1.ModuleTemplate)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		t, err := getTemplate(ctx, name)
		if err != nil {
			return err
		}
		edit(t)
		return env.controlClient.Update(ctx, t)
	})).To(Succeed())
}

// deleteTemplate by name.
func deleteTemplate(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(env.controlClient.Delete(ctx, &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
}

// beResolved matches a ModuleTemplate by its condition Resolved, as the spec is now, with a message that has all these
// parts.
func beResolved(status corev1.ConditionStatus, reason xpv2.ConditionReason, message ...string) types.GomegaMatcher {
	return WithTransform(func(t *v1alpha1.ModuleTemplate) xpv2.Condition {
		c := t.Status.GetCondition(v1alpha1.TypeResolved)
		if status == corev1.ConditionTrue && t.Status.ResolvedGeneration != t.Generation {
			c.Status = corev1.ConditionUnknown
		}
		return c
	}, SatisfyAll(HaveField("Status", status), HaveField("Reason", reason), HaveField("Message", containAll(message))))
}

// widget is the custom resource of the module in the target.
func (o *offer) widget(ctx context.Context) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: o.group(), Version: "v1", Kind: "Widget"})
	return fetched(ctx, o.s.key(o.name), u)
}

// says is what messages call the custom resource of the module.
func (o *offer) says() string { return "Widget " + o.s.name + "/" + o.name }

// report a status of the custom resource, as the operator of the module does, once the resource is there.
func (o *offer) report(ctx context.Context, status string) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) error {
		u, err := o.widget(ctx)
		if err != nil {
			return err
		}
		return env.targetClient.Status().Patch(ctx, u, client.RawPatch("application/merge-patch+json", []byte(`{"status":`+status+`}`)))
	}).WithContext(ctx).Should(Succeed())
}

// hold the custom resource, so that it cannot go, or release it.
func (o *offer) hold(ctx context.Context, yes bool) {
	GinkgoHelper()
	finalizers := "null"
	if yes {
		finalizers = `["example.org/hold"]`
	}
	edit(ctx, must(o.widget(ctx)), `{"metadata":{"finalizers":`+finalizers+`}}`)
}

// installed is what the target has of the module.
func (o *offer) installed(ctx context.Context) (*corev1.ConfigMap, error) {
	return o.s.configMap(ctx, o.name)
}

// absent says whether the target has nothing of the module.
func (o *offer) absent(ctx context.Context) (bool, error) { return gone(o.s.configMap)(ctx, o.name) }

// awaitVersion waits until the target has a version of the module.
func (o *offer) awaitVersion(ctx context.Context, version string) {
	GinkgoHelper()
	Eventually(o.installed).WithContext(ctx).Should(haveData("version", version))
}

// manifest of the module of a Kyma.
func (o *offer) manifest(kyma string) string { return kyma + "-" + o.name }

// inline is a descriptor as a ModuleTemplate has it.
func inline(p controlplane.PushedComponent) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: p.Descriptor}
}
