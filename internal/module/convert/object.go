// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// Options configure a conversion.
type Options struct {
	// Channel is the channel for ModuleTemplates and Kymas that have none. If it is empty too, a ModuleTemplate cannot
	// be converted, and a Kyma gets the default of the API, regular.
	Channel string
	// ProviderConfig is the name of the ProviderConfig that Kymas and Manifests refer to, in their namespace. The
	// default is the name of the Kyma, which a Manifest has as a label, or else the name of the Manifest.
	ProviderConfig string
	// Namespace is the namespace of converted Kymas and Manifests; default their own.
	Namespace string
}

// An UnknownKindError reports that an object is not of a kind and version that can be converted.
type UnknownKindError struct{ APIVersion, Kind string }

// Error returns the message, which names the kind and the API version.
func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("cannot convert kind %q of apiVersion %q; must be a ModuleTemplate, Kyma or Manifest of %s/v1alpha1, v1beta1 or v1beta2",
		e.Kind, e.APIVersion, group)
}

// Object converts an object of the original of any supported kind, from YAML or JSON, as ModuleTemplate, Kyma and
// Manifest do. The error is an *UnknownKindError if it is of another kind.
func Object(data []byte, o Options) (obj client.Object, lost []string, err error) {
	in, err := decode(data)
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot convert object")
	}
	kind, _ := in["kind"].(string)
	if _, err := versionOf(in, kind); err != nil {
		return nil, nil, unknownKind(in)
	}
	switch kind {
	case v1alpha1.ModuleTemplateKind:
		t, lost, err := ModuleTemplate(data, o.Channel)
		return orNil(t, err), lost, err
	case v1alpha1.KymaKind:
		k, lost, err := Kyma(data, o)
		return orNil(k, err), lost, err
	case v1alpha1.ManifestKind:
		m, lost, err := Manifest(data, o)
		return orNil(m, err), lost, err
	}
	return nil, nil, unknownKind(in)
}

func unknownKind(o map[string]any) error {
	e := &UnknownKindError{}
	e.APIVersion, _ = o["apiVersion"].(string)
	e.Kind, _ = o["kind"].(string)
	return e
}

// orNil returns a nil interface on an error, rather than one that holds a nil pointer.
func orNil(o client.Object, err error) client.Object {
	if err != nil {
		return nil
	}
	return o
}

// Documents returns the non-empty documents of a stream of YAML or JSON. It replaces lists, as kubectl get prints them,
// by their items. Pass each document to Object.
func Documents(data []byte) ([][]byte, error) {
	if len(data) > maxStream {
		return nil, errors.Errorf("content is larger than the limit of %d bytes", maxStream)
	}
	var out [][]byte
	r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for n := 1; ; n++ {
		doc, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, errors.Wrapf(err, "document %d", n)
		}
		if out, err = appendDocument(out, doc); err != nil {
			return nil, errors.Wrapf(err, "document %d", n)
		}
	}
}

// maxStream bounds a stream of documents, in bytes.
const maxStream = 64 << 20

func appendDocument(out [][]byte, doc []byte) ([][]byte, error) {
	if blank(doc) {
		return out, nil
	}
	o, err := decodeUpTo(doc, maxStream)
	if err != nil {
		return nil, err
	}
	kind, _ := o["kind"].(string)
	items, ok := o["items"].([]any)
	if !ok || !strings.HasSuffix(kind, "List") {
		return append(out, doc), nil
	}
	for _, item := range items {
		b, err := json.Marshal(item)
		if err != nil {
			return nil, errors.Wrap(err, "items")
		}
		out = append(out, b)
	}
	return out, nil
}

// blank reports whether a document contains only comments and white space.
func blank(doc []byte) bool {
	for line := range bytes.Lines(doc) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && !bytes.HasPrefix(line, []byte("---")) {
			return false
		}
	}
	return true
}

// prefix is the prefix of labels and annotations of the original.
const prefix = group + "/"

var (
	// idleLabels holds the labels that have a meaning only in the original, and the reasons.
	idleLabels = map[string]string{ //nolint:gochecknoglobals // Constant.
		prefix + "sync":             "the ProviderConfig determines the target cluster",
		prefix + "beta":             "all modules are available to all Kymas",
		prefix + "internal":         "all modules are available to all Kymas",
		prefix + "mandatory-module": "modules are never installed automatically",
	}
	isModule  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	isInstall = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
)

// knownManaged holds the fields of the metadata of namespaced objects that are converted.
var knownManaged = append(slices.Clone(knownMeta), "generateName") //nolint:gochecknoglobals // Constant.

// managed converts the metadata of a Kyma or a Manifest.
func (c *losses) managed(in map[string]any, out *metav1.ObjectMeta, o Options) error {
	m, err := object(in, "metadata")
	if err != nil {
		return err
	}
	if err := c.keep(m, out); err != nil {
		return err
	}
	if out.Namespace, err = text(m, "namespace"); err != nil {
		return errors.Wrap(err, "metadata")
	}
	if o.Namespace != "" {
		out.Namespace = o.Namespace
	}
	c.unknown("metadata.", m, knownManaged)
	for label, why := range idleLabels {
		if v, ok := out.Labels[label]; ok {
			c.lose("metadata.labels["+label+"]", "%q is kept, but has no effect: %s", v, why)
		}
	}
	c.paused(out)
	for _, a := range []string{"last-sync", "sync-oci-ref", "is-unmanaged", "skr-domain"} {
		if v, ok := out.Annotations[prefix+a]; ok {
			delete(out.Annotations, prefix+a)
			c.lose("metadata.annotations["+prefix+a+"]", "%q; only used by Kyma's own operators", v)
		}
	}
	if len(out.Annotations) == 0 {
		out.Annotations = nil
	}
	return nil
}

// paused sets Crossplane's annotation on an object that the original does not reconcile.
func (c *losses) paused(out *metav1.ObjectMeta) {
	for _, label := range []string{prefix + "skip-reconciliation", "declarative.kyma-project.io/skip-reconciliation"} {
		if out.Labels[label] == "true" {
			meta.AddAnnotations(out, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
		}
	}
}

// reference returns a spec that refers to the ProviderConfig of the options, by default to the one with the given name.
func reference(o Options, name string) xpv2.ManagedResourceSpec {
	if o.ProviderConfig != "" {
		name = o.ProviderConfig
	}
	return xpv2.ManagedResourceSpec{ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: name}}
}

// boolean returns the boolean in a field; ok is false if there is none.
func boolean(o map[string]any, field string) (value, ok bool, err error) {
	switch v := o[field].(type) {
	case nil:
		return false, false, nil
	case bool:
		return v, true, nil
	}
	return false, false, errors.Errorf("%s must be true or false", field)
}

// list returns the list of objects in a field; nil if there is none.
func list(o map[string]any, field string) ([]map[string]any, error) {
	var out []map[string]any
	switch v := o[field].(type) {
	case nil:
	case []any:
		for i, e := range v {
			m, ok := e.(map[string]any)
			if !ok {
				return nil, errors.Errorf("%s[%d] must be an object", field, i)
			}
			out = append(out, m)
		}
	default:
		return nil, errors.Errorf("%s must be a list", field)
	}
	return out, nil
}

// policy returns the policy for the default custom resource.
func policy(o map[string]any) (v1alpha1.CustomResourcePolicy, error) {
	s, err := text(o, "customResourcePolicy")
	p := v1alpha1.CustomResourcePolicy(s)
	if err == nil && p != "" && p != v1alpha1.CustomResourcePolicyCreateAndDelete && p != v1alpha1.CustomResourcePolicyIgnore {
		err = errors.Errorf("customResourcePolicy: invalid value %q: must be CreateAndDelete or Ignore", s)
	}
	return p, err
}

// failed wraps an error with the kind and name of the object.
func failed(err error, kind string, in map[string]any) error {
	m, _ := in["metadata"].(map[string]any)
	if name, _ := m["name"].(string); name != "" {
		return errors.Wrapf(err, "cannot convert %s %q", kind, name)
	}
	return errors.Wrapf(err, "cannot convert %s", kind)
}
