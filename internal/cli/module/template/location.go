// SPDX-License-Identifier: Apache-2.0

package template

import (
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/pflag"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// locationHelp is part of the help of commands with these flags.
const locationHelp = " A layout is in no registry, so that it needs --repository, which is where the module will be pushed to."

// locationFlags say where clusters get a module from.
type locationFlags struct {
	repository string
	mapping    string
}

func (l *locationFlags) addFlags(f *pflag.FlagSet) {
	f.StringVar(&l.repository, "repository", "", "`HOST/BASE` where clusters get the module from; default where it was read")
	f.StringVar(&l.mapping, "name-mapping", string(ocm.URLPath), "with --repository, the `MAPPING` of names to repositories: urlPath or sha256-digest")
}

func (l *locationFlags) check() error {
	if l.mapping != string(ocm.URLPath) && l.mapping != string(ocm.SHA256Digest) {
		return command.Usagef("--name-mapping %q: want %s or %s", l.mapping, ocm.URLPath, ocm.SHA256Digest)
	}
	if l.repository == "" {
		return nil
	}
	l.repository = strings.TrimRight(strings.TrimPrefix(l.repository, "oci://"), "/")
	if name, _, ok := strings.Cut(l.repository, "://"); ok {
		return command.Usagef("--repository has the scheme %s://: leave that out", name)
	}
	_, _, err := l.location().Repository("example.org/module")
	return command.WithCode(command.ExitUsage, errors.Wrap(err, "--repository"))
}

func (l *locationFlags) location() ocm.Location {
	return ocm.Location{BaseURL: l.repository, Mapping: ocm.Mapping(l.mapping)}
}

// locate a module where clusters get it from.
func (l *locationFlags) locate(b *bundle.Bundle) error {
	if l.repository != "" {
		b.Location = l.location()
	}
	if b.Location == (ocm.Location{}) {
		return command.Usagef("%s is in no registry: say with --repository HOST/BASE where it will be", b.Layout())
	}
	return nil
}
