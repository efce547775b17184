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
	// Random gives a chart a random password, and Asks an object for what the cluster is.
	Random, Asks bool `json:",omitempty"`

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
	modelSecret = `{apiVersion: v1, kind: Secret, metadata: {name: NAME-secret}, data: {password: "PASSWORD"}}` + "\n"
	modelAsks   = `{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME-asks}, data: {minor: "MINOR", has: "HAS"}}` + "\n"
	modelServed = `{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME-served}, data: {k: "v"}}` + "\n"
	modelAPI    = "extra.example.org/v1"
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

// A modelView is what the objects of a spec depend on in the cluster.
type modelView struct {
	// inv is the inventory, which has the revisions; nil for none.
	inv *inventory.Inventory
	// minor is the minor version of the cluster.
	minor string
	// at returns the value of a field of an object; empty if there is none. It may be nil.
	at func(k cluster.ObjectRef, path ...string) string
}

func (v *modelView) field(kind, namespace, name string, path ...string) string {
	if v.at == nil {
		return ""
	}
	return v.at(key(kind, namespace, name), path...)
}

// chartTexts returns the objects that only a chart can have, with placeholders.
func (s *modelSpec) chartTexts(slot int) []string {
	in := &s.Slots[slot]
	var out []string
	if in.Plain {
		return nil
	}
	if in.Random {
		out = append(out, strings.ReplaceAll(modelSecret, "NAME", modelNames[slot]))
	}
	if in.Asks {
		out = append(out, strings.ReplaceAll(modelAsks, "NAME", modelNames[slot]))
	}
	return out
}

// seen returns the objects that only a chart has, as the cluster makes them: with the password that was rendered once, and for the
// kinds that were served then.
func (s *modelSpec) seen(slot int, v *modelView) []string {
	in, n := &s.Slots[slot], modelNames[slot]
	has := "unasked"
	if !in.Random {
		has = strconv.FormatBool(v.field("ConfigMap", in.namespace(), n+"-asks", "data", "has") == "true")
	}
	var out []string
	for _, text := range s.chartTexts(slot) {
		out = append(out, strings.NewReplacer(
			"PASSWORD", v.field("Secret", in.namespace(), n+"-secret", "data", "password"), "MINOR", v.minor, "HAS", has).Replace(text))
	}
	if in.Asks && !in.Plain && !in.Random && has == "true" {
		out = append(out, strings.ReplaceAll(modelServed, "NAME", n))
	}
	return out
}

// asked returns the objects that only a chart has, as templates.
func (s *modelSpec) asked(slot int) []string {
	in := &s.Slots[slot]
	var out []string
	has := `{{ .Capabilities.APIVersions.Has "` + modelAPI + `" }}`
	if in.Random {
		has = "unasked" // A chart with random values is not rendered again because of other API versions.
	}
	for _, text := range s.chartTexts(slot) {
		out = append(out, strings.NewReplacer(
			"PASSWORD", "{{ randAlphaNum 12 | b64enc }}", "MINOR", "{{ .Capabilities.KubeVersion.Minor }}", "HAS", has).Replace(text))
	}
	if in.Asks && !in.Plain && !in.Random {
		out = append(out, "{{ if .Capabilities.APIVersions.Has \""+modelAPI+"\" }}"+strings.ReplaceAll(modelServed, "NAME", modelNames[slot])+"{{ end }}\n")
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
	revision := "{{ .Release.Revision }}"
	if in.Random {
		revision = "1" // A rollback restores the recorded objects, which have the former revision.
	}
	for i := range texts {
		texts[i] = strings.NewReplacer("VALUE", "{{ .Values.v }}", "REVISION", revision).Replace(texts[i])
		if in.Gadget && i == len(texts)-1 {
			texts[i] = "crds/" + texts[i]
		}
	}
	texts = append(texts, s.asked(slot)...)
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
		crds := layerOf([]source.File{{Name: "widgets.yaml", Data: []byte(s.widgetCRD())}})
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

func (s *modelSpec) widgetCRD() string {
	return strings.Replace(tmplCRD, "{name: widgets.example.org}", fmt.Sprintf(`{name: widgets.example.org, annotations: {rev: "%d"}}`, s.Rev), 1)
}

// A modelObject is an object that must exist, in the form of each part that contains it.
type modelObject map[string]*unstructured.Unstructured

// wanted returns the desired objects, except for the custom resource.
func (s *modelSpec) wanted(t testing.TB, id string, v *modelView) map[cluster.ObjectRef]modelObject {
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
		add(s.widgetCRD(), string(object.PartCRDs), "", nil)
	}
	for i := range s.Slots {
		in := &s.Slots[i]
		if !in.Present {
			continue
		}
		revision := 1
		if v.inv != nil && !in.Plain && !in.Random {
			revision = v.inv.Parts[object.PartOf(modelNames[i])].Revision
		}
		texts := append(s.texts(i), s.seen(i, v)...)
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
