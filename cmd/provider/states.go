// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
)

// states is a runnable of the manager that updates the metrics of the states of one kind. Unlike the state recorder of
// crossplane-runtime, it doesn't end the manager if it fails to list the kind.
type states struct {
	record   func(ctx context.Context) error
	interval time.Duration
	log      logging.Logger
}

// newStates returns a runnable that updates the metrics of the kind of a list.
func newStates(c client.Client, list resource.ManagedList, o controller.Options) *states {
	r := statemetrics.NewMRStateRecorder(c, o.Logger, o.MetricOptions.MRStateMetrics, list, o.MetricOptions.PollStateMetricInterval)
	return &states{record: r.Record, interval: o.MetricOptions.PollStateMetricInterval, log: o.Logger}
}

// Start updates the metrics at each interval, until the context is done.
func (s *states) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := s.record(ctx); err != nil && ctx.Err() == nil {
			s.log.Debug("Cannot update the state metrics, retrying", "error", err)
		}
	}, s.interval)
	return nil
}
