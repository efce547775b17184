// SPDX-License-Identifier: Apache-2.0

package open

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

// ReferenceHelp says how modules are named; it is part of the help of commands.
const ReferenceHelp = "A module is named by the path of an OCI image layout (a folder or a tar), or by its reference in a registry: " +
	"HOST/BASE/component-descriptors/NAME:VERSION, HOST/BASE//NAME:VERSION, or with @sha256:… in place of the version."

// Registries of references, of which --username is for the first that is in a
// registry. It is to be called once, as a password is read once.
func Registries(e *command.Environment, f *command.RegistryFlags, references ...string) (oci.Registries, error) {
	hosts := make([]string, 0, len(references))
	for _, r := range references {
		host, err := bundle.Host(r)
		if missing := (*store.NotFoundError)(nil); err != nil && !errors.As(err, &missing) {
			return nil, command.WithCode(command.ExitUsage, err)
		}
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, host)
	}
	return f.Registries(e, hosts...)
}

// Module opens the one that a reference names. The bundle has to be closed.
func Module(ctx context.Context, e *command.Environment, f *command.RegistryFlags, reference string) (*bundle.Bundle, error) {
	regs, err := Registries(e, f, reference)
	if err != nil {
		return nil, err
	}
	return bundle.Open(ctx, reference, regs)
}
