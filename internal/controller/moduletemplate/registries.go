// SPDX-License-Identifier: Apache-2.0

package moduletemplate

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

// registries loads the registries that components may come from.
type registries struct {
	client  client.Reader
	secrets config.Secrets
	clouds  config.Access
	// name is the name of a ClusterProviderConfig, or empty.
	name string
}

func (r *registries) load(ctx context.Context) (oci.Registries, error) {
	if r.name == "" {
		return nil, nil
	}
	pc := &v1alpha1.ClusterProviderConfig{}
	err := r.client.Get(ctx, types.NamespacedName{Name: r.name}, pc)
	switch {
	case notfound.Is(err):
		return nil, errors.Errorf("ClusterProviderConfig %s does not exist: create it, or correct the provider flag --module-registry-config", r.name)
	case err != nil:
		return nil, errors.Wrapf(err, "cannot get ClusterProviderConfig %s", r.name)
	}
	regs, err := (&config.Config{Kind: v1alpha1.ClusterProviderConfigKind, Name: r.name, Spec: pc.Spec.ProviderConfigSpec}).Registries(ctx, r.secrets, r.clouds)
	return regs, errors.Wrapf(err, "ClusterProviderConfig %s", r.name)
}
