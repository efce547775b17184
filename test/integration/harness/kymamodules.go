// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"net/http"

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
	// ModulesRepository is the repository of components in the registry.
	ModulesRepository = "modules"
	// LabelSpec is a label of each ModuleTemplate. Its value is the name of the space, because ModuleTemplates are
	// cluster-scoped.
	LabelSpec = "example.org/spec"
)

// An Offer is a module that ModuleTemplates of a spec offer. Its only chart, and the ConfigMap of the chart in the namespace of
// the space, have the same name.
type Offer struct {
	s    *Space
	Name string
	// operated is true for a module with a CRD and a default custom resource.
	operated bool
}

// NewOffer returns an offer of a module. Its name is unique, because ModuleTemplates and CRDs are cluster-scoped and all
// modules are installed into one namespace of the target.
func NewOffer(s *Space, short string) *Offer { return &Offer{s: s, Name: s.Name + "-" + short} }

// OfferOperated returns an offer of a module with a custom resource, whose state is the state of the module.
func OfferOperated(s *Space, short string) *Offer {
	return &Offer{s: s, Name: s.Name + "-" + short, operated: true}
}

// Module returns the entry of the module in the spec of a Kyma.
func (o *Offer) Module() v1alpha1.Module { return v1alpha1.Module{Name: o.Name} }

// InChannel returns the entry of the module in the spec of a Kyma, with its own channel.
func (o *Offer) InChannel(channel string) v1alpha1.Module {
	return v1alpha1.Module{Name: o.Name, Channel: channel}
}

// Chart returns the chart of the module in a version. It is the same for all modules of the space.
func (o *Offer) Chart(version string) Chart {
	return NewChart("module", version).With("values.yaml", "message: hello\nnever: false\n").With("templates/config.yaml", `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  namespace: `+o.s.Name+`
data:
  version: {{ .Chart.Version | quote }}
  message: {{ .Values.message | quote }}
`).With("templates/never.yaml", "{{ if .Values.never }}"+NeverReady+"{{ end }}\n")
}

// Component returns the component of the module in a version.
func (o *Offer) Component(version string) controlplane.Component {
	c := controlplane.Component{
		Name: "example.org/module/" + o.Name, Version: version,
		Resources: []controlplane.ComponentResource{{Name: o.Name, Type: "helm-chart", Files: o.Chart(version).Files}},
	}
	if o.operated {
		c.Resources = append(c.Resources, controlplane.ComponentResource{
			Name: "crds", Type: "crds", Files: controlplane.Files{"widgets.yaml": []byte(controlplane.WidgetCRD(o.Group()))},
		})
	}
	return c
}

// Group returns the API group of the custom resources of the module.
func (o *Offer) Group() string { return o.Name + ".example.org" }

// Push pushes a component into the registry.
func Push(ctx context.Context, c controlplane.Component) controlplane.PushedComponent {
	GinkgoHelper()
	return Must(Env.Registry.PushComponent(ctx, ModulesRepository, c))
}

// ComponentAt returns the location of a component in the registry.
func ComponentAt(c controlplane.Component) *v1alpha1.Component {
	return &v1alpha1.Component{
		Repository: Env.Registry.Host() + "/" + ModulesRepository, Name: c.Name, Version: c.Version,
		NameMapping: v1alpha1.NameMapping(c.Mapping),
	}
}

// Template returns a ModuleTemplate of the module in a channel, without creating it.
func (o *Offer) Template(channel string, c controlplane.Component) *v1alpha1.ModuleTemplate {
	GinkgoHelper()
	t := &v1alpha1.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: o.TemplateName(channel), Labels: map[string]string{LabelSpec: o.s.Name}},
		Spec:       v1alpha1.ModuleTemplateSpec{Channel: channel, Component: ComponentAt(c)},
	}
	if o.operated {
		// The custom resource has no name here, and gets the name of the module.
		t.Spec.Data = Raw(Values{
			"apiVersion": o.Group() + "/v1", "kind": "Widget", "metadata": Values{"namespace": o.s.Name}, "spec": Values{"size": "small"},
		})
	}
	return t
}

func (o *Offer) TemplateName(channel string) string { return o.Name + "-" + channel }

// Release pushes a version of the module, and creates or updates its ModuleTemplate in a channel. It waits until a new
// ModuleTemplate is resolved.
func (o *Offer) Release(ctx context.Context, channel, version string) *v1alpha1.ModuleTemplate {
	GinkgoHelper()
	c := o.Component(version)
	Push(ctx, c)
	t := o.Template(channel, c)
	err := Env.ControlClient.Create(ctx, t.DeepCopy())
	if err == nil {
		return o.AwaitResolved(ctx, t.Name, version)
	}
	UpdateTemplate(ctx, t.Name, func(have *v1alpha1.ModuleTemplate) { have.Spec = t.Spec })
	return Must(GetTemplate(ctx, t.Name))
}

// AwaitResolved waits until a ModuleTemplate is resolved to a version, and returns it.
func (o *Offer) AwaitResolved(ctx context.Context, name, version string) *v1alpha1.ModuleTemplate {
	GinkgoHelper()
	Eventually(GetTemplate).WithContext(ctx).WithArguments(name).Should(SatisfyAll(
		BeResolved(corev1.ConditionTrue, v1alpha1.ReasonResolved), HaveField("Status.Version", version)))
	return Must(GetTemplate(ctx, name))
}

// GetTemplate returns a ModuleTemplate by name.
func GetTemplate(ctx context.Context, name string) (*v1alpha1.ModuleTemplate, error) {
	t := &v1alpha1.ModuleTemplate{}
	return t, Env.ControlClient.Get(ctx, client.ObjectKey{Name: name}, t)
}

// UpdateTemplate edits a ModuleTemplate by name, and retries on conflicts.
func UpdateTemplate(ctx context.Context, name string, edit func(t *v1alpha1.ModuleTemplate)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		t, err := GetTemplate(ctx, name)
		if err != nil {
			return err
		}
		edit(t)
		return Env.ControlClient.Update(ctx, t)
	})).To(Succeed())
}

// DeleteTemplate deletes a ModuleTemplate by name.
func DeleteTemplate(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(Env.ControlClient.Delete(ctx, &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
}

// BeResolved matches a ModuleTemplate by its condition Resolved, whose message must contain all parts. The status True must be
// that of the current generation.
func BeResolved(status corev1.ConditionStatus, reason xpv2.ConditionReason, message ...string) types.GomegaMatcher {
	return WithTransform(func(t *v1alpha1.ModuleTemplate) xpv2.Condition {
		c := t.Status.GetCondition(v1alpha1.TypeResolved)
		if status == corev1.ConditionTrue && t.Status.ResolvedGeneration != t.Generation {
			c.Status = corev1.ConditionUnknown
		}
		return c
	}, SatisfyAll(HaveField("Status", status), HaveField("Reason", reason), HaveField("Message", ContainAll(message))))
}

// Widget returns the custom resource of the module in the target.
func (o *Offer) Widget(ctx context.Context) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: o.Group(), Version: "v1", Kind: "Widget"})
	return Fetched(ctx, o.s.Key(o.Name), u)
}

// Says returns the name of the custom resource of the module in messages.
func (o *Offer) Says() string { return "Widget " + o.s.Name + "/" + o.Name }

// Report sets the status of the custom resource, given in JSON, as the operator of the module does. It waits until the resource
// exists.
func (o *Offer) Report(ctx context.Context, status string) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) error {
		u, err := o.Widget(ctx)
		if err != nil {
			return err
		}
		return Env.TargetClient.Status().Patch(ctx, u, client.RawPatch("application/merge-patch+json", []byte(`{"status":`+status+`}`)))
	}).WithContext(ctx).Should(Succeed())
}

// Hold adds a finalizer to the custom resource, which blocks its deletion, or removes the finalizer.
func (o *Offer) Hold(ctx context.Context, yes bool) {
	GinkgoHelper()
	finalizers := "null"
	if yes {
		finalizers = `["example.org/hold"]`
	}
	Edit(ctx, Must(o.Widget(ctx)), `{"metadata":{"finalizers":`+finalizers+`}}`)
}

// Installed returns the ConfigMap of the module in the target.
func (o *Offer) Installed(ctx context.Context) (*corev1.ConfigMap, error) {
	return o.s.ConfigMap(ctx, o.Name)
}

// Absent reports whether the ConfigMap of the module does not exist in the target.
func (o *Offer) Absent(ctx context.Context) (bool, error) { return Gone(o.s.ConfigMap)(ctx, o.Name) }

// AwaitVersion waits until a version of the module is installed in the target.
func (o *Offer) AwaitVersion(ctx context.Context, version string) {
	GinkgoHelper()
	Eventually(o.Installed).WithContext(ctx).Should(HaveData("version", version))
}

// Manifest returns the name of the Manifest that a Kyma creates for the module.
func (o *Offer) Manifest(kyma string) string { return kyma + "-" + o.Name }

// Inline returns the descriptor of a component in the form that a ModuleTemplate contains.
func Inline(p controlplane.PushedComponent) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: p.Descriptor}
}

// Unavailable answers each request to a registry with status 503.
func Unavailable(w http.ResponseWriter, _ *http.Request) bool {
	w.WriteHeader(http.StatusServiceUnavailable)
	return true
}

// NeverReady is a Deployment whose pod fits no node.
const NeverReady = `
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: never}
spec:
  selector: {matchLabels: {app: never}}
  template:
    metadata: {labels: {app: never}}
    spec:
      nodeSelector: {example.org/none: such}
      containers: [{name: never, image: example.org/never:1}]
`
