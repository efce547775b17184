// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
)

// invariants hold at any time: objects of other owners are unchanged, and objects of the bundle are in the inventory.
func (m *model) invariants() error {
	for k, v := range m.foreignObjects {
		if got := m.versionOf(k); got != v {
			if m.force && m.removing && (k.Kind == "Widget" || k.Kind == "Gadget") {
				continue
			}
			return errors.Errorf("%s belongs to another client, and was changed: %s, now %q", k, v, got)
		}
	}
	inv, err := m.inventory()
	if err != nil {
		return err
	}
	if err := m.world.invariants(m); err != nil {
		return err
	}
	if inv == nil && m.world != nil && m.world.installed {
		return nil // It was lost. A later step rebuilds it.
	}
	if inv != nil && m.world != nil && m.world.unsearched && m.b.owner() != m.bundle().Owner {
		return nil // The other owner removes what it knows, and a later step of the owner of the bundle rebuilds the inventory.
	}
	id := m.b.ID(m.bundle())
	for k, o := range m.b.s.objects {
		if o.u().GetLabels()[object.LabelPartOf] != id || k.Kind == "Job" || k == widgetMain || m.copied[k] || m.world.isUntracked(o) || m.world.isUnlisted(o) {
			continue
		}
		if inv == nil || inv.Find(k) == nil {
			return errors.Errorf("%s is ours, and no inventory has it", k)
		}
	}
	return nil
}

// works makes all objects ready, as their controllers would do. Failed Jobs stay failed.
func (m *model) works() {
	s := m.b.s
	s.unready = false
	for k, o := range s.objects {
		_, has := o.content["status"]
		switch {
		case m.foreignObjects[k] != "":
		case k == widgetMain:
			s.status(k, map[string]any{"state": "Ready"})
		case k.Kind == "Deployment", !has && (k.Kind == "Job" || k.Kind == "CustomResourceDefinition"):
			setReadyStatus(o.u())
			s.touch(o)
		}
	}
}

// finalizers removes all finalizers.
func (m *model) finalizers() {
	for k, o := range m.b.s.objects {
		switch {
		case len(o.u().GetFinalizers()) == 0:
		case o.u().GetDeletionTimestamp() != nil:
			m.b.s.remove(k)
			delete(m.uids, k)
		default:
			m.b.s.edit(k, func(u *unstructured.Unstructured) { u.SetFinalizers(nil) })
			if m.foreignObjects[k] != "" {
				m.foreignObjects[k] = m.versionOf(k)
			}
		}
	}
}

// help follows the advice in messages: it removes what blocks the engine.
func (m *model) help() {
	m.works()
	m.finalizers()
	wanted := m.wanted()
	if m.removing {
		wanted = nil
	}
	id := m.b.ID(m.bundle())
	for k := range wanted {
		o := m.b.s.objects[k]
		if o == nil || o.u().GetLabels()[object.LabelPartOf] == id || m.foreignObjects[k] == "" && !m.loose[k] {
			continue
		}
		// The engine does not take an object from another bundle that took it.
		if taken := o.u().GetLabels()[object.LabelPartOf] != ""; taken || !m.adopt || m.fixed(k) {
			m.sayf("  its owner removes %s", k)
			m.kill(k)
		}
	}
	gadget := slices.ContainsFunc(m.spec.Slots[:], func(s modelSlot) bool { return s.Present && s.Gadget }) && !m.removing
	for k := range m.b.s.objects {
		mine := k == widgetMain && m.spec.Resource && m.spec.CRDs && !m.isReleased(k)
		if k.Kind == "Widget" && !mine && (m.removing || !m.spec.CRDs) || k.Kind == "Gadget" && !gadget {
			m.sayf("  its owner removes %s", k)
			m.b.s.remove(k)
			m.unsure = m.unsure || k == widgetMain
		}
	}
	m.forget()
	m.world.renew(m)
}

// isReleased reports whether the bundle is being removed, and an inventory no longer has an object. Another process with a former desired
// state released it.
func (m *model) isReleased(k cluster.ObjectRef) bool {
	if !m.removing {
		return false
	}
	inv, err := m.inventory()
	return err == nil && inv != nil && inv.Find(k) == nil
}

// heal ends all faults.
func (m *model) heal() {
	m.fault, m.ambush, m.recreate, m.drift = nil, cluster.ObjectRef{}, true, DriftRepair
	m.retry++
	clear(m.b.c.blind)
	m.world.heal(m)
	m.clock = m.clock.Add(2 * time.Hour)
}

const modelPatience = 30

// checkpoint checks that once all faults are over, the cluster reaches the desired state and stays there.
func (m *model) checkpoint() error {
	m.removing = false
	m.heal()
	var seen observe.Observation
	var err error
	for range modelPatience {
		m.help()
		m.clock = m.clock.Add(2 * time.Minute)
		m.unwant()
		m.world.begin(m)
		if seen, err = m.b.Observe(m.t.Context(), m.b.c, m.bundle(), m.options()...); err == nil && seen.Exists && seen.UpToDate && seen.State == Ready {
			return m.check(seen)
		}
		r, err := m.b.Apply(m.t.Context(), m.b.c, m.bundle(), m.options()...)
		m.sayf("  reconcile: %+v, %v", r, err)
		m.recordReported(r.Kept, r.KeptAdopted, r.LeftBehind, r.Rebuilt)
		if err := m.invariants(); err != nil {
			return err
		}
	}
	return errors.Errorf("is not up to date after all steps: %+v, %v", seen, err)
}

// check checks everything.
func (m *model) check(seen observe.Observation) error {
	inv, err := m.inventory()
	if err != nil {
		return err
	}
	if inv == nil {
		return errors.New("there is no inventory")
	}
	wanted := m.wanted()
	for _, check := range []func() error{
		m.invariants,
		func() error { return m.checkObjects(wanted, inv) },
		func() error { return m.checkResource(inv) },
		func() error { return m.checkInventory(wanted, inv) },
		func() error { return m.checkLeftovers(wanted, inv) },
		func() error { return m.checkRecords(inv) },
		m.checkRest,
		func() error { return m.world.check(m) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	total := len(wanted)
	if m.spec.CRDs && m.spec.Resource && m.b.s.objects[widgetMain] != nil {
		total++
	}
	if seen.Total != total || seen.Ready != total || len(seen.Drift) > 0 {
		return errors.Errorf("want %d objects, seen: %+v", total, seen)
	}
	for k := range wanted {
		m.uids[k] = m.b.s.uidOf(k)
	}
	clear(m.copied)
	return nil
}

// checkObjects checks that each object is in its desired state, and was not replaced.
func (m *model) checkObjects(wanted map[cluster.ObjectRef]modelObject, inv *inventory.Inventory) error {
	for k, uid := range m.uids {
		if got := m.b.s.uidOf(k); got != uid && !m.fixed(k) {
			return errors.Errorf("%s was recreated, or lost: want %q, got %q", k, uid, got)
		}
	}
	for k, variants := range wanted {
		o := m.b.s.objects[k]
		if o == nil {
			return errors.Errorf("%s is missing", k)
		}
		en := inv.Find(k)
		if en == nil {
			return errors.Errorf("%s is not in the inventory", k)
		}
		want := variants[string(en.Part)]
		if want == nil {
			return errors.Errorf("%s is of part %s, want one of %q", k, en.Part, slices.Sorted(maps.Keys(variants)))
		}
		if o.u().GetDeletionTimestamp() != nil {
			return errors.Errorf("%s is being deleted", k)
		}
		if k.Kind == "CustomResourceDefinition" && m.world.isUntracked(o) {
			continue // Nothing showed that it is ours, so it is used as is.
		}
		fields := fieldsOf(want.Object)
		ours := o.owners[object.DefaultFieldManager+"/Apply"]
		if ours == nil || !ours.Equals(fields) {
			return errors.Errorf("%s: want fields %s, got %s", k, fields, ours)
		}
		for _, p := range fieldset.All(fields) {
			if got, want := at(o.content, p), at(want.Object, p); got != want {
				return errors.Errorf("%s: want %s at %s, got %s", k, want, p, got)
			}
		}
	}
	return nil
}

// checkResource checks that the custom resource is as its users left it.
func (m *model) checkResource(inv *inventory.Inventory) error {
	if !m.spec.CRDs || !m.spec.Resource {
		if inv.Find(widgetMain) != nil {
			return errors.New("the custom resource is in the inventory")
		}
		return nil
	}
	en, o := inv.Find(widgetMain), m.b.s.objects[widgetMain]
	switch {
	case en == nil || en.Part != object.PartResource || en.UID == "":
		return errors.Errorf("entry of the custom resource: %+v", en)
	case o == nil && (m.away || m.unsure):
		m.away, m.unsure = true, false
		return nil
	case o == nil:
		return errors.New("the custom resource is missing")
	case m.away && !m.unsure:
		return errors.New("the custom resource came back")
	}
	m.away, m.unsure = false, false
	want := int64(m.spec.Size)
	if size, ok := m.sizes[o.u().GetUID()]; ok {
		want = size
	}
	if got, _, _ := unstructured.NestedInt64(o.content, "spec", "size"); got != want {
		return errors.Errorf("size of the custom resource: want %d, got %d", want, got)
	}
	return nil
}

// checkInventory checks that the inventory has exactly the desired objects, with their UIDs.
func (m *model) checkInventory(wanted map[cluster.ObjectRef]modelObject, inv *inventory.Inventory) error {
	for i := range inv.Objects {
		en := &inv.Objects[i]
		k := en.Ref()
		if k == widgetMain {
			continue
		}
		if wanted[k] == nil || en.Pruned {
			return errors.Errorf("the inventory has %+v", en)
		}
		if en.UID != string(m.b.s.uidOf(k)) || en.Intent == "" || len(en.Ceded) > 0 {
			return errors.Errorf("the inventory has %+v, and the object has UID %s", en, m.b.s.uidOf(k))
		}
	}
	parts := map[object.PartID]bool{object.PartCRDs: m.spec.CRDs, object.PartResource: m.spec.CRDs && m.spec.Resource}
	for i := range m.spec.Slots {
		parts[object.PartOf(modelNames[i])] = m.spec.Slots[i].Present
	}
	for name, there := range parts {
		if _, ok := inv.Parts[name]; ok != there {
			return errors.Errorf("part %s in the inventory: want %v, got %v", name, there, ok)
		}
	}
	if good := m.spec.checkpoint(m.t); string(inv.Checkpoint) != string(good) {
		return errors.Errorf("kept to go back to: %s, want %s", inv.Checkpoint, good)
	}
	return nil
}

// checkLeftovers checks that no object of the bundle is left that is not desired.
func (m *model) checkLeftovers(wanted map[cluster.ObjectRef]modelObject, inv *inventory.Inventory) error {
	id := m.b.ID(m.bundle())
	for k, o := range m.b.s.objects {
		labels := o.u().GetLabels()
		owner := labels[object.LabelPartOf]
		ours := owner == id || owner == "" && labels[object.LabelManagedBy] == object.DefaultManagedBy
		switch {
		case wanted[k] == nil && !m.keeps(k) && m.world.isForgotten(k, o):
			return errors.Errorf("%s is left, and no call said so", k)
		case wanted[k] != nil, m.foreignObjects[k] != "", k == widgetMain, k.Kind == "Namespace" && !strings.HasPrefix(k.Name, "own"):
		case k.Kind == "Job" && slices.ContainsFunc(modelNames[:], func(n string) bool { return strings.HasPrefix(k.Name, n+"-") }):
		case k.Kind == "Secret" && k.Namespace == DefaultNamespace && inv != nil:
		case k.Kind == "Secret" && labels[release.LabelSet] == id && inv != nil && m.released(k.Name, k.Namespace):
		case !ours && (m.loose[k] || m.keeps(k)), m.world.isUntracked(o), m.world.isUnlisted(o):
		case owner == "" && (m.world.isCopyLeft(k, o) || m.world.isUnidentified(k, o)):
		default:
			return errors.Errorf("%s is left", k)
		}
	}
	return nil
}

// released reports whether the release that a Secret records should have records.
func (m *model) released(name, namespace string) bool {
	for i := range m.spec.Slots {
		in := &m.spec.Slots[i]
		if in.Present && !in.Plain && in.namespace() == namespace && strings.HasPrefix(name, release.RecordPrefix+modelNames[i]+".v") {
			return true
		}
	}
	return false
}

// checkRecords checks that one revision of each release is deployed: the one that the inventory names.
func (m *model) checkRecords(inv *inventory.Inventory) error {
	for i := range m.spec.Slots {
		in, rec := &m.spec.Slots[i], inv.Parts[object.PartOf(modelNames[i])]
		if !in.Present || in.Plain || m.recordless[in.namespace()] {
			continue
		}
		var deployed []string
		for k, o := range m.b.s.objects {
			l := o.u().GetLabels()
			if k.Namespace == in.namespace() && strings.HasPrefix(k.Name, release.RecordPrefix+modelNames[i]+".v") && l[release.LabelStatus] == record.StatusDeployed {
				deployed = append(deployed, l[release.LabelRevision])
			}
		}
		want := []string{strconv.Itoa(rec.Revision)}
		if !slices.Equal(deployed, want) && (len(deployed) > 0 || !m.undone) {
			return errors.Errorf("deployed revisions of %s: want %q, got %q", modelNames[i], want, deployed)
		}
	}
	return nil
}

// checkRest checks that nothing is requested, and nothing is done.
func (m *model) checkRest() error {
	m.b.s.took()
	o, err := m.b.Observe(m.t.Context(), m.b.c, m.bundle(), m.options()...)
	if err != nil || !o.UpToDate || o.State != Ready {
		return errors.Errorf("at rest: %+v, %v", o, err)
	}
	if _, err := m.b.Apply(m.t.Context(), m.b.c, m.bundle(), m.options()...); err != nil {
		return err
	}
	log := slices.DeleteFunc(m.b.s.took(), func(request string) bool {
		// The watch does not show a CRD that is used as is if it has no label.
		return m.world.usesUnlabeled(m, request)
	})
	if len(log) > 0 {
		return errors.Errorf("requests at rest: %q", log)
	}
	return nil
}
