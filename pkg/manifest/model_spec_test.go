// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// A modelSpec is the desired state of the cluster.
type modelSpec struct {
	Slots [3]modelSlot
	// Places of the items of modelItems.
	Places [7]modelPlace
	// CRDs says whether the bundle has CRDs. A new Rev changes them.
	CRDs bool
	Rev  int
	// Resource says whether the bundle has a custom resource, which needs the CRDs, and Size is its size.
	Resource bool
	Size     int
	Labels   int
}

// A modelSlot is an install.
type modelSlot struct {
	Present, Plain, Other, Hooks, Gadget bool

	Value int
}

// A modelPlace is the slot that has an item, negative for none, and the name that the item has there.
type modelPlace struct{ Slot, Name int }

var modelNames = [3]string{"web", "extra", "raw"}

// modelItems are the objects that installs may have. Item 5 must be kept, and item 6 is immutable.
var modelItems = [7]string{
	`{apiVersion: v1, kind: ConfigMap, metadata: {name: oneNAME}, data: {k: "VALUE", same: x}}`,
	`{apiVersion: v1, kind: ServiceAccount, metadata: {name: accountNAME}}`,
	`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: roleNAME, annotations: {v: "VALUE"}}, rules: []}`,
	`{apiVersion: apps/v1, kind: Deployment, metadata: {name: appNAME}, spec: {replicas: 1, template: {spec: {image: "VALUE"}}}}`,
	"{apiVersion: v1, kind: Namespace, metadata: {name: ownNAME}}\n---\n" +
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: in, namespace: ownNAME}, data: {k: "VALUE"}}`,
	`{apiVersion: v1, kind: ConfigMap, metadata: {name: keptNAME, annotations: {helm.sh/resource-policy: keep}}, data: {k: "VALUE"}}`,
	`{apiVersion: v1, kind: ConfigMap, metadata: {name: fixedNAME}, data: {k: "VALUE"}}`,
}

const (
	modelBase   = `{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME-base}, data: {k: "VALUE", revision: "REVISION"}}`
	modelWidget = `{apiVersion: example.org/v1, kind: Widget, metadata: {name: main, namespace: default}, spec: {size: VALUE, color: red}}`
)

func (s *modelSlot) namespace() string {
	if s.Other {
		return "other"
	}
	return "apps"
}

// texts returns all objects of a slot, with placeholders for value and revision.
func (s *modelSpec) texts(slot int) []string {
	out := []string{strings.ReplaceAll(modelBase, "NAME", modelNames[slot])}
	for i, p := range s.Places {
		if p.Slot == slot {
			name := []string{"", "-2"}[p.Name]
			out = append(out, strings.Split(strings.ReplaceAll(modelItems[i], "NAME", name), "\n---\n")...)
		}
	}
	for i := range out {
		out[i] += "\n"
	}
	return out
}

// hooks returns the hooks of a chart.
func (s *modelSpec) hooks(slot int) []string {
	if !s.Slots[slot].Hooks {
		return nil
	}
	n := modelNames[slot]
	return []string{
		hookJob(n+"-first", "pre-install,pre-upgrade", policies(string(hook.BeforeCreation), string(hook.Succeeded))),
		hookJob(n+"-last", "post-install,post-upgrade"),
		hookJob(n+"-bye", "pre-delete", policies(string(hook.Succeeded), string(hook.BeforeCreation))),
		hookJob(n+"-gone", "post-delete"),
	}
}

// install returns the install of a slot.
func (s *modelSpec) install(slot int) Install {
	in := &s.Slots[slot]
	value := fmt.Sprintf("v%d", in.Value)
	texts := s.texts(slot)
	if in.Gadget {
		texts = append(texts, gadgets)
	}
	if in.Plain {
		for i := range texts {
			texts[i] = strings.NewReplacer("VALUE", value, "REVISION", "1").Replace(texts[i])
		}
		out := plainOf(modelNames[slot], texts...)
		out.Namespace = in.namespace()
		return out
	}
	for i := range texts {
		texts[i] = strings.NewReplacer("VALUE", "{{ .Values.v }}", "REVISION", "{{ .Release.Revision }}").Replace(texts[i])
		if in.Gadget && i == len(texts)-1 {
			texts[i] = "crds/" + texts[i]
		}
	}
	out := install(modelNames[slot], append(texts, s.hooks(slot)...)...)
	out.Namespace, out.Values = in.namespace(), map[string]any{"v": value}
	return out
}

// bundle returns the bundle of a spec.
func (s *modelSpec) bundle(t testing.TB) *Bundle {
	t.Helper()
	var installs []Install
	for i := range s.Slots {
		if s.Slots[i].Present {
			installs = append(installs, s.install(i))
		}
	}
	out := bundleOf(installs...)
	out.Labels = map[string]string{"team": fmt.Sprintf("t%d", s.Labels)}
	if s.CRDs {
		crds := layerOf([]source.File{{Name: "widgets.yaml", Data: []byte(s.definition())}})
		out.CRDs = &crds
	}
	if s.CRDs && s.Resource {
		out.Resource = manifestOf(t, strings.ReplaceAll(modelWidget, "VALUE", strconv.Itoa(s.Size)))
	}
	return out
}

// checkpoint returns the checkpoint of a spec.
func (s *modelSpec) checkpoint(t testing.TB) []byte {
	t.Helper()
	out, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (s *modelSpec) definition() string {
	return strings.Replace(tmplCRD, "{name: widgets.example.org}", fmt.Sprintf(`{name: widgets.example.org, annotations: {rev: "%d"}}`, s.Rev), 1)
}

// A modelObject is an object that must exist, in the form of each part that contains it.
type modelObject map[string]*unstructured.Unstructured

// wanted returns the desired objects, except for the custom resource. The revisions are those of the inventory.
func (s *modelSpec) wanted(t testing.TB, id string, inv *inventory.Inventory) map[cluster.ObjectRef]modelObject {
	t.Helper()
	out := map[cluster.ObjectRef]modelObject{}
	add := func(text, part, namespace string, in *modelSlot) {
		u := manifestOf(t, text)
		gk := u.GroupVersionKind().GroupKind()
		if u.GetNamespace() == "" && gk.Kind != "Namespace" && gk.Kind != "ClusterRole" && gk != object.CRDKind {
			u.SetNamespace(namespace)
		}
		if in != nil && !in.Plain {
			object.AddRelease(u, part, namespace)
		}
		object.AddLabels(u, map[string]string{"team": fmt.Sprintf("t%d", s.Labels), object.LabelPartOf: id, object.LabelManagedBy: object.DefaultManagedBy})
		if out[object.RefOf(u)] == nil {
			out[object.RefOf(u)] = modelObject{}
		}
		out[object.RefOf(u)][part] = u
	}
	if s.CRDs {
		add(s.definition(), string(object.PartCRDs), "", nil)
	}
	for i := range s.Slots {
		in := &s.Slots[i]
		if !in.Present {
			continue
		}
		revision := 1
		if inv != nil && !in.Plain {
			revision = inv.Parts[object.PartOf(modelNames[i])].Revision
		}
		texts := s.texts(i)
		if in.Gadget {
			texts = append(texts, gadgets)
		}
		for _, text := range texts {
			r := strings.NewReplacer("VALUE", fmt.Sprintf("v%d", in.Value), "REVISION", strconv.Itoa(revision))
			add(r.Replace(text), modelNames[i], in.namespace(), in)
		}
	}
	return out
}
