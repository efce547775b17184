// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

var watchedKinds = []string{"", "ConfigMap", "Secret", "Job", "Deployment", "Namespace", "ServiceAccount", "ClusterRole", "Widget", "CustomResourceDefinition"}

// chartOps are changes of charts that render differently each time, or differently for each cluster, and of what the cluster offers.
func chartOps() []modelOp {
	slot := func(name string, do func(s *modelSlot)) modelOp {
		return modelOp{name, func(m *model, a, _ int) error {
			m.rolling = false
			do(&m.spec.Slots[a%len(m.spec.Slots)])
			return nil
		}}
	}
	return []modelOp{
		slot("random", func(s *modelSlot) { s.Random, s.Plain = !s.Random, false }),
		slot("asks", func(s *modelSlot) { s.Asks, s.Plain = !s.Asks, false }),
		{"another version", func(m *model, a, b int) error {
			m.world.version = []string{"v1.36.3", "v1.36.4", "v1.37.0"}[a%3]
			m.b.c.version, m.b.c.known = m.world.version, ""
			if b%2 == 0 {
				m.b.c.known = m.world.version
			}
			return nil
		}},
		{"other kinds", func(m *model, a, _ int) error {
			m.world.apis = []string{"v1", "apps/v1"}
			if a%2 == 0 {
				m.world.apis = append(m.world.apis, modelAPI)
			}
			m.b.c.apis = m.world.apis
			return nil
		}},
	}
}

// watchOps are what can happen to a watch, and to the storage of a cluster.
func watchOps() []modelOp {
	lag := func(m *model, a, b int) error {
		kind, requests := watchedKinds[a%len(watchedKinds)], []int{1, 3, 10, 1000}[b%4]
		m.sayf("  %q by %d requests", kind, requests)
		m.world.lags[kind] = requests
		m.b.c.watch.lag(kind, requests)
		return nil
	}
	return []modelOp{
		{"lag", lag},
		{"lag too", lag},
		{"catch up", func(m *model, _, _ int) error {
			clear(m.world.lags)
			m.b.c.watch.catchUp()
			return nil
		}},
		{"list again", func(m *model, a, _ int) error { m.b.c.watch.relist(watchedKinds[a%len(watchedKinds)]); return nil }},
		{"back up", (*model).backUp},
		{"restore", (*model).restore},
	}
}

// connectionOps are faults of proxies and connections, and acts of other clients at any request.
func connectionOps() []modelOp {
	meanwhile := func(m *model, a, b int) error {
		all := slices.Concat(harmOps(), otherOps(), watchOps()[:4])
		op := all[b%len(all)]
		// A resource that appears between the last check and the deletion of its CRD is lost: the API has no condition for this.
		deletesCRD := func(r *http.Request) bool {
			return r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/customresourcedefinitions/")
		}
		is := func(r *http.Request) bool { return op.name != "resource of others" || !deletesCRD(r) }
		return m.meanwhileAt(1+a%24, is, func() error {
			m.sayf("  meanwhile %s", op.name)
			err := op.do(m, b/len(all), a)
			m.forget()
			m.world.loseTrack(m)
			m.unwant()
			return err
		})
	}
	weather := func(m *model, a, b int) error {
		m.world.weather = &fakeNetwork{random: rand.New(rand.NewPCG(uint64(a), uint64(b))), chance: 1 + a%7, left: 1 + b%9}
		m.b.c.weather = m.world.weather
		return nil
	}
	return []modelOp{
		{"meanwhile", meanwhile}, {"meanwhile too", meanwhile}, {"meanwhile as well", meanwhile},
		{"weather", weather}, {"weather too", weather},
		{"calm", func(m *model, _, _ int) error {
			m.world.weather, m.b.c.weather = nil, nil
			return nil
		}},
		{"strip", (*model).strip},
		{"strip or delete inventory", func(m *model, a, _ int) error {
			k := key("Secret", DefaultNamespace, "team-a-web")
			if m.b.s.objects[k] == nil {
				return nil
			}
			if a%2 == 0 {
				if !m.world.installed {
					return nil // An inventory that is missing before a controller saw it isn't searched for.
				}
				m.b.s.remove(k)
				m.world.loseTrack(m)
				m.upset()
				return nil
			}
			m.b.s.edit(k, func(u *unstructured.Unstructured) {
				l := u.GetLabels()
				delete(l, object.LabelManagedBy)
				u.SetLabels(l)
			})
			return nil
		}},
	}
}

// strip removes one of the labels of an object, or its annotations.
func (m *model) strip(a, b int) error {
	k, ok := m.pick(a)
	if !ok {
		return nil
	}
	if owner := m.b.s.objects[k].u().GetLabels()[object.LabelPartOf]; owner != "" && owner != m.b.ID(m.bundle()) {
		return nil // It could not be adopted. Without its labels, the model could not tell it from an object of the bundle.
	}
	m.sayf("  %s", k)
	m.loose[k] = true
	if b%3 < 2 {
		m.world.strip(m.b.s.objects[k])
	}
	m.b.s.edit(k, func(u *unstructured.Unstructured) {
		l := u.GetLabels()
		switch b % 3 {
		case 0:
			delete(l, object.LabelManagedBy)
		case 1:
			delete(l, object.LabelPartOf)
		default:
			u.SetAnnotations(nil)
		}
		u.SetLabels(l)
	})
	m.world.loseTrack(m)
	return nil
}

// meanwhile does steps until something was done before the n-th request of one of them. Mostly, they have something to do.
func (m *model) meanwhile(n int, do func() error) error {
	return m.meanwhileAt(n, func(*http.Request) bool { return true }, do)
}

// meanwhileAt is like meanwhile, but waits for a request that satisfies a condition, from the n-th on.
func (m *model) meanwhileAt(n int, is func(*http.Request) bool, do func() error) error {
	var failed error
	if s := &m.spec.Slots[n%len(m.spec.Slots)]; n%4 > 0 {
		s.Value, m.rolling = s.Value+1, false
	}
	var mu sync.Mutex
	left := n
	c := m.b.c
	c.before = func(r *http.Request) {
		mu.Lock()
		now := left == 1 && is(r)
		if left != 1 || now {
			left--
		}
		mu.Unlock()
		if now {
			failed = do()
		}
	}
	defer func() { c.before = nil }()
	for i := 0; i < 4 && left > 0; i++ {
		if err := m.engine(); err != nil {
			return err
		}
	}
	return failed
}

// A modelBackup is the storage of a cluster at some point in time, with what the model knew then.
type modelBackup struct {
	objects        map[cluster.ObjectRef]*fakeObject
	version        int
	foreignObjects map[cluster.ObjectRef]string
	loose, copied  map[cluster.ObjectRef]bool
	sizes          map[types.UID]int64
}

func copyObjects(in map[cluster.ObjectRef]*fakeObject) map[cluster.ObjectRef]*fakeObject {
	out := make(map[cluster.ObjectRef]*fakeObject, len(in))
	for k, o := range in {
		out[k] = &fakeObject{content: o.u().DeepCopy().Object, owners: maps.Clone(o.owners)}
	}
	return out
}

func (m *model) backUp(_, _ int) error {
	m.world.backup = &modelBackup{
		objects: copyObjects(m.b.s.objects), version: m.b.s.rv, foreignObjects: maps.Clone(m.foreignObjects), loose: maps.Clone(m.loose),
		copied: maps.Clone(m.copied), sizes: maps.Clone(m.sizes),
	}
	return nil
}

// restore restores the cluster from its backup. The watch notices that after some requests.
func (m *model) restore(a, _ int) error {
	b := m.world.backup
	if b == nil {
		return nil
	}
	m.world.restores++
	m.b.s.objects, m.foreignObjects = copyObjects(b.objects), maps.Clone(b.foreignObjects)
	m.sizes = maps.Clone(b.sizes)
	maps.Copy(m.loose, b.loose)
	maps.Copy(m.copied, b.copied)
	m.b.s.rv = b.version + m.world.restores%64
	clear(m.b.s.runs)
	m.ambush = cluster.ObjectRef{}
	for _, ns := range []string{"apps", "other"} {
		m.recordless[ns] = true
		m.world.lose(ns)
	}
	m.upset()
	m.b.c.watch.relistAfter([]int{0, 1, 4}[a%3])
	if a%3 == 0 {
		m.b.c.watch.relist("")
	}
	return nil
}

// isOwn reports whether an object has the label of a bundle.
func isOwn(o *fakeObject, id string) bool {
	return o != nil && o.u().GetLabels()[object.LabelPartOf] == id
}
