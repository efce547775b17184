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

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const patience = 3 * time.Minute

// A progress says what was seen last, and whether that is what was waited for.
type progress func(ctx context.Context) (done bool, seen string, err error)

// await polls until p is done. It prints what is seen each time that changes, so
// that a wait explains itself, and fails with it when patience ends.
func await(ctx context.Context, what string, p progress) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var last string
	for {
		done, seen, err := p(ctx)
		if err != nil {
			seen = err.Error()
		}
		if seen != last && ctx.Err() == nil {
			sayf("  %s: %s", what, seen)
			last = seen
		}
		if done && err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
				return cause
			}
			return errors.Errorf("%s: not within %s, last seen: %s", what, patience, last)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// awaitReady waits until each Manifest says Ready and Synced of its current
// generation.
func (e *environment) awaitReady(ctx context.Context, names ...string) error {
	for _, name := range names {
		err := await(ctx, "Manifest "+name, func(ctx context.Context) (bool, string, error) {
			m := &v1alpha1.Manifest{}
			if err := e.controlClient.Get(ctx, types.NamespacedName{Namespace: team, Name: name}, m); err != nil {
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
	if ready.Status != corev1.ConditionTrue {
		return false, fmt.Sprintf("%s %s", m.Status.AtProvider.State, ready.Message)
	}
	if c := m.Status.AtProvider.Resources; c != nil {
		return true, fmt.Sprintf("Ready, version %s, %d of %d objects", m.Status.AtProvider.Version, c.Ready, c.Total)
	}
	return true, "Ready"
}
