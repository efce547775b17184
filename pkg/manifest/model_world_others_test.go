// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// process returns another process that uses the cluster of the model.
func (m *model) process(of **bench) *bench {
	if *of == nil {
		*of = m.b.another()
		(*of).concurrency = 1
		(*of).now = func() time.Time { return m.clock }
	}
	(*of).c.version, (*of).c.apis = m.world.version, m.world.apis
	return *of
}

// calm runs something without the faults of the world, because what is undone must be able to be undone.
func (m *model) calm(do func() error) error {
	fault, weather := m.fault, m.b.c.weather
	m.fault, m.b.c.weather = nil, nil
	defer func() { m.fault, m.b.c.weather = fault, weather }()
	return do()
}

// otherProcessOps are steps of another process of the provider, and of a process whose connection leads to another cluster.
func otherProcessOps() []modelOp {
	return []modelOp{
		{"remember", func(m *model, _, _ int) error { m.world.former = m.spec; return nil }},
		{"other process", func(m *model, _, b int) error { return m.calm(func() error { return m.otherProcess(b) }) }},
		{"other process meanwhile", overtake}, {"other process meanwhile too", overtake},
		{"forget other process", func(m *model, _, _ int) error { m.world.second = nil; return nil }},
		{"other cluster", (*model).otherCluster},
		{"other cluster meanwhile", (*model).otherClusterMeanwhile},
	}
}

func overtake(m *model, a, b int) error {
	return m.calm(func() error {
		return m.meanwhile(1+a%24, func() error { return m.otherProcess(b) })
	})
}

// otherProcess does steps of another process: for the same desired state, for a former one, or to remove the bundle.
func (m *model) otherProcess(b int) error {
	p := m.process(&m.world.second)
	if p.c.watch == nil && b%5 > 0 {
		p.c.watch = newFakeWatch(m.b.s)
		p.c.watch.lag("", []int{1, 4, 1000}[b%3])
	}
	s, steps := m.bundle(), []int{1, 2, 5}[b/4%3]
	m.sayf("  other process: %s, %d steps", []string{"apply", "apply", "apply former", "remove"}[b%4], steps)
	switch b % 4 {
	case 2:
		s = m.world.former.bundle(m.t)
		s.ClusterUID, s.Installed = m.world.clusterUID, m.world.installed
		m.upset()
	case 3:
		s.Adopt = false
		m.upset()
	default:
		m.world.begin(m)
		m.unwant()
		m.adopts()
	}
	for range steps {
		if b%4 == 3 {
			r, err := p.Remove(m.t.Context(), p.c, s)
			m.recordReported(r.Kept, r.KeptAdopted, r.LeftBehind, r.Rebuilt)
			m.sayf("    remove: %+v, %v", r, err)
			if err := bugOf(err); err != nil {
				return err
			}
			continue
		}
		var o []CallOption
		if b%4 < 2 {
			o = m.options()
		}
		r, err := p.Apply(m.t.Context(), p.c, s, o...)
		m.recordReported(r.Kept, r.KeptAdopted, r.LeftBehind, r.Rebuilt)
		m.sayf("    apply: %+v, %v", r, err)
		if err := bugOf(err); err != nil {
			return err
		}
	}
	// It may have finished and deleted a hook that this process is about to create, which nothing can prevent.
	clear(m.b.s.runs)
	m.forget()
	return nil
}

// elsewhere returns another cluster with objects of other owners in places of the bundle.
func (m *model) elsewhere(a int) *fakeServer {
	s := newFakeServer()
	s.cluster, s.uid, s.rv = "cluster-b", 1_000_000*(1+m.world.restores), []int{50, 1_000_000}[a%2]
	for _, ns := range []string{"apps", "other", DefaultNamespace} {
		s.put(manifestOf(m.t, namespaceOf(ns)).Object)
	}
	for k := range m.anyKeys() {
		if len(k.Name)%3 == a%3 && (k.Namespace == "apps" || k.Namespace == "other") {
			s.put(m.foreign(k).Object)
		}
	}
	return s
}

// otherCluster makes the connection lead to another cluster for each call: none changes anything there.
func (m *model) otherCluster(a, b int) error {
	if m.world.clusterUID == "" {
		return nil
	}
	there := m.elsewhere(a)
	before := versions(there)
	watch := m.b.c.watch
	m.b.c.server = there
	if b%2 == 0 {
		m.b.c.watch = newFakeWatch(there)
	}
	m.b.c.reconnect()
	errs := m.b.verbsOf(m.bundle())
	m.b.c.server, m.b.c.watch = m.b.s, watch
	m.b.c.reconnect()
	for verb, err := range errs {
		if e := (*WrongClusterError)(nil); !errors.As(err, &e) {
			return errors.Errorf("%s in another cluster: %v", verb, err)
		}
	}
	if changed := changedIn(before, versions(there)); len(changed) > 0 {
		return errors.Errorf("changed in another cluster: %q", changed)
	}
	return nil
}

// otherClusterMeanwhile makes the connection lead to another cluster from some request on: what exists there does not change, and
// nothing is left there.
func (m *model) otherClusterMeanwhile(a, b int) error {
	inv, err := m.inventory()
	if err != nil || inv == nil || m.world.clusterUID == "" {
		return err
	}
	there := m.elsewhere(b)
	before := versions(there)
	c := m.b.c
	defer func() { c.server = m.b.s }()
	// A write that opens the network connection itself arrives in the other cluster. Unless the bundle adopts what it finds, or has no
	// inventory yet, it changes nothing that exists there, but it can create an object.
	anyRequest := !m.adopt && !m.b.c.blind["Secret"] && isShown(m.b.s.objects[parentSecret])
	write := false
	isMeant := func(r *http.Request) bool {
		write = r.Method != http.MethodGet
		return anyRequest || r.Method == http.MethodGet
	}
	err = m.calm(func() error {
		return m.meanwhileAt(1+a%24, isMeant, func() error {
			m.sayf("  from now on another cluster")
			c.server = there
			c.reconnect() // Only another connection leads there,
			return nil
		})
	})
	c.server = m.b.s
	c.reconnect()      // and back,
	c.watch.relist("") // and the watch broke, too.
	if err != nil {
		return err
	}
	after := versions(there)
	if write && len(after) == len(before)+1 {
		maps.DeleteFunc(after, func(k cluster.ObjectRef, _ string) bool { return before[k] == "" })
	}
	if changed := changedIn(before, after); len(changed) > 0 {
		return errors.Errorf("changed in another cluster: %q", changed)
	}
	return nil
}

// otherOwnerOps are steps of owners of other bundles.
func otherOwnerOps() []modelOp {
	return []modelOp{
		{"other owner", func(m *model, _, b int) error { return m.calm(func() error { return m.otherOwner(b) }) }},
		{"other owner meanwhile", func(m *model, a, b int) error {
			return m.calm(func() error {
				err := m.meanwhile(1+a%24, func() error { return m.otherOwner(b) })
				return errors.Join(err, m.retire())
			})
		}},
		{"neighbor", func(m *model, _, b int) error { return m.calm(func() error { return m.neighborActs(b) }) }},
		{"neighbor meanwhile", func(m *model, a, b int) error {
			return m.calm(func() error { return m.meanwhile(1+a%24, func() error { return m.neighborActs(b) }) })
		}},
	}
}

// rivalSpec is the desired state of another owner of the name of the bundle.
func (m *model) rivalSpec() modelSpec {
	s := m.world.former
	s.Slots[0].Value = 100
	for i := range s.Slots {
		s.Slots[i].Gadget = false
	}
	s.CRDs, s.Resource, s.Places[4].Slot = false, false, -1
	return s
}

// rivalBundle returns a bundle of another owner with the name of the bundle.
func (m *model) rivalBundle() *Bundle {
	s := m.rivalSpec()
	return copyOf(s.bundle(m.t))
}

// takeOver lets another owner adopt the bundle. It removes the bundle later.
func (m *model) takeOver(p *bench, s *Bundle) error {
	s.Adopt, m.ambush = true, cluster.ObjectRef{}
	spec := m.rivalSpec()
	for k := range spec.wanted(m.t, "", &modelView{}) {
		if m.foreignObjects[k] != "" {
			delete(m.foreignObjects, k)
			m.loose[k] = true
		}
	}
	m.upset()
	for range 3 {
		r, err := p.Apply(m.t.Context(), p.c, s)
		m.recordReported(r.Kept, r.KeptAdopted, r.LeftBehind, r.Rebuilt)
		m.sayf("  other owner takes over: %+v, %v", r, err)
		if err := bugOf(err); err != nil {
			return err
		}
	}
	m.forget()
	return m.retire()
}

// otherOwner calls the engine with a bundle of another owner that has the name of the bundle. It is refused if there is an inventory,
// unless it adopts.
func (m *model) otherOwner(b int) error {
	p, s := m.process(&m.world.rival), m.rivalBundle()
	m.world.unsearched = m.world.unsearched || m.b.s.objects[parentSecret] == nil
	if b%4 == 3 {
		return m.takeOver(p, s)
	}
	if m.b.s.objects[parentSecret] == nil {
		r, err := p.Apply(m.t.Context(), p.c, s)
		m.sayf("  other owner: %+v, %v", r, err)
		m.upset()
		return errors.Join(bugOf(err), m.retire())
	}
	if m.b.owner() != "Manifest team-a/web" {
		return nil
	}
	before := versions(m.b.s)
	shown := isShown(m.b.s.objects[parentSecret])
	for verb, err := range p.verbsOf(s) {
		// What only reads does not know an inventory that the watch does not show.
		if !isOwned(err) && (shown || err != nil || verb != "Plan" && verb != "Observe") {
			return errors.Errorf("%s by another owner: %v", verb, err)
		}
	}
	if changed := changedIn(before, versions(m.b.s)); len(changed) > 0 {
		return errors.Errorf("changed by another owner: %q", changed)
	}
	return nil
}

// retire removes what another owner with a bundle of the same name installed.
func (m *model) retire() error {
	if m.b.c.before != nil {
		return nil
	}
	m.world.unsearched = false
	if m.b.s.objects[parentSecret] == nil || m.b.owner() != "Manifest team-b/web" {
		return nil
	}
	p, s := m.process(&m.world.rival), m.rivalBundle()
	var last Removal
	var err error
	for range modelPatience {
		m.works()
		m.finalizers()
		last, err = p.Remove(m.t.Context(), p.c, s, ForceRemoval())
		m.recordReported(last.Kept, last.KeptAdopted, last.LeftBehind, last.Rebuilt)
		m.sayf("  other owner removes: %+v, %v", last, err)
		if err == nil && last.Gone {
			m.forget()
			return nil
		}
	}
	return errors.Errorf("the bundle of another owner is not gone: %+v, %v", last, err)
}

// A modelNeighbor is the owner of another bundle that may have objects with the names of those of the bundle.
type modelNeighbor struct {
	*bench

	spec modelSpec
	// orphans are the UIDs of objects that the neighbor orphaned, because they must be kept. It takes them over when it is installed again.
	orphans map[types.UID]bool
}

// neighborActs does a step of another bundle. It changes no object of the bundle.
func (m *model) neighborActs(b int) error {
	w := m.world
	if w.neighbor == nil {
		w.neighbor = &modelNeighbor{orphans: map[types.UID]bool{}}
	}
	n := w.neighbor
	p := m.process(&n.bench)
	if b%3 == 0 {
		n.spec = m.world.former
		n.spec.CRDs, n.spec.Resource = false, false
		for i := range n.spec.Slots {
			n.spec.Slots[i].Plain, n.spec.Slots[i].Hooks, n.spec.Slots[i].Gadget, n.spec.Slots[i].Value = true, false, false, b
		}
	}
	s := n.spec.bundle(m.t)
	s.Name, s.Owner = "team-b-other", "Manifest team-b/other"
	id, mine := p.ID(s), p.ID(m.bundle())
	before := versions(m.b.s)
	var isMine, isTheirs []cluster.ObjectRef
	for k, o := range m.b.s.objects {
		if isOwn(o, id) {
			isTheirs = append(isTheirs, k)
		}
		if isOwn(o, mine) || m.foreignObjects[k] != "" && !isOwn(o, id) && k.Name != s.Name && !n.orphans[o.u().GetUID()] {
			isMine = append(isMine, k)
		}
	}
	var err error
	if b%5 == 4 {
		var r Removal
		r, err = p.Remove(m.t.Context(), p.c, s)
		m.sayf("  neighbor removes: %+v, %v", r, err)
	} else {
		var r Result
		r, err = p.Apply(m.t.Context(), p.c, s)
		m.sayf("  neighbor applies: %+v, %v", r, err)
	}
	if err := bugOf(err); err != nil {
		return err
	}
	after := versions(m.b.s)
	for _, k := range isMine {
		if before[k] != after[k] && !(slices.ContainsFunc(isMine, func(ns cluster.ObjectRef) bool {
			return ns.Name == k.Namespace && ns.Kind == "Namespace" && after[ns] == ""
		})) {
			return errors.Errorf("a neighbor changed %s", k)
		}
	}
	for k, o := range m.b.s.objects {
		orphaned := !isOwn(o, id) && slices.Contains(isTheirs, k)
		if orphaned {
			n.orphans[o.u().GetUID()] = true
		}
		if isOwn(o, id) || k.Name == s.Name || orphaned {
			m.foreignObjects[k] = m.versionOf(k)
			delete(m.uids, k)
		}
	}
	m.forget()
	m.unwant()
	return nil
}
