// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/redact"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// hunter is a value of a Secret.
const hunter = "hunter2-is-a-secret"

func tracker(f func() error) resource.ModernTrackerFn {
	return func(context.Context, resource.ModernManaged) error { return f() }
}

func key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// externalOf returns an external client for an engine and a bundle, as Connect does, with values that must not appear in texts.
func externalOf(e Engine, b *engine.Bundle, record event.Recorder, secrets ...any) *external {
	report := &reporter{recorder: record, redactor: redact.New(secrets...)}
	return &external{
		engine: e, subject: checkpoint.Subject{ObjectKey: key("n", "m")}, memory: &checkpoint.Memory{}, report: report, choice: choice{bundle: b, report: report}, again: func() {},
		decider: &decider{
			bundle: b, report: report, now: time.Now,
			desired: func() (*checkpoint.Snapshot, error) { return checkpoint.New(named("n", "m"), b, secrets) },
			restore: func(_ context.Context, mr *v1alpha1.Manifest) (*engine.Bundle, error) {
				return (&content{}).bundleOf(mr)
			},
		},
	}
}

// A countingEngine counts calls.
type countingEngine struct {
	Engine

	observed, applied, planned int
}

// Observe counts and forwards the call.
func (c *countingEngine) Observe(ctx context.Context, cl cluster.Cluster, b *engine.Bundle, o ...engine.CallOption) (engine.Observation, error) {
	c.observed++
	return c.Engine.Observe(ctx, cl, b, o...)
}

// Apply counts and forwards the call.
func (c *countingEngine) Apply(ctx context.Context, cl cluster.Cluster, b *engine.Bundle, o ...engine.CallOption) (engine.Result, error) {
	c.applied++
	return c.Engine.Apply(ctx, cl, b, o...)
}

// Plan counts and forwards the call.
func (c *countingEngine) Plan(ctx context.Context, cl cluster.Cluster, b *engine.Bundle, o ...engine.CallOption) (engine.Plan, error) {
	c.planned++
	return c.Engine.Plan(ctx, cl, b, o...)
}
