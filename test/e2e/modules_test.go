// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// modulesRepository is the repository of components in the registry.
const modulesRepository = "modules"

var errNotOne = errors.New("there is not exactly one Kyma")

// An offer is a module that a ModuleTemplate of a spec offers. The ConfigMap and the Deployment of its chart have the same
// name.
type offer struct {
	s    *space
	name string
	// operated is true for a module with a CRD and a default custom resource, whose state is the state of the module.
	operated bool
}

// offer releases version 1.0.0 of a module in channel regular. Its name is unique, because ModuleTemplates are cluster-scoped.
func (s *space) offer(ctx context.Context, short string) *offer {
	GinkgoHelper()
	o := &offer{s: s, name: s.name + "-" + short}
	o.release(ctx)
	return o
}

// operated releases a module with a custom resource, as offer does.
func (s *space) operated(ctx context.Context, short string) *offer {
	GinkgoHelper()
	o := &offer{s: s, name: s.name + "-" + short, operated: true}
	o.release(ctx)
	return o
}

// module returns the entry of the module in the spec of a Kyma.
func (o *offer) module() v1alpha1.Module { return v1alpha1.Module{Name: o.name} }

// manifest returns the name of the Manifest that a Kyma creates for the module.
func (o *offer) manifest(kyma string) string { return kyma + "-" + o.name }

// group returns the API group of the custom resources of the module.
func (o *offer) group() string { return o.name + ".example.org" }

// says returns the name of the custom resource of the module in messages.
func (o *offer) says() string { return "Widget " + o.s.name + "/" + o.name }

// component returns a version of the module.
func (o *offer) component(version string) controlplane.Component {
	inSpace := func(text string) []byte {
		return []byte(strings.ReplaceAll(strings.ReplaceAll(text, "NAMESPACE", o.s.name), "GROUP", o.group()))
	}
	return controlplane.Component{
		Name: "example.org/module/" + o.name, Version: version,
		Resources: []controlplane.ComponentResource{{Name: o.name, Type: "helm-chart", Files: controlplane.Files{
			"Chart.yaml":                []byte("apiVersion: v2\nname: module\nversion: " + version + "\n"),
			"values.yaml":               []byte("message: hello\n"),
			"templates/config.yaml":     inSpace(configTemplate),
			"templates/deployment.yaml": inSpace(deploymentTemplate),
		}}},
	}
}

// template returns a ModuleTemplate of a version of the module. Its name ends with the suffix.
func (o *offer) template(suffix, version string) *v1alpha1.ModuleTemplate {
	return &v1alpha1.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: o.name + "-" + suffix, Labels: map[string]string{labelSpec: o.s.name}},
		Spec: v1alpha1.ModuleTemplateSpec{Component: &v1alpha1.Component{
			Repository: env.registry.Host() + "/" + modulesRepository, Name: "example.org/module/" + o.name, Version: version,
		}},
	}
}

func (o *offer) release(ctx context.Context) {
	GinkgoHelper()
	c, t := o.component("1.0.0"), o.template("regular", "1.0.0")
	t.Spec.Channel = "regular"
	if o.operated {
		c.Resources = append(c.Resources, controlplane.ComponentResource{
			Name: "crds", Type: "crds", Files: controlplane.Files{"widgets.yaml": []byte(controlplane.WidgetCRD(o.group()))},
		})
		// The custom resource has no name here, and gets the name of the module.
		t.Spec.Data = raw(map[string]any{
			"apiVersion": o.group() + "/v1", "kind": "Widget", "metadata": map[string]any{"namespace": o.s.name}, "spec": map[string]any{"size": "small"},
		})
	}
	must(env.registry.PushComponent(ctx, modulesRepository, c))
	o.s.create(ctx, t)
}

// raw encodes a value as JSON.
func raw(v any) *runtime.RawExtension {
	GinkgoHelper()
	return &runtime.RawExtension{Raw: must(json.Marshal(v))}
}

// installed returns the ConfigMap of the module in the target.
func (o *offer) installed(ctx context.Context) (*corev1.ConfigMap, error) {
	return o.s.configMap(ctx, o.name)
}

// absent reports whether the ConfigMap of the module does not exist in the target.
func (o *offer) absent(ctx context.Context) (bool, error) {
	return absent(env.targetClient, o.s.key(o.name), &corev1.ConfigMap{})(ctx)
}

// widget returns the custom resource of the module in the target.
func (o *offer) widget(ctx context.Context) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: o.group(), Version: "v1", Kind: "Widget"})
	return fetched(ctx, env.targetClient, o.s.key(o.name), u)
}

// report sets the status of the custom resource, given in JSON, as its operator does, once the resource exists.
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

// hold adds a finalizer to the custom resource, which blocks its deletion, or removes the finalizer.
func (o *offer) hold(ctx context.Context, yes bool) {
	GinkgoHelper()
	patch := removeFinalizers
	if yes {
		patch = `{"metadata":{"finalizers":["example.org/hold"]}}`
	}
	Expect(env.targetClient.Patch(ctx, must(o.widget(ctx)), client.RawPatch("application/merge-patch+json", []byte(patch)))).To(Succeed())
}

const configTemplate = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  namespace: NAMESPACE
data:
  version: {{ .Chart.Version | quote }}
  message: {{ .Values.message | quote }}
`

const deploymentTemplate = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  namespace: NAMESPACE
spec:
  selector:
    matchLabels: {app: {{ .Release.Name }}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}}
    spec:
      containers:
      - name: main
        image: registry.example.org/main:1.0.0
`

// message returns the configured message of the module, from its ConfigMap.
func (o *offer) message(ctx context.Context) (string, error) {
	cm, err := o.installed(ctx)
	return cm.Data["message"], err
}

// change edits the ConfigMap of the module in the target, as a user who must not.
func (o *offer) change(ctx context.Context) {
	GinkgoHelper()
	Expect(env.targetClient.Patch(ctx, must(o.installed(ctx)),
		client.RawPatch("application/merge-patch+json", []byte(`{"data":{"message":"changed"}}`)), client.FieldOwner("other-client"))).To(Succeed())
}
