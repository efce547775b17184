// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// gate admits the objects that are not closed, and records its calls.
type gate struct {
	closed map[string]bool
	calls  []string
}

func (g *gate) Admit(nn types.NamespacedName) bool {
	g.calls = append(g.calls, "Admit "+nn.Name)
	return !g.closed[nn.Name]
}

func (g *gate) Done(nn types.NamespacedName) { g.calls = append(g.calls, "Done "+nn.Name) }

// TestGate checks that an item which the gate does not admit is not returned, that the queue is done with it, and that it waits with its
// priority until the gate admits it.
func TestGate(t *testing.T) {
	g, running := &gate{closed: map[string]bool{"closed": true}}, &Running{}
	var observed []string
	q := NewQueue(func(_, priority string, waited time.Duration) {
		observed = append(observed, priority+" "+waited.String())
	}, running, g)("g", atOnce{})
	defer q.ShutDown()
	f, _ := q.(*fair)
	at := func(seconds int64) { f.now = func() time.Time { return time.Unix(seconds, 0) } }
	get := func(want string, priority int) {
		t.Helper()
		item, got, shutdown := f.GetWithPriority()
		if item.Name != want || got != priority || shutdown {
			t.Errorf("GetWithPriority(): want %s with priority %d, got %s, %d, %t", want, priority, item.Name, got, shutdown)
		}
		if got := running.Of(item.NamespacedName); got != priority || len(running.of) != 1 {
			t.Errorf("Of(%s): want %d, got %d, and %d priorities", want, priority, got, len(running.of))
		}
		q.Done(item)
	}
	at(0)
	With(Install, q).Add(request("closed"))
	With(Rollout, q).Add(request("open"))
	at(1)
	get("open", Rollout)
	g.closed = nil
	at(10)
	With(Rollout, q).Add(request("closed"))
	at(60)
	get("closed", Install)
	if diff := cmp.Diff([]string{"Rollout 1s", "Install 1m0s"}, observed); diff != "" {
		t.Errorf("observed waits: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Admit closed", "Admit open", "Done open", "Admit closed", "Done closed"}, g.calls); diff != "" {
		t.Errorf("calls: -want, +got:\n%s", diff)
	}
	if q.Len()+len(running.of)+len(f.held) > 0 {
		t.Errorf("%d items, %d priorities and %d waits are left", q.Len(), len(running.of), len(f.held))
	}
}
