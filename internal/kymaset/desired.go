// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A Cluster is the metadata of a ProviderConfig, or of a Cluster of Cluster API.
type Cluster struct {
	Namespace, Name     string
	Labels, Annotations map[string]string
}

// ClusterOf returns the metadata of an object.
func ClusterOf(o metav1.Object) Cluster {
	return Cluster{Namespace: o.GetNamespace(), Name: o.GetName(), Labels: o.GetLabels(), Annotations: o.GetAnnotations()}
}

// String returns the namespace and the name of the cluster.
func (c Cluster) String() string { return c.Namespace + "/" + c.Name }

// channel is the pattern of the channel of a Kyma.
var channel = regexp.MustCompile(`^[a-z][a-z0-9-]{1,30}[a-z0-9]$`)

// DesiredKyma returns the Kyma of a cluster, with the marks of the KymaSet except for the digest. Its name is the name of the cluster,
// which has the same maximum length. An error is permanent for the template and the metadata of the cluster.
func DesiredKyma(set *v1alpha1.KymaSet, c Cluster) (*v1alpha1.Kyma, error) {
	t, e := &set.Spec.Template, &expander{cluster: c}
	labels, err := e.texts("metadata.labels", t.Metadata.Labels)
	if err != nil {
		return nil, err
	}
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		if wrong := validation.IsValidLabelValue(labels[k]); len(wrong) > 0 {
			return nil, errors.Errorf("template.metadata.labels[%.100q]: %.100q of cluster %s is not a valid value of a label", k, labels[k], c)
		}
	}
	annotations, err := e.texts("metadata.annotations", t.Metadata.Annotations)
	if err != nil {
		return nil, err
	}
	parameters, err := e.parameters(t.Spec.ForProvider.DeepCopy())
	if err != nil {
		return nil, err
	}
	k := &v1alpha1.Kyma{}
	k.Namespace, k.Name, k.Labels, k.Annotations = c.Namespace, c.Name, labels, annotations
	mark(set, k)
	k.Spec.ManagementPolicies = t.Spec.ManagementPolicies
	k.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: c.Name}
	k.Spec.ForProvider = *parameters
	return k, nil
}

// DesiredConfig returns the ProviderConfig of a Cluster of Cluster API, with the marks of the KymaSet except for the digest. Cluster
// API stores the kubeconfig of a Cluster in a Secret in its namespace.
func DesiredConfig(set *v1alpha1.KymaSet, c Cluster) *v1alpha1.ProviderConfig {
	pc := &v1alpha1.ProviderConfig{}
	pc.Namespace, pc.Name, pc.Labels = c.Namespace, c.Name, maps.Clone(c.Labels)
	mark(set, pc)
	pc.Spec.Credentials = v1alpha1.Credentials{
		Source: v1alpha1.CredentialsSourceSecret,
		CredentialSelectors: v1alpha1.CredentialSelectors{
			SecretRef: &v1alpha1.SecretKeySelector{Name: c.Name + "-kubeconfig", Key: "value"},
		},
	}
	return pc
}

// mark marks an object as managed by a KymaSet.
func mark(set *v1alpha1.KymaSet, o metav1.Object) {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[v1alpha1.LabelKymaSet], annotations[v1alpha1.AnnotationKymaSetUID] = set.Name, string(set.UID)
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
}

// texts returns a copy of labels or annotations with expanded values.
func (e *expander) texts(field string, in map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(in))
	for _, k := range slices.Sorted(maps.Keys(in)) {
		v, err := e.expand(fmt.Sprintf("%s[%.100q]", field, k), in[k])
		if err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, nil
}

// parameters returns the parameters of a Kyma. It changes the values in those of the template.
func (e *expander) parameters(p *v1alpha1.KymaTemplateParameters) (*v1alpha1.KymaParameters, error) {
	name, err := e.expand("spec.forProvider.channel", p.Channel)
	if err != nil {
		return nil, err
	}
	if name != "" && !channel.MatchString(name) {
		return nil, errors.Errorf("template.spec.forProvider.channel: %.100q of cluster %s is not a valid name of a channel", name, e.cluster)
	}
	for i := range p.Modules {
		m := &p.Modules[i]
		field := fmt.Sprintf("spec.forProvider.modules[%.63s]", m.Name)
		if m.Values, err = e.raw(field+".values", m.Values); err != nil {
			return nil, err
		}
		for j := range m.Installs {
			at := fmt.Sprintf("%s.installs[%.63s].values", field, m.Installs[j].Name)
			if m.Installs[j].Values, err = e.raw(at, m.Installs[j].Values); err != nil {
				return nil, err
			}
		}
	}
	return &v1alpha1.KymaParameters{
		Channel: name, Mode: p.Mode, Modules: p.Modules, MaintenanceWindows: p.MaintenanceWindows, DeferUpgradesUntil: p.DeferUpgradesUntil,
	}, nil
}

// raw returns values with expanded strings. Keys are not expanded.
func (e *expander) raw(field string, in *runtime.RawExtension) (*runtime.RawExtension, error) {
	// JSON can escape each character of a parameter.
	if in == nil || !bytes.Contains(in.Raw, []byte("$(")) && !bytes.Contains(in.Raw, []byte(`\u00`)) {
		return in, nil
	}
	d := json.NewDecoder(bytes.NewReader(in.Raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, errors.Errorf("template.%s is not valid JSON", field)
	}
	v, err := e.walk(field, v)
	if err != nil {
		return nil, err
	}
	out, err := json.Marshal(v)
	return &runtime.RawExtension{Raw: out}, errors.Wrapf(err, "cannot encode template.%s", field)
}

// walk expands all strings of a JSON value in place, in a stable order.
func (e *expander) walk(field string, in any) (_ any, err error) {
	switch v := in.(type) {
	case string:
		return e.expand(field, v)
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if v[k], err = e.walk(field, v[k]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = e.walk(field, v[i]); err != nil {
				return nil, err
			}
		}
	}
	return in, nil
}
