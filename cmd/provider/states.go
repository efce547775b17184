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

// states are a part of the manager that takes metrics of the states of one kind. That of crossplane-runtime ends, and with it
// the manager, when it cannot list the kind once.
type states struct {
	record   func(ctx context.Context) error
	interval time.Duration
	log      logging.Logger
}

func newStates(c client.Client, list resource.ManagedList, o controller.Options) *states {
	r := statemetrics.NewMRStateRecorder(c, o.Logger, o.MetricOptions.MRStateMetrics, list, o.MetricOptions.PollStateMetricInterval)
	return &states{record: r.Record, interval: o.MetricOptions.PollStateMetricInterval, log: o.Logger}
}

// Start takes the metrics at each interval, until the context is done.
func (s *states) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := s.record(ctx); err != nil && ctx.Err() == nil {
			s.log.Debug("Cannot take the metrics of states, trying again", "error", err)
		}
	}, s.interval)
	return nil
}
