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

// ReferenceHelp describes how users name modules. It is part of the help of commands.
const ReferenceHelp = "Specify a module by the path of an OCI image layout (a directory or a tar file), or by its reference in a registry: " +
	"HOST/BASE/component-descriptors/NAME:VERSION or HOST/BASE//NAME:VERSION. You can use @sha256:… instead of the version."

// Registries returns the configuration of the registries that references name. --username applies to the first reference that is
// in a registry. Call it only once per command, because it reads the password from stdin.
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

// Module opens the module that a reference names. The caller must close the bundle.
func Module(ctx context.Context, e *command.Environment, f *command.RegistryFlags, reference string) (*bundle.Bundle, error) {
	regs, err := Registries(e, f, reference)
	if err != nil {
		return nil, err
	}
	b, err := bundle.Open(ctx, reference, regs)
	if err != nil {
		return nil, err
	}
	b.Renderer = e.Renderer
	return b, nil
}
