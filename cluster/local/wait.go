// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// still is how long an awaited object may stay unchanged.
const still = 3 * time.Minute

// await polls until look reports done. It prints each change of the observed state, so that users see the progress, and
// fails with the last state if nothing changes.
func await(ctx context.Context, what string, look process.Look) error {
	return process.Wait{What: what, Still: still, OnChange: func(seen string) { sayf("  %s: %s", what, seen) }}.Until(ctx, look)
}

// awaitReady waits until each Manifest is Synced, and Ready for its current generation.
func awaitReady(ctx context.Context, control client.Client, names ...string) error {
	for _, name := range names {
		err := await(ctx, "Manifest "+name, func(ctx context.Context) (bool, string, error) {
			m := &v1alpha1.Manifest{}
			if err := control.Get(ctx, types.NamespacedName{Namespace: team, Name: name}, m); err != nil {
				return false, "", errors.Wrapf(err, "cannot get Manifest %q", name)
			}
			ready, seen := describe(m)
			return ready, seen, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func describe(m *v1alpha1.Manifest) (bool, string) {
	ready, synced := m.Status.GetCondition(xpv2.TypeReady), m.Status.GetCondition(xpv2.TypeSynced)
	if synced.Status == corev1.ConditionFalse {
		return false, synced.Message
	}
	if ready.ObservedGeneration != m.Generation {
		return false, "the provider hasn't processed the latest change yet"
	}
	if ready.Status != corev1.ConditionTrue {
		return false, fmt.Sprintf("%s %s", m.Status.AtProvider.State, ready.Message)
	}
	if c := m.Status.AtProvider.Resources; c != nil {
		return true, fmt.Sprintf("Ready, version %s, %d of %d objects ready", m.Status.AtProvider.Version, c.Ready, c.Total)
	}
	return true, "Ready"
}
