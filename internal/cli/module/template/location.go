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

// locationHelp is the part about layouts in the help of commands with locationFlags.
const locationHelp = " For a layout, you must also set --repository to the location to which you will push the module."

// locationFlags holds the flags for the location from which clusters get a module.
type locationFlags struct {
	repository string
	mapping    string
}

func (l *locationFlags) addFlags(f *pflag.FlagSet) {
	f.StringVar(&l.repository, "repository", "", "`HOST/BASE` from which clusters pull the module (default: the registry it was read from)")
	f.StringVar(&l.mapping, "name-mapping", string(ocm.URLPath),
		"with --repository, the `MAPPING` of component names to repositories: urlPath or sha256-digest")
}

// check validates and normalizes the flags. Its errors have the exit code ExitUsage.
func (l *locationFlags) check() error {
	if l.mapping != string(ocm.URLPath) && l.mapping != string(ocm.SHA256Digest) {
		return command.Usagef("--name-mapping %q: use %s or %s", l.mapping, ocm.URLPath, ocm.SHA256Digest)
	}
	if l.repository == "" {
		return nil
	}
	l.repository = strings.TrimRight(strings.TrimPrefix(l.repository, "oci://"), "/")
	if name, _, ok := strings.Cut(l.repository, "://"); ok {
		return command.Usagef("--repository has the scheme %s://: omit it", name)
	}
	_, _, err := l.location().Repository("example.org/module")
	return command.WithCode(command.ExitUsage, errors.Wrap(err, "--repository"))
}

func (l *locationFlags) location() ocm.Location {
	return ocm.Location{BaseURL: l.repository, Mapping: ocm.Mapping(l.mapping)}
}

// locate sets the location of a module to --repository, if set. It returns a usage error if the module has no location
// afterwards.
func (l *locationFlags) locate(b *bundle.Bundle) error {
	if l.repository != "" {
		b.Location = l.location()
	}
	if b.Location == (ocm.Location{}) {
		return command.Usagef("%s is not in a registry: set --repository HOST/BASE to where you will push it", b.Layout())
	}
	return nil
}
