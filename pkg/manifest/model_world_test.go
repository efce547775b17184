// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

var modelRequests = flag.Bool("model.requests", false, "show the requests of each step of TestModelWorld")

var modelWorkers = flag.Int("model.workers", runtime.GOMAXPROCS(0), "sequences of TestModelWorld that run at the same time")

// A modelWorld is the world between a model and its cluster: a watch that lags behind, proxies, other processes, other owners, and
// other clusters. Nil is a perfect world.
type modelWorld struct {
	// clusterUID is what a controller recorded of the cluster.
	clusterUID string
	// installed is what a controller recorded of the bundle: it was installed, and not removed since.
	installed bool
	// version and apis are what the cluster offers, weather is what is between it and the engine, and lags are the delays of the watch.
	version string
	apis    []string
	weather *fakeNetwork
	lags    map[string]int
	// backup is what the storage of the cluster can be restored to. restores counts the restores.
	backup   *modelBackup
	restores int
	// second is another process of the provider, with its own memory, and rival an owner of a bundle with the same name.
	second, rival *bench
	// neighbor installs another bundle.
	neighbor *modelNeighbor
	// former is the desired state of some time ago.
	former modelSpec
	// settled is what the last check found.
	settled [len(modelNames)]modelSettled
	// left are the objects that a call reported as left in the cluster, and stripped those that lost a label by which the engine
	// knows them.
	left     map[cluster.ObjectRef]bool
	stripped map[types.UID]bool
	// unidentified are the objects that a call reported as left because the inventory did not contain their UIDs.
	unidentified map[cluster.ObjectRef]bool
	// untracked are the objects that were unknown when there was no inventory: copies of other clients, and objects without the label
	// by which an inventory is rebuilt.
	untracked map[types.UID]bool
	// unlisted are the objects of kinds that could not be listed when an inventory was rebuilt, which the call reported.
	unlisted map[types.UID]bool
	// unsearched means that another owner took the name of the bundle over while its inventory was lost. Only an owner that installed the
	// bundle searches for its objects, so the inventory of the other owner does not list those that its own bundle does not contain.
	unsearched bool
	// lost are the namespaces whose release records were lost since the last help.
	lost map[string]bool
}

// newWorld returns a model in a world that becomes imperfect.
func newWorld(t testing.TB) *model {
	t.Helper()
	m := newModel(t)
	m.b.s.cluster, m.b.s.step = "cluster-a", 64
	m.world = &modelWorld{
		version: "v1.36.3", apis: []string{"v1", "apps/v1"}, lags: map[string]int{}, left: map[cluster.ObjectRef]bool{}, former: m.spec,
		unidentified: map[cluster.ObjectRef]bool{},
		stripped:     map[types.UID]bool{}, untracked: map[types.UID]bool{}, unlisted: map[types.UID]bool{}, lost: map[string]bool{},
	}
	m.restart()
	return m
}

// connect puts the world between an engine and its cluster.
func (w *modelWorld) connect(c *fakeCluster) {
	c.version, c.known, c.apis, c.weather = w.version, w.version, w.apis, w.weather
	c.watch = newFakeWatch(c.server)
	for kind, requests := range w.lags {
		c.watch.lag(kind, requests)
	}
}

// heal makes the world perfect.
func (w *modelWorld) heal(m *model) {
	if w == nil {
		return
	}
	w.weather = nil
	clear(w.lags)
	c := m.b.c
	c.server, c.weather, c.before = m.b.s, nil, nil
	c.version, c.known, c.apis = w.version, w.version, w.apis
	if c.watch.server != c.server {
		c.watch = newFakeWatch(c.server)
	}
	c.watch.catchUp()
}

// worldOps are what can happen in an imperfect world, in addition to what can happen in a perfect one.
func worldOps() []modelOp {
	return slices.Concat(modelOps(), chartOps(), watchOps(), connectionOps(), otherProcessOps(), otherOwnerOps())
}

func runWorld(t testing.TB, data []byte) (trace []string, err error) {
	t.Helper()
	return newWorld(t).run(worldOps(), data)
}

// worldBytes returns the sequence of a seed.
func worldBytes(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 16))
	out := make([]byte, 3*(5+r.IntN(60)))
	for i := range out {
		out[i] = byte(r.UintN(256))
	}
	return out
}

// worldSeeds is the number of sequences in a unit test. After worldFailures that failed, no more begin.
const (
	worldSeeds    = 150
	worldFailures = 20
)

// TestModelWorld is TestModel in an imperfect world. Once the world is perfect again, the cluster has what the model specifies.
func TestModelWorld(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	count := uint64(worldSeeds)
	if raceDetector {
		count /= 10
	}
	if *modelSeeds > 0 {
		count = uint64(*modelSeeds)
	}
	var next, done, failed atomic.Uint64
	next.Store(*modelSeed)
	play := func() {
		for failed.Load() < worldFailures {
			seed := next.Add(1) - 1
			if seed >= *modelSeed+count && time.Since(begin) >= *modelFor {
				return
			}
			trace, err := runWorld(t, worldBytes(seed))
			if err != nil {
				failed.Add(1)
				t.Error(storyOf(t, seed))
			}
			if *modelSeeds == 1 {
				t.Log(strings.Join(trace, "\n"))
			}
			done.Add(1)
		}
	}
	var workers sync.WaitGroup
	for range *modelWorkers {
		workers.Go(play)
	}
	workers.Wait()
	t.Logf("%d sequences from seed %d on, in %s", done.Load(), *modelSeed, time.Since(begin).Round(time.Second))
}

// storyOf returns how a sequence fails, after it was shortened as far as possible.
func storyOf(t *testing.T, seed uint64) string {
	t.Helper()
	data := shrunk(t, worldBytes(seed), runWorld)
	trace, err := runWorld(t, data)
	return fmt.Sprintf("seed %d, shrunk to %#v:\n%s\n%v\n\nall of it: go test ./pkg/manifest -run TestModelWorld -model.seed=%d -model.seeds=1",
		seed, data, strings.Join(trace, "\n"), modelNothing.ReplaceAllString(fmt.Sprint(err), "$2"), seed)
}

// recordReported notes what a call reported as left in the cluster.
func (m *model) recordReported(kept, adopted []cluster.ObjectRef, behind []LeftBehind, rebuilt *Rebuilt) {
	for _, k := range kept {
		// A namespace stays if it contains an object of another owner that the call knows.
		isIn := func(o cluster.ObjectRef) bool { return o.Namespace == k.Name }
		if k.Kind == "Namespace" && (slices.ContainsFunc(slices.Collect(maps.Keys(m.foreignObjects)), isIn) ||
			slices.ContainsFunc(behind, func(l LeftBehind) bool { return isIn(l.Object) })) {
			m.loose[k] = true
		}
	}
	for _, k := range adopted {
		m.loose[k] = true
	}
	if m.world == nil {
		return
	}
	for _, k := range slices.Concat(kept, adopted) {
		m.world.left[k] = true
	}
	for _, l := range behind {
		m.world.left[l.Object] = true
		if strings.HasSuffix(l.Reason, "its UID is unknown") {
			m.world.unidentified[l.Object] = true
		}
	}
	if rebuilt == nil {
		return
	}
	for k, o := range m.b.s.objects {
		if slices.Contains(rebuilt.Unsearched, k.GroupKind().String()) {
			m.world.unlisted[o.u().GetUID()] = true
		}
	}
}

// minor returns the minor version that the cluster has.
func (m *model) minor() string {
	if m.world == nil {
		return "36"
	}
	return strings.Split(m.world.version, ".")[1]
}

// versions returns the UIDs and versions of all objects of a server.
func versions(s *fakeServer) map[cluster.ObjectRef]string {
	out := make(map[cluster.ObjectRef]string, len(s.objects))
	for k, o := range s.objects {
		out[k] = string(o.u().GetUID()) + "/" + o.u().GetResourceVersion()
	}
	return out
}

// changedIn returns the objects whose versions differ, sorted by name.
func changedIn(before, after map[cluster.ObjectRef]string) (out []string) {
	all := maps.Clone(before)
	maps.Copy(all, after)
	for k := range all {
		if before[k] != after[k] {
			out = append(out, k.String())
		}
	}
	slices.Sort(out)
	return out
}
