// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/bench/objects"
)

// turnTimeout is the timeout for one change of a condition.
const turnTimeout = time.Minute

// A turn is a change of the condition Ready of an object.
type turn struct {
	kind, name string
	ready      bool
}

// turns records when each turn was first observed since the last call of forget for it.
type turns struct {
	mu   sync.Mutex
	seen map[turn]time.Time
}

func (t *turns) note(o runtime.Object) {
	now := time.Now()
	var what turn
	switch o := o.(type) {
	case *v1alpha1.Manifest:
		what = turn{kind: "Manifest", name: o.Labels[v1alpha1.LabelModuleName], ready: isReady(o)}
	case *v1alpha1.Kyma:
		what = turn{kind: "Kyma", name: o.Name, ready: isReady(o)}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen[what].IsZero() {
		t.seen[what] = now
	}
}

func isReady(o interface {
	GetCondition(ct xpv2.ConditionType) xpv2.Condition
}) bool {
	return o.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
}

func (t *turns) forget(what ...turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range what {
		delete(t.seen, w)
	}
}

// between returns the time from one turn to another, and whether both were observed. The time is never negative, although
// the turns come from different watches.
func (t *turns) between(from, to turn) (time.Duration, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a, b := t.seen[from], t.seen[to]
	return max(b.Sub(a), 0), !a.IsZero() && !b.IsZero()
}

// measureLags breaks and fixes each module, and returns the delays from the change of its Manifest to that of its Kyma.
func measureLags(ctx context.Context, e *environment, kymas int) ([]time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &turns{seen: map[turn]time.Time{}}
	// The watches end with the group, after the last module.
	g, ctx := errgroup.WithContext(ctx)
	for _, list := range []client.ObjectList{&v1alpha1.ManifestList{}, &v1alpha1.KymaList{}} {
		w, err := e.controlClient.Watch(ctx, list, client.InNamespace(kymaNamespace))
		if err != nil {
			return nil, errors.Wrap(err, "cannot watch")
		}
		defer w.Stop()
		g.Go(func() error { return t.follow(ctx, w) })
	}
	lags := make([][]time.Duration, kymas)
	g.Go(func() error {
		defer cancel()
		return objects.Parallel(ctx, kymas, func(ctx context.Context, i int) error {
			for j := range kymaModules {
				for _, ready := range []bool{false, true} {
					lag, err := t.measure(ctx, e.targetClient, i, moduleName(i, j), ready)
					if err != nil {
						return err
					}
					lags[i] = append(lags[i], lag)
				}
			}
			return nil
		})
	})
	err := g.Wait()
	return slices.Concat(lags...), err
}

// follow records the turns of a watch until ctx is done.
func (t *turns) follow(ctx context.Context, w watch.Interface) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, ok := <-w.ResultChan():
			switch {
			case ctx.Err() != nil:
				return nil //nolint:nilerr // The end of the watch was asked for.
			case !ok || event.Type == watch.Error:
				return errors.New("a watch of the control plane has ended")
			case event.Type != watch.Bookmark:
				t.note(event.Object)
			}
		}
	}
}

// measure breaks or fixes a module, waits until its Manifest and its Kyma report it, and returns the delay between them.
func (t *turns) measure(ctx context.Context, target client.Client, kyma int, module string, ready bool) (time.Duration, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, turnTimeout,
		errors.Errorf("module %q was set to ready=%t, and Manifest and Kyma do not both say so within %s", module, ready, turnTimeout))
	defer cancel()
	from, to := turn{kind: "Manifest", name: module, ready: ready}, turn{kind: "Kyma", name: name(kyma), ready: ready}
	t.forget(from, to)
	probe := &unstructured.Unstructured{}
	probe.SetGroupVersionKind(schema.GroupVersionKind{Group: "bench.example.org", Version: "v1", Kind: "Probe"})
	probe.SetNamespace("default")
	probe.SetName(module)
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q,"message":"set by the benchmark"}]}}`, status)
	if err := target.Status().Patch(ctx, probe, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		return 0, errors.Wrapf(err, "cannot set the status of Probe %q", module)
	}
	for {
		if lag, ok := t.between(from, to); ok {
			return lag, nil
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
