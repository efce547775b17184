// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// lastApplied is the annotation in which kubectl apply stores a copy of the object. With it, kubectl would compare the
// converted object with the one before the conversion.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// pullLabel is the label of resources that selects Secrets with credentials.
const pullLabel = "oci-registry-cred"

// losses collects what is not converted, one line each.
type losses struct{ lost []string }

// sorted returns the losses, sorted and without duplicates.
func (c *losses) sorted() []string {
	slices.Sort(c.lost)
	return slices.Compact(c.lost)
}

// lose records that a field is not converted, with optional advice.
func (c *losses) lose(field, advice string, args ...any) {
	line := field
	if said := fmt.Sprintf(advice, args...); said != "" {
		line += ": " + said
	}
	c.lost = append(c.lost, strings.Join(strings.Fields(line), " "))
}

// metadata copies the name, labels and annotations, and records a namespace as lost.
func (c *converter) metadata() error {
	if err := c.keep(c.meta, &c.out.ObjectMeta); err != nil {
		return err
	}
	if ns, _ := c.meta["namespace"].(string); ns != "" {
		c.lose("metadata.namespace", "%q; ModuleTemplates are cluster-scoped, so their names must be unique", ns)
	}
	return nil
}

// keep copies the name, labels and annotations to out, except for the annotation lastApplied.
func (c *losses) keep(meta map[string]any, out *metav1.ObjectMeta) error {
	name, err := text(meta, "name")
	if err != nil || name == "" {
		return errors.New("metadata.name is missing")
	}
	out.Name = name
	if out.Labels, err = texts(meta, "labels"); err != nil {
		return err
	}
	if out.Annotations, err = texts(meta, "annotations"); err != nil {
		return err
	}
	if _, ok := out.Annotations[lastApplied]; ok {
		delete(out.Annotations, lastApplied)
		c.lose("metadata.annotations["+lastApplied+"]", "describes the object before the conversion")
	}
	if len(out.Annotations) == 0 {
		out.Annotations = nil
	}
	return nil
}

// texts returns the map of strings in a field of the metadata.
func texts(meta map[string]any, field string) (map[string]string, error) {
	o, err := object(meta, field)
	if err != nil {
		return nil, errors.Wrap(err, "metadata")
	}
	var out map[string]string
	for k := range o {
		s, err := text(o, k)
		if err != nil {
			return nil, errors.Errorf("metadata.%s[%q] must be a string", field, k)
		}
		if out == nil {
			out = make(map[string]string, len(o))
		}
		out[k] = s
	}
	return out, nil
}

// Fields that are converted or checked individually, or set by the API server.
var (
	knownFields = []string{"apiVersion", "kind", "metadata", "spec"} //nolint:gochecknoglobals // Constant.
	knownMeta   = []string{                                          //nolint:gochecknoglobals // Constant.
		"name", "namespace", "labels", "annotations",
		"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink",
	}
	knownSpec = []string{"channel", "target", "moduleName", "data", "descriptor", "customStateCheck", "version"} //nolint:gochecknoglobals // Constant.
)

// advice holds the advice for fields that are lost.
var advice = map[string]string{ //nolint:gochecknoglobals // Constant.
	"spec.mandatory":              "modules are never installed automatically; add the module to each Kyma",
	"spec.manager":                "readiness depends on all objects of the module; see spec.readiness",
	"spec.requiresDowntime":       "maintenance windows are not supported",
	"spec.info":                   "not displayed",
	"spec.resources":              "links are not displayed",
	"spec.associatedResources":    "not displayed",
	"spec.skipMaintenanceWindows": "maintenance windows are not supported",
	"metadata.ownerReferences":    "Kymas create their own Manifests",
	"status":                      "the provider sets it",
}

// rest records the remaining fields of the template that cannot be converted.
func (c *converter) rest() {
	c.unknown("", c.in, knownFields)
	c.unknown("metadata.", c.meta, knownMeta)
	c.unknown("spec.", c.spec, knownSpec)
	if v, _ := c.spec["version"].(string); v != "" && v != c.componentVersion() {
		c.lose("spec.version", "%q; the version in the descriptor, %q, is used instead", v, c.componentVersion())
	}
	c.credentials()
}

func (c *losses) unknown(prefix string, o map[string]any, known []string) {
	for _, k := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(known, k) && !empty(o[k]) {
			c.lose(prefix+k, "%s", advice[prefix+k])
		}
	}
}

// empty reports whether a value has the same meaning as an absent one.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case json.Number:
		return v == "0"
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// A component holds the fields of a component descriptor that the conversion needs. They are validated when the
// template is resolved.
type component struct {
	Component struct {
		Version   string `json:"version"`
		Resources []struct {
			Name   string `json:"name"`
			Labels []struct {
				Name string `json:"name"`
			} `json:"labels"`
		} `json:"resources"`
	} `json:"component"`
}

func (c *converter) component() component {
	var out component
	// Malformed fields are ignored here, and reported when the template is resolved.
	_ = kjson.UnmarshalCaseSensitivePreserveInts(c.out.Spec.Descriptor.Raw, &out)
	return out
}

func (c *converter) componentVersion() string { return c.component().Component.Version }

// credentials records the labels by which the descriptor selects credentials as lost. No signature covers them, so this
// provider does not use them.
func (c *converter) credentials() {
	for _, r := range c.component().Component.Resources {
		for _, l := range r.Labels {
			if l.Name == pullLabel {
				c.lose(fmt.Sprintf("spec.descriptor: resource %q, label %s", r.Name, l.Name),
					"registry credentials are set in the ProviderConfig")
			}
		}
	}
}
