// SPDX-License-Identifier: Apache-2.0

package sharding

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/shard"
)

// setLabel sets the label of a config in the cache, and returns the config before and after.
func setLabel(t *testing.T, c client.Client, label string) (before, after *v1alpha1.ProviderConfig) {
	t.Helper()
	before = &v1alpha1.ProviderConfig{}
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: "team", Name: "c"}, before); err != nil {
		t.Fatal(err)
	}
	after = before.DeepCopy()
	after.Labels = labels(label)
	if err := c.Update(t.Context(), after); err != nil {
		t.Fatal(err)
	}
	return before, after
}

// TestWait checks when a replica begins to work on a Manifest after events of its config, whose name is in shard 2.
func TestWait(t *testing.T) {
	type args struct {
		held  []int
		label string
		play  func(t *testing.T, c client.Client, configs *controllertest.FakeInformer)
	}
	// An outcome is what a reconcile did immediately, and after the wait that it returned.
	type outcome struct {
		Ran, Dropped bool
		Wait         time.Duration
		RanLater     bool
	}
	none := func(*testing.T, client.Client, *controllertest.FakeInformer) {}
	label := func(value string) func(*testing.T, client.Client, *controllertest.FakeInformer) {
		return func(t *testing.T, c client.Client, configs *controllertest.FakeInformer) {
			t.Helper()
			time.Sleep(moveTime)
			before, after := setLabel(t, c, value)
			configs.Update(before, after)
		}
	}
	recreate := func(_ *testing.T, _ client.Client, configs *controllertest.FakeInformer) {
		time.Sleep(moveTime)
		configs.Delete(config("c", "1"))
		time.Sleep(time.Second)
		configs.Add(config("c", "1"))
	}
	all := []int{0, 1, 2, 3}
	cases := map[string]struct {
		reason string
		args   args
		want   outcome
	}{
		"FirstSeen": {
			reason: "Another replica may not have received the label that this one sees first.",
			args:   args{held: []int{1, 2}, label: "1", play: none}, want: outcome{Wait: moveTime, RanLater: true},
		},
		"FirstSeenInShardOfName": {
			reason: "The config may have had another label before.",
			args:   args{held: []int{1, 2}, label: "2", play: none}, want: outcome{Wait: moveTime, RanLater: true},
		},
		"SeenBefore": {
			reason: "The shard of a replica that ends is taken over without a wait.",
			args:   args{held: []int{1, 2}, label: "1", play: func(*testing.T, client.Client, *controllertest.FakeInformer) { time.Sleep(moveTime) }},
			want:   outcome{Ran: true},
		},
		"NoLabel": {
			reason: "A config without a label does not wait at the start.",
			args:   args{held: []int{1, 2}, play: none}, want: outcome{Ran: true},
		},
		"AllShards": {
			reason: "No other replica can work on the config.",
			args:   args{held: all, label: "1", play: none}, want: outcome{Ran: true},
		},
		"Changed": {
			reason: "The previous replica may not have received the change.",
			args:   args{held: []int{1, 2}, label: "3", play: label("1")}, want: outcome{Wait: moveTime, RanLater: true},
		},
		"Removed": {
			reason: "Without a label, the config belongs to the shard of its name.",
			args:   args{held: []int{1, 2}, label: "3", play: label("")}, want: outcome{Wait: moveTime, RanLater: true},
		},
		"Recreated": {
			reason: "A config that is recreated is another one, which no replica has seen.",
			args:   args{held: []int{1, 2}, label: "1", play: recreate}, want: outcome{Wait: moveTime, RanLater: true},
		},
		"ChangedAlone": {
			reason: "A replica that holds all shards does not wait.",
			args:   args{held: all, label: "3", play: label("1")}, want: outcome{Ran: true},
		},
		"MovedAway": {
			reason: "The previous replica forgets the Manifest immediately.",
			args:   args{held: []int{1, 2}, label: "1", play: label("3")}, want: outcome{Dropped: true},
		},
		"NotHandled": {
			reason: "A label in the cache whose event was not handled yet is not safe to use.",
			args: args{held: []int{1, 2}, label: "3", play: func(t *testing.T, c client.Client, _ *controllertest.FakeInformer) {
				t.Helper()
				time.Sleep(moveTime)
				setLabel(t, c, "1")
			}},
			want: outcome{Wait: eventTime},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				owner := shard.NewOwner()
				defer hold(t, owner, tc.args.held...)()
				c := reader(t, config("c", tc.args.label), manifest("m", "ProviderConfig", "c"))
				s, got := New(owner, c, count, logging.NewNopLogger()), outcome{}
				r := s.Limit(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
					got.RanLater = got.Wait > 0
					got.Ran = !got.RanLater
					return reconcile.Result{}, nil
				}), &v1alpha1.Manifest{}, func(types.NamespacedName) { got.Dropped = true })
				configs := watch(t, s)
				configs.Add(config("c", tc.args.label))
				tc.args.play(t, c, configs)
				req := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team", Name: "m"}}
				res, err := r.Reconcile(t.Context(), req)
				if got.Wait = res.RequeueAfter; got.Wait > 0 && err == nil {
					time.Sleep(got.Wait)
					_, err = r.Reconcile(t.Context(), req)
				}
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestMovesAreForgotten checks that nothing is kept about configs that are deleted.
func TestMovesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &moves{labels: map[configKey]string{}, until: map[configKey]time.Time{}}
		k := configKey{}
		m.set(k, "1")
		time.Sleep(moveTime / 2)
		m.set(k, "")
		time.Sleep(moveTime * 3 / 4)
		if wait := m.wait(k, ""); wait != moveTime/4 {
			t.Errorf("wait(...): want %s, got %s", moveTime/4, wait)
		}
		time.Sleep(moveTime)
		synctest.Wait()
		if len(m.labels) > 0 || len(m.until) > 0 {
			t.Errorf("want nothing, got %v and %v", m.labels, m.until)
		}
	})
}

// TestMoved checks that work that was running before the label of a config changed can no longer write.
func TestMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owner := shard.NewOwner()
		defer hold(t, owner, 1, 2)()
		c := reader(t, config("c", "1"), manifest("m", "ProviderConfig", "c"))
		s, ran := New(owner, c, count, logging.NewNopLogger()), false
		watch(t, s).Add(config("c", "1"))
		time.Sleep(moveTime)
		r := s.Limit(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
			ran = owner.Check(ctx) == nil
			setLabel(t, c, "2") //nolint:contextcheck // The context of the test is enough.
			if owner.Check(ctx) == nil {
				t.Error("want running work to be refused after the move")
			}
			return reconcile.Result{}, nil
		}), &v1alpha1.Manifest{}, nil)
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team", Name: "m"}}); err != nil || !ran {
			t.Errorf("want work before the move, got %t, %v", ran, err)
		}
	})
}

// TestOnMove checks which events of a config can move its objects to another replica.
func TestOnMove(t *testing.T) {
	cases := map[string]struct {
		reason string
		events func(i *controllertest.FakeInformer)
		want   int
	}{
		"NoLabel": {reason: "Without a label, nothing moves.", events: func(i *controllertest.FakeInformer) { i.Add(config("c", "")); i.Delete(config("c", "")) }},
		"Label":   {reason: "A label moves a config.", events: func(i *controllertest.FakeInformer) { i.Update(config("c", ""), config("c", "1")) }, want: 1},
		"Unchanged": {reason: "Other changes do not.", events: func(i *controllertest.FakeInformer) {
			i.Add(config("c", "1"))
			i.Update(config("c", "1"), config("c", "1"))
		}, want: 1},
		"Deleted": {
			reason: "Without the config, its objects belong to the shard of its name.",
			events: func(i *controllertest.FakeInformer) { i.Add(config("c", "1")); i.Delete(config("c", "1")) }, want: 2,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, got := New(shard.NewOwner(), reader(t), count, logging.NewNopLogger()), 0
			s.OnMove(func() { got++ })
			tc.events(watch(t, s))
			if got != tc.want {
				t.Errorf("%s: want %d moves, got %d", tc.reason, tc.want, got)
			}
		})
	}
	t.Run("DeletionMissed", func(t *testing.T) {
		s, got := New(shard.NewOwner(), reader(t), count, logging.NewNopLogger()), 0
		s.changed(config("c", "1"))
		s.OnMove(func() { got++ })
		s.deleted(toolscache.DeletedFinalStateUnknown{Obj: config("c", "1")})
		if got != 1 {
			t.Errorf("want a move, got %d", got)
		}
	})
}

// TestConfigChanged checks which changes of a config queue the objects that use it.
func TestConfigChanged(t *testing.T) {
	changed := config("c", "1")
	changed.Generation = 2
	cases := map[string]struct {
		reason string
		shards *Shards
		now    client.Object
		want   bool
	}{
		"Label":      {reason: "The objects belong to another shard.", shards: &Shards{}, now: config("c", "2"), want: true},
		"Generation": {reason: "The spec has changed.", shards: &Shards{}, now: changed, want: true},
		"Nothing":    {reason: "Other changes have no effect on them.", shards: &Shards{}, now: config("c", "1")},
		"NoShards":   {reason: "With one shard, the label has no effect.", now: config("c", "2")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := tc.shards.ConfigChanged().Update(event.UpdateEvent{ObjectOld: config("c", "1"), ObjectNew: tc.now})
			if got != tc.want {
				t.Errorf("%s: want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
