// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
)

// guard returns the guard that opens the connections of the provider. kubernetes is the address of the Service kubernetes, or
// empty outside of a cluster.
func (f *flags) guard(kubernetes string) (*netguard.Guard, error) {
	o := netguard.Options{}
	var err error
	if o.Allow, err = netguard.ParseRanges(f.allowTargets); err != nil {
		return nil, errors.Wrap(err, "--allow-target-cidr")
	}
	if o.Deny, err = netguard.ParseRanges(f.denyTargets); err != nil {
		return nil, errors.Wrap(err, "--deny-target-cidr")
	}
	if o.Services, err = netguard.ParseRanges(f.services); err != nil {
		return nil, errors.Wrap(err, "--service-cidr")
	}
	if len(o.Services) == 0 {
		o.Services = netguard.ServicesOf(kubernetes)
	}
	return netguard.New(o), nil
}
