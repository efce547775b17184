// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A fakeWatch is a watch of all kinds of a fakeServer. It can lag behind, and list again. It treats own writes, events and lists as
// internal/target/informer does: of an own write and an event the newest version wins, the events of an object that a request deleted
// are ignored, an own write that is older than a list or event that no longer had the object is ignored, and a list replaces everything.
type fakeWatch struct {
	server *fakeServer

	mu sync.Mutex
	// version is the version of the server up to which events were collected, and versions those of the objects at that time.
	version  int
	versions map[cluster.ObjectRef]string
	kinds    map[string]*fakeInformer
	// delays are the numbers of requests after which events arrive, by kind. requests counts the requests.
	delays   map[string]int
	requests int
	// relistAt is the number of requests after which everything is listed again, or 0.
	relistAt int
}

// A fakeInformer has the objects of one kind.
type fakeInformer struct {
	known map[cluster.ObjectRef]cluster.ObjectState
	// gone are the UIDs of objects that a request deleted and whose events have not arrived.
	gone map[cluster.ObjectRef]string
	// shown are the objects that the events so far show, whether or not they have arrived.
	shown  map[cluster.ObjectRef]bool
	events []fakeEvent
	// newest is the newest version of a list or an event.
	newest int
}

// A fakeEvent is a change of an object. A nil state means that the watch no longer shows it.
type fakeEvent struct {
	ref     cluster.ObjectRef
	state   *cluster.ObjectState
	version int
	// due is the number of requests after which it arrives.
	due int
}

func newFakeWatch(s *fakeServer) *fakeWatch {
	w := &fakeWatch{server: s, versions: map[cluster.ObjectRef]string{}, kinds: map[string]*fakeInformer{}, delays: map[string]int{}}
	w.relist("")
	return w
}

func (w *fakeWatch) informer(kind string) *fakeInformer {
	if w.kinds[kind] == nil {
		w.kinds[kind] = &fakeInformer{known: map[cluster.ObjectRef]cluster.ObjectState{}, gone: map[cluster.ObjectRef]string{}, shown: map[cluster.ObjectRef]bool{}}
	}
	return w.kinds[kind]
}

// lag delays the events of a kind by a number of requests. An empty kind stands for all.
func (w *fakeWatch) lag(kind string, requests int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.collect()
	w.delays[kind] = requests
}

// isCurrent reports whether all events have arrived.
func (w *fakeWatch) isCurrent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.collect()
	for _, i := range w.kinds {
		if len(i.events) > 0 {
			return false
		}
	}
	return len(w.delays) == 0 && w.relistAt == 0
}

// catchUp ends all delays.
func (w *fakeWatch) catchUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.collect()
	clear(w.delays)
	for _, i := range w.kinds {
		i.deliver(-1)
	}
	if w.relistAt > 0 {
		w.list("")
	}
}

// relist lists a kind again, or all kinds.
func (w *fakeWatch) relist(kind string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list(kind)
}

func (w *fakeWatch) list(kind string) {
	w.collect()
	if kind == "" {
		w.relistAt = 0
	}
	for name, i := range w.kinds {
		if kind != "" && name != kind {
			continue
		}
		clear(i.known)
		clear(i.gone)
		clear(i.shown)
		i.events, i.newest = nil, w.version
	}
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	for k, o := range w.server.objects {
		if i := w.informer(k.Kind); (kind == "" || k.Kind == kind) && isShown(o) {
			i.known[k], i.shown[k] = stateOf(o), true
		}
	}
}

func isShown(o *fakeObject) bool {
	return o.u().GetLabels()[object.LabelManagedBy] == object.DefaultManagedBy
}

func stateOf(o *fakeObject) cluster.ObjectState {
	u := o.u().DeepCopy()
	u.Object = o.full()
	return health.StateOf(DefaultFieldManager, u)
}

// requested counts a request.
func (w *fakeWatch) requested() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.collect()
	w.requests++
	for _, i := range w.kinds {
		i.deliver(w.requests)
	}
	if w.relistAt > 0 && w.requests >= w.relistAt {
		w.list("")
	}
}

// relistAfter lists everything again after a number of requests. Until then, the watch shows what it knows.
func (w *fakeWatch) relistAfter(requests int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.relistAt = w.requests + requests
}

// collect makes events of what changed on the server.
func (w *fakeWatch) collect() {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	if w.version == w.server.rv {
		return
	}
	w.version = w.server.rv
	var events []fakeEvent
	for k, o := range w.server.objects {
		v := string(o.u().GetUID()) + "/" + o.u().GetResourceVersion()
		if w.versions[k] == v {
			continue
		}
		w.versions[k] = v
		version, _ := strconv.Atoi(o.u().GetResourceVersion())
		e := fakeEvent{ref: k, version: version}
		if isShown(o) {
			s := stateOf(o)
			e.state = &s
		}
		events = append(events, e)
	}
	for k := range w.versions {
		if w.server.objects[k] == nil {
			delete(w.versions, k)
			events = append(events, fakeEvent{ref: k, version: w.version})
		}
	}
	slices.SortFunc(events, func(a, b fakeEvent) int {
		return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(a.ref.String(), b.ref.String()))
	})
	for _, e := range events {
		i := w.informer(e.ref.Kind)
		if e.state == nil && !i.shown[e.ref] {
			continue
		}
		i.shown[e.ref] = e.state != nil
		e.due = w.requests + max(w.delays[e.ref.Kind], w.delays[""])
		i.events = append(i.events, e)
		i.deliver(w.requests)
	}
}

// deliver delivers the events that are due, in order. If requests is negative, it delivers all.
func (i *fakeInformer) deliver(requests int) {
	for len(i.events) > 0 && (requests < 0 || i.events[0].due <= requests) {
		i.receive(i.events[0])
		i.events = i.events[1:]
	}
}

func (i *fakeInformer) receive(e fakeEvent) {
	i.newest = max(i.newest, e.version)
	if have, ok := i.known[e.ref]; ok && e.version < versionIn(have) {
		return
	}
	uid, dead := i.gone[e.ref]
	switch {
	case e.state == nil:
		delete(i.gone, e.ref)
		delete(i.known, e.ref)
	case dead && uid == e.state.UID:
	default:
		delete(i.gone, e.ref)
		i.known[e.ref] = *e.state
	}
}

func versionIn(s cluster.ObjectState) int {
	v, _ := strconv.Atoi(s.ResourceVersion)
	return v
}

func (w *fakeWatch) get(k cluster.ObjectRef) (cluster.ObjectState, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.collect()
	s, ok := w.informer(k.Kind).known[k]
	return s, ok
}

func (w *fakeWatch) put(k cluster.ObjectRef, s cluster.ObjectState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.collect()
	i := w.informer(k.Kind)
	have, ok := i.known[k]
	_, forgotten := i.gone[k]
	if ok && versionIn(s) < versionIn(have) || !ok && !forgotten && versionIn(s) < i.newest {
		return
	}
	delete(i.gone, k)
	i.known[k] = s
}

func (w *fakeWatch) forget(k cluster.ObjectRef) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.collect()
	i := w.informer(k.Kind)
	if have, ok := i.known[k]; ok {
		i.gone[k] = have.UID
		delete(i.known, k)
	}
}
