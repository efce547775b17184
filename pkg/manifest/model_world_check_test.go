// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
)

// A modelSettled is an install as the last check found it.
type modelSettled struct {
	// content identifies what was installed, without labels. It is empty before the first check.
	content string
	// password is the random one, and hooks counts the hooks that were created.
	password string
	hooks    int
	// has is what a chart that asks for kinds was told.
	has string
	// changed means that there was a reason for new hooks and for a new password since then.
	changed bool
}

// contentOf identifies what a slot installs.
func (m *model) contentOf(slot int) string {
	in := &m.spec.Slots[slot]
	if !in.Present {
		return "none"
	}
	minor := ""
	if in.Asks {
		minor = m.minor()
	}
	i := m.spec.install(slot)
	return fmt.Sprint(i.Layer.Digest, i.Namespace, i.Values, minor)
}

// hasFor returns what the chart of a slot would be told if it were rendered now: other kinds are a reason for an upgrade as soon as
// something must be repaired. Charts that do not ask get the given answer.
func (w *modelWorld) hasFor(m *model, slot int, otherwise string) string {
	if in := &m.spec.Slots[slot]; !in.Present || !in.Asks || in.Plain || in.Random {
		return otherwise
	}
	return strconv.FormatBool(slices.Contains(w.apis, modelAPI))
}

// begin notes the installs that the next step has a reason to upgrade.
func (w *modelWorld) begin(m *model) {
	if w == nil {
		return
	}
	w.loseTrack(m)
	for i := range w.settled {
		s := &w.settled[i]
		s.changed = s.changed || m.removing || m.rolling || s.content != m.contentOf(i) || s.has != w.hasFor(m, i, s.has)
	}
}

// renew changes a value of each install whose random values cannot be restored, because its release records were lost.
func (w *modelWorld) renew(m *model) {
	if w == nil || m.removing {
		return
	}
	for i := range m.spec.Slots {
		if in := &m.spec.Slots[i]; in.Random && w.lost[in.namespace()] {
			m.sayf("  its owner changes a value of %s", modelNames[i])
			in.Value, m.rolling = in.Value+1, false
		}
	}
	clear(w.lost)
}

// lose notes that the release records in a namespace are lost.
func (w *modelWorld) lose(namespace string) {
	if w != nil {
		w.lost[namespace] = true
		w.upset()
	}
}

// upset notes that each install may be upgraded or installed again.
func (w *modelWorld) upset() {
	if w == nil {
		return
	}
	for i := range w.settled {
		w.settled[i].changed = true
	}
}

// upset is that of the world, and notes that objects may be replaced.
func (m *model) upset() {
	clear(m.uids)
	m.unsure, m.undone = true, true
	m.world.upset()
}

func (m *model) hooksOf(slot int) int {
	sum := 0
	for _, name := range []string{"first", "last"} {
		for _, namespace := range []string{"apps", "other"} {
			k := key("Job", namespace, modelNames[slot]+"-"+name)
			k.Group = "batch"
			sum += m.b.s.made[k]
		}
	}
	return sum
}

// overtook reports whether an object that is kept may have the labels of the bundle although no inventory has it, or lack them although
// one does: a process that did not know that another one released it repaired it, or the other one released it last.
func (w *modelWorld) overtook(kept bool) bool {
	return w != nil && (w.second != nil || w.rival != nil) && kept
}

// invariants hold at any time, whatever the world is like: no hook of a run is created twice.
func (w *modelWorld) invariants(m *model) error {
	if w == nil {
		return nil
	}
	for run, n := range m.b.s.runs {
		if n > 1 {
			return errors.Errorf("the hook with run ID %s was created %d times", run, n)
		}
	}
	return nil
}

// strip notes that an object lost a label by which the engine knows it.
func (w *modelWorld) strip(o *fakeObject) {
	if w != nil {
		w.stripped[o.u().GetUID()] = true
	}
}

// loseTrack notes the objects that nothing shows to be those of the bundle: there is no inventory, and they lack the label by which a lost
// one is rebuilt. No call can say that they are left. An object that only lacks the other label is found.
func (w *modelWorld) loseTrack(m *model) {
	if w == nil || m.b.s.objects[parentSecret] != nil {
		return
	}
	for k, o := range m.b.s.objects {
		unlabeled := o.u().GetLabels()[object.LabelPartOf] == "" && w.stripped[o.u().GetUID()]
		if unlabeled {
			delete(w.stripped, o.u().GetUID())
		}
		if unlabeled || m.copied[k] {
			w.untracked[o.u().GetUID()] = true
		}
	}
}

// isUntracked reports whether an object was unknown when there was no inventory, and still is: it lacks the label by which an inventory is
// rebuilt, or it is a copy, with the labels of the bundle, that another client made and the engine didn't apply since.
func (w *modelWorld) isUntracked(o *fakeObject) bool {
	unknown := o.u().GetLabels()[object.LabelPartOf] == "" || o.owners[object.DefaultFieldManager+"/Apply"] == nil
	return w != nil && w.untracked[o.u().GetUID()] && unknown
}

// usesUnlabeled reports whether a request reads a CRD that nothing showed to be part of the bundle, which uses it as it is.
func (w *modelWorld) usesUnlabeled(m *model, request string) bool {
	for k, o := range m.b.s.objects {
		if k.Kind == "CustomResourceDefinition" && request == "get "+k.String() && w.isUntracked(o) {
			return true
		}
	}
	return false
}

// isCopyLeft reports whether a call reported that an object is left, and another client created it. If the client copied an object that had
// lost a label, the copy has the other label, but is not a member.
func (w *modelWorld) isCopyLeft(k cluster.ObjectRef, o *fakeObject) bool {
	return w != nil && w.left[k] && o.owners[object.DefaultFieldManager+"/Apply"] == nil
}

// isUnidentified reports whether a call reported that an object is left because it lost the label of the bundle while the inventory did not
// contain its UID: nothing shows that the object is the applied one.
func (w *modelWorld) isUnidentified(k cluster.ObjectRef, o *fakeObject) bool {
	return w != nil && w.unidentified[k] && w.stripped[o.u().GetUID()]
}

// rendersDifferently reports whether an object would be rendered differently now, because the cluster serves other kinds. A report of its
// drift then contains no fields: the form that was applied is not known.
func (w *modelWorld) rendersDifferently(m *model, k cluster.ObjectRef) bool {
	if w == nil {
		return false
	}
	for i, was := range w.settled {
		of := func(suffix string) cluster.ObjectRef {
			return key("ConfigMap", m.spec.Slots[i].namespace(), modelNames[i]+suffix)
		}
		// The base contains the revision, which would be a new one, and the chart would not contain an object for kinds that are not served.
		if (k == of("-asks") || k == of("-base") || k == of("-served")) && was.has != w.hasFor(m, i, was.has) {
			return true
		}
	}
	return false
}

// isForgotten reports whether an object lost a label, is left in the cluster, and no call said so.
func (w *modelWorld) isForgotten(k cluster.ObjectRef, o *fakeObject) bool {
	return w != nil && w.stripped[o.u().GetUID()] && !w.left[k] && !w.isUntracked(o) && !w.isUnlisted(o)
}

// isUnlisted reports whether a call reported that an object may be missing in the inventory that it rebuilt.
func (w *modelWorld) isUnlisted(o *fakeObject) bool { return w != nil && w.unlisted[o.u().GetUID()] }

// knows reports whether an observation that begins now must be right: the watch shows everything, and no fault can occur.
func (w *modelWorld) knows(m *model) bool {
	c := m.b.c
	return w != nil && c.watch.isCurrent() && c.known == c.version && c.server == m.b.s && c.before == nil && c.weather == nil
}

// observed checks an observation, if it must be right, and records what a controller would.
func (w *modelWorld) observed(m *model, knows bool, o observe.Observation, err error) error {
	if w == nil || err != nil {
		return nil //nolint:nilerr // The caller handles the error.
	}
	if o.Exists && o.ClusterUID != "" {
		w.clusterUID = o.ClusterUID
	}
	w.installed = w.installed || o.Exists
	if o.State != Ready || !o.UpToDate || !o.Exists || m.drift == DriftIgnore || !knows {
		return nil
	}
	inv, err := m.inventory()
	if err != nil || inv == nil {
		return errors.Errorf("Ready, and the inventory is %v, %v", inv, err)
	}
	id := m.b.ID(m.bundle())
	for k, variants := range m.wanted() {
		o, en := m.b.s.objects[k], inv.Find(k)
		if o == nil || en == nil {
			return errors.Errorf("Ready, and %s is missing: entry %+v", k, en)
		}
		if o.u().GetDeletionTimestamp() != nil || o.u().GetLabels()[object.LabelPartOf] != id && !m.loose[k] && !w.overtook(m.keeps(k)) {
			return errors.Errorf("Ready, and %s is not a member that stays", k)
		}
		want := variants[string(en.Part)]
		// An object that nothing showed to be ours is used as is, if it is one that can be shared.
		if want == nil || len(en.Ceded) > 0 || w.overtook(m.keeps(k)) || w.isUntracked(o) {
			continue
		}
		ours := o.owners[object.DefaultFieldManager+"/Apply"]
		for _, p := range fieldset.All(fieldsOf(want.Object)) {
			if ours == nil || !ours.Has(p) || at(o.content, p) != at(want.Object, p) {
				return errors.Errorf("Ready, and %s differs at %s", k, p)
			}
		}
	}
	return nil
}

// check checks that hooks ran only where there was a reason, and that passwords stayed.
func (w *modelWorld) check(m *model) error {
	if w == nil {
		return nil
	}
	for i := range w.settled {
		was, in := w.settled[i], &m.spec.Slots[i]
		is := modelSettled{content: m.contentOf(i), hooks: m.hooksOf(i)}
		if in.Asks && in.Present && !in.Plain && !in.Random {
			is.has = m.fieldOf(key("ConfigMap", in.namespace(), modelNames[i]+"-asks"), "data", "has")
		}
		if in.Random && in.Present && !in.Plain {
			is.password = m.fieldOf(key("Secret", in.namespace(), modelNames[i]+"-secret"), "data", "password")
			if is.password == "" {
				return errors.Errorf("install %s has no password", modelNames[i])
			}
		}
		w.settled[i] = is
		if was.content == "" || was.changed {
			continue
		}
		if is.hooks != was.hooks {
			return errors.Errorf("hooks of install %s were created %d times, and nothing changed", modelNames[i], is.hooks-was.hooks)
		}
		if is.password != was.password {
			return errors.Errorf("the password of install %s changed from %s to %s", modelNames[i], was.password, is.password)
		}
	}
	return nil
}
