// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/lane"
)

// A connector returns an external client for each reconcile. There is nothing to connect to: the external resource of a Kyma
// is in the control plane.
type connector struct {
	client       client.Client
	lister       *lister
	applier      *applier
	usage        resource.ModernTracker
	remover      *remover
	record       event.Recorder
	lanes        *lane.Lanes
	controlPlane string
	// policies reports whether spec.managementPolicies count.
	policies bool
}

// Connect tracks the usage of the ProviderConfig, and returns an external client.
func (c *connector) Connect(ctx context.Context, k *v1alpha1.Kyma) (managed.TypedExternalClient[*v1alpha1.Kyma], error) {
	if !meta.WasDeleted(k) {
		if err := c.usage.Track(ctx, k); err != nil {
			return nil, errors.Wrap(err, "cannot track usage of the ProviderConfig")
		}
	}
	return &external{connector: c}, nil
}

// policyOf returns what the management policies of a Kyma allow.
func (c *connector) policyOf(k *v1alpha1.Kyma) managed.ManagementPoliciesChecker {
	return managed.NewManagementPoliciesResolver(c.policies, k.Spec.ManagementPolicies)
}
