// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A modelOp is an event.
type modelOp struct {
	name string
	do   func(m *model, a, b int) error
}

func modelOps() []modelOp {
	return slices.Concat(specOps(), harmOps(), faultOps())
}

// specOps are changes of the desired state.
func specOps() []modelOp {
	var out []modelOp
	add := func(name string, do func(m *model, a, b int)) {
		out = append(out, modelOp{name, func(m *model, a, b int) error {
			m.rolling = false
			do(m, a, b)
			return nil
		}})
	}
	slot := func(name string, do func(s *modelSlot)) {
		add(name, func(m *model, a, _ int) { do(&m.spec.Slots[a%len(m.spec.Slots)]) })
	}
	slot("value", func(s *modelSlot) { s.Value++ })
	slot("value back", func(s *modelSlot) { s.Value = 0 })
	slot("add or remove install", func(s *modelSlot) { s.Present = !s.Present })
	slot("form", func(s *modelSlot) { s.Plain = !s.Plain })
	slot("namespace", func(s *modelSlot) { s.Other = !s.Other })
	slot("hooks", func(s *modelSlot) { s.Hooks = !s.Hooks })
	slot("gadget", func(s *modelSlot) { s.Gadget = !s.Gadget })
	place := func(m *model, a, b int) { m.spec.Places[a%len(m.spec.Places)].Slot = b%4 - 1 }
	add("place", place)
	add("place too", place)
	add("rename", func(m *model, a, _ int) { m.spec.Places[a%len(m.spec.Places)].Name ^= 1 })
	add("CRDs", func(m *model, _, _ int) { m.spec.CRDs = !m.spec.CRDs; m.unsure = m.unsure || m.away })
	add("change CRDs", func(m *model, _, _ int) { m.spec.Rev++ })
	add("resource", func(m *model, _, _ int) { m.spec.Resource = !m.spec.Resource; m.unsure = m.unsure || m.away })
	add("size", func(m *model, _, _ int) { m.spec.Size++ })
	add("resource and CRDs", func(m *model, _, _ int) {
		m.spec.CRDs, m.spec.Resource, m.unsure = true, true, m.unsure || m.away
	})
	add("labels", func(m *model, _, _ int) { m.spec.Labels ^= 1 })
	add("drift", func(m *model, a, _ int) {
		m.drift = []DriftPolicy{DriftRepair, DriftReport, DriftIgnore}[a%3]
	})
	add("adopt", func(m *model, _, _ int) { m.adopt = !m.adopt })
	add("recreate", func(m *model, _, _ int) { m.recreate = !m.recreate })
	add("force removal", func(m *model, _, _ int) { m.force = !m.force })
	add("remove or install", func(m *model, _, _ int) { m.removing = !m.removing })
	return append(out, modelOp{"rollback", func(m *model, _, _ int) error {
		inv, err := m.inventory()
		if err != nil || inv == nil || len(inv.Checkpoint) == 0 {
			return err
		}
		m.rolling, m.unsure = true, m.unsure || m.away
		m.spec = modelSpec{}
		return json.Unmarshal(inv.Checkpoint, &m.spec)
	}})
}

// pick returns one of the objects that are desired, exist, and belong to the bundle.
func (m *model) pick(a int) (cluster.ObjectRef, bool) {
	var all []cluster.ObjectRef
	for k := range m.wanted() {
		if m.b.s.objects[k] != nil && m.foreignObjects[k] == "" {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(x, y cluster.ObjectRef) int { return strings.Compare(x.String(), y.String()) })
	if len(all) == 0 {
		return cluster.ObjectRef{}, false
	}
	return all[a%len(all)], true
}

// harmOps are changes of other clients to objects.
func harmOps() []modelOp {
	var out []modelOp
	harm := func(name string, do func(m *model, k cluster.ObjectRef)) {
		out = append(out, modelOp{name, func(m *model, a, _ int) error {
			if k, ok := m.pick(a); ok {
				m.sayf("  %s", k)
				do(m, k)
			}
			return nil
		}})
	}
	edit := func(m *model, k cluster.ObjectRef) {
		m.count++
		path := map[string][]string{"ConfigMap": {"data", "k"}, "Deployment": {"spec", "template", "spec", "image"}}[k.Kind]
		if path == nil {
			path = []string{"metadata", "labels", "team"}
		}
		m.b.s.edit(k, set(fmt.Sprintf("e%d", m.count), path...))
	}
	harm("edit", edit)
	harm("edit too", edit)
	harm("edit more", func(m *model, k cluster.ObjectRef) { m.b.s.edit(k, set("x", "metadata", "annotations", "more")) })
	harm("delete", func(m *model, k cluster.ObjectRef) { m.kill(k) })
	harm("replace", func(m *model, k cluster.ObjectRef) {
		if k.Kind != "CustomResourceDefinition" {
			m.kill(k)
			m.occupy(k)
		}
	})
	harm("make again", func(m *model, k cluster.ObjectRef) {
		if k.Kind == "CustomResourceDefinition" {
			return
		}
		u := m.b.s.objects[k].u().DeepCopy()
		u.SetFinalizers(nil)
		u.SetDeletionTimestamp(nil)
		m.kill(k)
		m.copied[k] = true
		if m.b.s.objects[k] == nil && (k.Namespace == "" || m.b.s.objects[cluster.ObjectRef{Kind: "Namespace", Name: k.Namespace}] != nil) {
			m.b.s.put(u.Object)
		}
	})
	harm("take labels away", func(m *model, k cluster.ObjectRef) {
		m.loose[k] = true
		m.world.strip(m.b.s.objects[k])
		m.b.s.edit(k, func(u *unstructured.Unstructured) { u.SetLabels(nil) })
		m.world.loseTrack(m)
	})
	harm("finalizer", func(m *model, k cluster.ObjectRef) {
		if k.Kind != "CustomResourceDefinition" && k.Kind != "Namespace" {
			m.b.s.edit(k, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"x/y"}) })
		}
	})
	return append(out, otherOps()...)
}

// otherOps are changes to objects that are not members of the bundle, or may become members.
func otherOps() []modelOp {
	return []modelOp{
		{"release finalizers", func(m *model, _, _ int) error { m.finalizers(); return nil }},
		{"be first", func(m *model, a, _ int) error {
			keys := slices.SortedFunc(maps.Keys(m.anyKeys()), func(x, y cluster.ObjectRef) int { return strings.Compare(x.String(), y.String()) })
			m.occupy(keys[a%len(keys)])
			return nil
		}},
		{"lie in ambush", func(m *model, a, _ int) error {
			if k, ok := m.pick(a); ok && !m.adopt && k.Kind != "CustomResourceDefinition" && k.Kind != "Namespace" {
				m.sayf("  %s", k)
				m.ambush = k
			}
			return nil
		}},
		{"edit resource", (*model).editResource},
		{"delete resource", (*model).deleteResource},
		{"resource of others", func(m *model, a, _ int) error {
			for _, text := range []string{
				fmt.Sprintf("{apiVersion: example.org/v1, kind: Widget, metadata: {name: theirs-%d, namespace: other}}", a%2),
				fmt.Sprintf("{apiVersion: example.org/v1, kind: Gadget, metadata: {name: theirs-%d}}", a%2),
			} {
				u := manifestOf(m.t, text)
				served := slices.ContainsFunc(m.b.s.kinds(), func(f fakeKind) bool { return f.GroupVersionKind == u.GroupVersionKind() })
				if served && m.b.s.objects[object.RefOf(u)] == nil {
					m.addForeign(u)
				}
			}
			return nil
		}},
		{"delete namespace", func(m *model, a, _ int) error {
			k := cluster.ObjectRef{Kind: "Namespace", Name: []string{"apps", "other"}[a%2]}
			if m.b.s.objects[k] != nil {
				m.recordless[k.Name] = true
				m.world.lose(k.Name)
				clear(m.b.s.runs) // A hook whose creation was not recorded runs again.
				m.kill(k)
			}
			return nil
		}},
	}
}

func (m *model) editResource(_, _ int) error {
	if o := m.b.s.objects[widgetMain]; o != nil {
		m.count++
		m.b.s.edit(widgetMain, set(1000+m.count, "spec", "size"))
		m.sizes[o.u().GetUID()] = 1000 + m.count
	}
	return nil
}

func (m *model) deleteResource(_, _ int) error {
	if m.b.s.objects[widgetMain] == nil {
		return nil
	}
	m.b.s.remove(widgetMain)
	inv, err := m.inventory()
	if err != nil {
		return err
	}
	var en *inventory.Entry
	if inv != nil {
		en = inv.Find(widgetMain)
	}
	m.away = true
	m.unsure = m.unsure || en == nil || en.UID == "" || !m.spec.CRDs || !m.spec.Resource
	return nil
}

var widgetMain = key("Widget", "default", "main")

// anyKeys returns all keys that an object of the bundle could have.
func (m *model) anyKeys() map[cluster.ObjectRef]modelObject {
	all := m.spec
	for i := range all.Slots {
		all.Slots[i].Present, all.Slots[i].Gadget = true, false
	}
	for i := range all.Places {
		all.Places[i].Slot = max(all.Places[i].Slot, 0)
	}
	all.CRDs = false
	return all.wanted(m.t, "", &modelView{})
}

// occupy creates an object of another owner in the place of an object.
func (m *model) occupy(k cluster.ObjectRef) {
	if m.b.s.objects[k] != nil || (k.Namespace != "" && m.b.s.objects[cluster.ObjectRef{Kind: "Namespace", Name: k.Namespace}] == nil) {
		return
	}
	m.sayf("  a foreign %s", k)
	m.addForeign(m.foreign(k))
}

// kill deletes an object, and everything that cannot exist without it, as far as finalizers allow.
func (m *model) kill(k cluster.ObjectRef) {
	o := m.b.s.objects[k]
	if len(o.u().GetFinalizers()) > 0 {
		m.b.s.terminate(o)
	} else {
		m.b.s.remove(k)
	}
	delete(m.uids, k)
	if k.Kind == "Namespace" {
		for other := range m.uids {
			if other.Namespace == k.Name {
				delete(m.uids, other)
			}
		}
	}
	if m.b.s.objects[widgetMain] == nil {
		m.unsure = true
	}
	m.forget()
}

// forget removes the objects of other owners that are gone without the engine having deleted them.
func (m *model) forget() {
	for k := range m.foreignObjects {
		if m.b.s.objects[k] == nil {
			delete(m.foreignObjects, k)
		}
	}
}

// faultOps are faults of the server, of the connection and of the process.
func faultOps() []modelOp {
	return []modelOp{
		{"fault", (*model).breakServer},
		{"fault too", (*model).breakServer},
		{"heal", func(m *model, _, _ int) error { m.fault = nil; return nil }},
		{"cut off", (*model).cutOff},
		{"cut off too", (*model).cutOff},
		{"cut off and restart", func(m *model, a, b int) error {
			err := m.cutOff(a, b)
			m.restart()
			return err
		}},
		{"pages", (*model).pages},
		{"restart", func(m *model, _, _ int) error { m.restart(); return nil }},
		{"forget", func(m *model, _, _ int) error { m.b.Forget(m.b.c, m.bundle()); return nil }},
		{"blind", func(m *model, a, _ int) error {
			kind := []string{"ConfigMap", "Secret", "Job", "Deployment", "Namespace", "Widget"}[a%6]
			m.b.c.blind[kind] = !m.b.c.blind[kind]
			if !m.b.c.blind[kind] {
				delete(m.b.c.blind, kind)
			}
			return nil
		}},
		{"nothing works", func(m *model, _, _ int) error { m.b.s.unready = !m.b.s.unready; return nil }},
		{"all works", func(m *model, _, _ int) error { m.works(); return nil }},
		{"fail", (*model).failSome},
		{"time", func(m *model, a, _ int) error {
			m.clock = m.clock.Add([]time.Duration{time.Minute, 7 * time.Minute, 2 * time.Hour}[a%3])
			return nil
		}},
		{"check", func(m *model, _, _ int) error { return m.checkpoint() }},
		{"lose inventory", (*model).loseInventory},
		{"leave drift", (*model).driftWithoutRepair},
		{"take away", func(m *model, a, _ int) error {
			if a%3 > 0 {
				return nil
			}
			return m.takeAway()
		}},
	}
}

// breakServer makes the server refuse requests for one kind.
func (m *model) breakServer(a, b int) error {
	kind := []string{"ConfigMap", "Secret", "Deployment", "ClusterRole", "CustomResourceDefinition", "Namespace", "Job", "Widget"}[a%8]
	verbs := [][]string{{"patch"}, {"patch", "post", "put"}, {"delete", "deletecollection"}, {"get", "getcollection"}, {"patch", "delete", "post", "put"}}[a/8%5]
	st := []*metav1.Status{
		refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "may not"),
		refusal(http.StatusConflict, metav1.StatusReasonConflict, "the object has been modified"),
		refusal(http.StatusInternalServerError, metav1.StatusReasonInternalError, "failed calling webhook"),
		refusal(http.StatusBadRequest, "", "admission webhook denied the request"),
		refusal(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "busy"),
	}[b%5]
	left := []int{1, 2, 5, 1000}[b/5%4]
	m.sayf("  %s %v: %s, %d times", kind, verbs, st.Message, left)
	m.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
		if k.Kind != kind || !slices.Contains(verbs, verb) || left == 0 {
			return nil
		}
		left--
		out := *st
		return &out
	}
	return nil
}

// cutOff cuts off the connection within a step.
func (m *model) cutOff(a, b int) error {
	m.b.c.cutAfter(a%12, b%2 == 0)
	err := m.engine()
	m.b.c.cutAfter(-1, false)
	return err
}

// pages makes another web server answer requests for one kind within a step.
func (m *model) pages(a, b int) error {
	name := []string{"configmaps", "secrets", "deployments", "clusterroles", "customresourcedefinitions", "namespaces", "jobs", "widgets"}[a%8]
	forms := slices.Sorted(maps.Keys(pages))
	m.sayf("  %s: %s", name, forms[b%len(forms)])
	m.b.s.page = pages[forms[b%len(forms)]].to(resources(name))
	err := m.engine()
	m.b.s.page = nil
	return err
}

// failSome makes some of the workloads fail.
func (m *model) failSome(a, _ int) error {
	var all []cluster.ObjectRef
	for k := range m.b.s.objects {
		if (k.Kind == "Job" || k.Kind == "Deployment") && m.foreignObjects[k] == "" {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(x, y cluster.ObjectRef) int { return strings.Compare(x.String(), y.String()) })
	if len(all) == 0 {
		return nil
	}
	k := all[a%len(all)]
	m.sayf("  %s", k)
	condition := map[string]any{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "no"}
	if k.Kind == "Deployment" {
		condition = map[string]any{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "no"}
	}
	m.b.s.status(k, map[string]any{"observedGeneration": int64(1), "conditions": []any{condition}})
	m.world.upset()
	return nil
}
