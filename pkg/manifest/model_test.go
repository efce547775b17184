// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// A model knows the expected state of a cluster regardless of what was done to it, and performs operations on the cluster.
type model struct {
	t testing.TB
	b *bench
	// spec is the desired state, and the fields after it how it is applied.
	spec                   modelSpec
	drift                  DriftPolicy
	adopt, recreate, force bool
	rolling, removing      bool
	retry                  int
	clock                  time.Time
	// fault is a fault of the server, and ambush an object that another client replaces immediately before it is written.
	fault  func(verb string, k cluster.ObjectRef) *metav1.Status
	ambush cluster.ObjectRef
	// foreignObjects are the objects of other owners, with the version that they must keep.
	foreignObjects map[cluster.ObjectRef]string
	// loose objects may be left without the labels of the bundle, and copied ones got them from another client.
	loose, copied map[cluster.ObjectRef]bool
	// uids are those of the last check, as long as there is no reason for a new one. Pruned objects have none.
	uids map[cluster.ObjectRef]types.UID
	// sizes are the sizes that users set in the custom resource, by its UID. away means that they deleted it, and unsure that
	// they may have done so.
	sizes        map[types.UID]int64
	away, unsure bool
	// recordless are namespaces whose release records were lost.
	recordless map[string]bool
	// undone means that a removal began.
	undone bool
	count  int64
	trace  []string
	// world is nil in a perfect one.
	world *modelWorld
}

func newModel(t testing.TB) *model {
	t.Helper()
	m := &model{
		t: t, b: newBench(t), clock: time.Unix(1_700_000_000, 0), foreignObjects: map[cluster.ObjectRef]string{}, loose: map[cluster.ObjectRef]bool{},
		copied: map[cluster.ObjectRef]bool{}, uids: map[cluster.ObjectRef]types.UID{}, sizes: map[types.UID]int64{}, recordless: map[string]bool{},
	}
	for i := range m.spec.Places {
		m.spec.Places[i].Slot = i%4 - 1
	}
	for i := range m.spec.Slots {
		m.spec.Slots[i] = modelSlot{Present: i < 2, Plain: i == 2, Hooks: i == 0}
	}
	m.b.s.fault, m.b.s.fixed = m.answer, m.fixed
	m.restart()
	for _, text := range []string{
		namespaceOf("apps"), namespaceOf("other"),
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: foreign, namespace: apps}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs, namespace: other, labels: {applyset.kubernetes.io/part-of: x}}}",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: foreign}}",
	} {
		m.addForeign(manifestOf(t, text))
	}
	delete(m.foreignObjects, cluster.ObjectRef{Kind: "Namespace", Name: "apps"})
	delete(m.foreignObjects, cluster.ObjectRef{Kind: "Namespace", Name: "other"})
	return m
}

// modelNothing matches the empty fields of a result.
var modelNothing = regexp.MustCompile(`[A-Z]\w*:(\[\]|0|false|\[[0-9 ]+\]|)([ }])`)

// sayf logs an event, once if it repeats.
func (m *model) sayf(format string, a ...any) {
	if *modelRequests {
		m.trace = append(m.trace, m.b.s.took()...)
	}
	line := modelNothing.ReplaceAllString(fmt.Sprintf(format, a...), "$2")
	if n := len(m.trace); n == 0 || m.trace[n-1] != line {
		m.trace = append(m.trace, line)
	}
}

// bundle returns the bundle that is desired now.
func (m *model) bundle() *Bundle {
	s := m.spec.bundle(m.t)
	s.Drift, s.Adopt, s.Recreate = m.drift, m.adopt, m.recreate
	if m.world != nil {
		s.ClusterUID, s.Installed = m.world.clusterUID, m.world.installed
	}
	return s
}

// options returns the options of each call.
func (m *model) options() []CallOption {
	out := []CallOption{WithCheckpoint(m.spec.checkpoint(m.t)), WithRetryToken(strconv.Itoa(m.retry))}
	if m.force {
		out = append(out, ForceRemoval())
	}
	if m.rolling {
		out = append(out, AsRollback())
	}
	return out
}

// wanted returns the desired objects, except for the custom resource.
func (m *model) wanted() map[cluster.ObjectRef]modelObject {
	s := m.spec.bundle(m.t)
	inv, err := m.inventory()
	if err != nil {
		m.t.Fatal(err)
	}
	return m.spec.wanted(m.t, m.b.ID(s), &modelView{inv: inv, minor: m.minor(), at: m.fieldOf})
}

// fieldOf returns a field of an object in the cluster; empty if there is none.
func (m *model) fieldOf(k cluster.ObjectRef, path ...string) string {
	o := m.b.s.objects[k]
	if o == nil {
		return ""
	}
	out, _, _ := unstructured.NestedString(o.content, path...)
	return out
}

// restart restarts the engine, which loses all that it remembers.
func (m *model) restart() {
	m.b.restart()
	m.b.concurrency = 1 // So that the same operations send the same requests.
	m.b.now = func() time.Time { return m.clock }
	if m.world != nil {
		m.world.connect(m.b.c)
	}
}

// inventory returns the stored inventory; nil if there is none.
func (m *model) inventory() (*inventory.Inventory, error) {
	o := m.b.s.objects[key("Secret", DefaultNamespace, "team-a-web")]
	if o == nil {
		return nil, nil //nolint:nilnil // As documented.
	}
	text, _, _ := unstructured.NestedString(o.content, "data", inventory.Key)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	inv, err := inventory.Unmarshal(data)
	if err != nil {
		return nil, err
	}
	good, _, _ := unstructured.NestedString(o.content, "data", inventory.CheckpointKey)
	inv.Checkpoint, err = base64.StdEncoding.DecodeString(good)
	return inv, err
}

// engine performs one step, like a controller. Errors are allowed.
func (m *model) engine() error {
	s := m.bundle()
	m.clock = m.clock.Add(time.Second)
	m.unwant()
	m.world.begin(m)
	if m.removing {
		m.unsure, m.undone = true, true
		clear(m.uids)
		r, err := m.b.Remove(m.t.Context(), m.b.c, s, m.options()...)
		m.sayf("  remove: %+v, %v", r, err)
		m.recordReported(r.Kept, r.KeptAdopted, r.LeftBehind, r.Rebuilt)
		return errors.Join(bugOf(err), m.invariants())
	}
	// If the watch notices a restore of the storage during the observation, the observation may have used what was known before.
	knows := m.world.knows(m)
	o, err := m.b.Observe(m.t.Context(), m.b.c, s, m.options()...)
	if err := m.world.observed(m, knows, o, err); err != nil {
		return err
	}
	if err == nil && o.Exists && o.UpToDate {
		m.sayf("  at rest: %s %s", o.State, o.Message)
		return m.invariants()
	}
	r, err := m.b.Apply(m.t.Context(), m.b.c, s, m.options()...)
	m.sayf("  apply: %+v, %v", r, err)
	m.recordReported(r.Kept, r.KeptAdopted, r.LeftBehind, r.Rebuilt)
	return errors.Join(bugOf(err), m.invariants())
}

// bugOf returns an error that was caused by a panic, which is a bug regardless of faults of the cluster, and nil for any other
// error.
func bugOf(err error) error {
	if panics.Is(err) {
		return err
	}
	return nil
}

// unwant updates the model before a step: what it may delete, and what it may adopt.
func (m *model) unwant() {
	wanted := m.wanted()
	for k := range m.uids {
		if wanted[k] == nil && !m.keeps(k) {
			delete(m.uids, k)
		}
	}
	if !m.removing {
		m.adopts()
	}
}

// adopts updates the model before a step that may adopt objects of other owners.
func (m *model) adopts() {
	if !m.adopt {
		return
	}
	for k := range m.wanted() {
		if m.foreignObjects[k] != "" {
			delete(m.foreignObjects, k)
			m.loose[k] = true
		}
	}
}

// keeps reports whether an object is never deleted.
func (m *model) keeps(k cluster.ObjectRef) bool {
	return k.Kind == "ConfigMap" && strings.HasPrefix(k.Name, "kept")
}

// fixed reports whether the server refuses all changes of an object.
func (m *model) fixed(k cluster.ObjectRef) bool {
	return k.Kind == "ConfigMap" && strings.HasPrefix(k.Name, "fixed")
}

// answer returns the answer of the server if it has a fault.
func (m *model) answer(verb string, k cluster.ObjectRef) *metav1.Status {
	if k == m.ambush && k.Name != "" {
		m.strike(verb, k)
	}
	if m.fault != nil {
		if st := m.fault(verb, k); st != nil {
			return st
		}
	}
	return nil
}

// strike replaces the object at a key with one of another owner, immediately before it is deleted or created.
func (m *model) strike(verb string, k cluster.ObjectRef) {
	o := m.b.s.objects[k]
	if (verb != "delete" || o == nil) && (verb != "patch" || o != nil) {
		return
	}
	m.ambush = cluster.ObjectRef{}
	delete(m.b.s.objects, k)
	m.b.s.store(k, m.foreign(k).Object)
	if m.foreignObjects[k] = m.versionOf(k); m.adopt {
		delete(m.foreignObjects, k)
		m.loose[k] = true
	}
	delete(m.uids, k)
	m.trace = append(m.trace, "  another client creates "+k.String()) // The server is locked, so its log of requests cannot be taken.
}

// foreign returns an object of another owner with a key.
func (m *model) foreign(k cluster.ObjectRef) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	for _, kind := range m.b.s.kinds() {
		if kind.GroupKind() == k.GroupKind() {
			u.SetGroupVersionKind(kind.GroupVersionKind)
		}
	}
	u.SetName(k.Name)
	u.SetNamespace(k.Namespace)
	return u
}

// addForeign creates an object of another owner.
func (m *model) addForeign(u *unstructured.Unstructured) cluster.ObjectRef {
	k := m.b.s.put(u.Object)
	m.foreignObjects[k] = m.versionOf(k)
	delete(m.uids, k)
	return k
}

// versionOf returns the UID and resource version of an object; empty if it does not exist.
func (m *model) versionOf(k cluster.ObjectRef) string {
	o := m.b.s.objects[k]
	if o == nil {
		return ""
	}
	return string(o.u().GetUID()) + "/" + o.u().GetResourceVersion()
}
