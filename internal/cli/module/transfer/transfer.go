// SPDX-License-Identifier: Apache-2.0

package transfer

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/summary"
	"github.com/crossplane-contrib/provider-kyma/internal/cosign"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// A transfer copies a module with everything that belongs to it, byte for byte:
// referenced components, charts, signatures and other attachments.
type transfer struct {
	e         *command.Environment
	verb      string // Verb for the progress bar, such as Pushing.
	overwrite bool
	mapping   string
}

// overwriteHelp describes what --overwrite does to signatures.
const overwriteHelp = "--overwrite never drops a cosign signature or attestation of this digest in the destination: if each side has some that " +
	"the other lacks, the destination then has those of both."

func (t *transfer) addOverwrite(f *pflag.FlagSet, what string) {
	f.BoolVar(&t.overwrite, "overwrite", false, "replace "+what+" that has different content")
}

// mappings lists the values of --name-mapping.
var mappings = []string{string(ocm.URLPath), string(ocm.SHA256Digest)} //nolint:gochecknoglobals // Constant.

func (t *transfer) addMapping(c *cobra.Command) {
	c.Flags().StringVar(&t.mapping, "name-mapping", string(ocm.URLPath),
		"`MAPPING` of component names to repositories in the destination: urlPath, or sha256-digest for registries that allow only "+
			"two path elements")
	// The registration fails only for flags that do not exist.
	_ = c.RegisterFlagCompletionFunc("name-mapping", cobra.FixedCompletions(mappings, cobra.ShellCompDirectiveNoFileComp))
}

func (t *transfer) checkMapping() error {
	if slices.Contains(mappings, t.mapping) {
		return nil
	}
	return command.Usagef("unknown --name-mapping %q: use %s", t.mapping, strings.Join(mappings, " or "))
}

// A destination is the location to which a module was copied.
type destination struct {
	Repository, Layout, Tag string
	Uploaded                int
}

// String returns the path of the layout, or the reference in the registry.
func (d *destination) String() string {
	if d.Layout != "" {
		return d.Layout
	}
	return d.Repository + ":" + d.Tag
}

// toRegistry copies a module to a registry. to is a base or a complete reference. It copies charts and referenced components
// before the components that need them.
func (t *transfer) toRegistry(ctx context.Context, b *bundle.Bundle, to string, regs oci.Registries) (*destination, error) {
	l, repository, tag, err := bundle.Destination(to, ocm.Mapping(t.mapping), b.Descriptor())
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, err)
	}
	for _, missing := range b.Missing() {
		t.e.Warnf("the referenced component %s is not in the layout: the registry must already have it", missing)
	}
	artifacts, err := b.Artifacts(ctx)
	if err != nil {
		return nil, err
	}
	out := &destination{Repository: repository, Tag: tag}
	if err := t.chartsToRegistry(ctx, b, l, out, regs); err != nil {
		return nil, err
	}
	for _, a := range artifacts {
		_, repository, tag, err := bundle.Destination(l.BaseURL, l.Mapping, a.Descriptor)
		if err != nil {
			return nil, err
		}
		s, err := remote.New(repository, regs)
		if err != nil {
			return nil, err
		}
		n, err := t.copy(ctx, a, s, tag)
		if err != nil {
			return nil, err
		}
		out.Uploaded += n
	}
	return out, nil
}

func (t *transfer) copy(ctx context.Context, a bundle.Artifact, to store.Store, tag string) (int, error) {
	return t.copyArtifact(ctx, nameInProgress(a), a.Store, a.Digest, to, tag)
}

// nameInProgress returns the name of a component for the progress bar.
func nameInProgress(a bundle.Artifact) string {
	return path.Base(a.Descriptor.Name()) + ":" + a.Descriptor.Version()
}

func (t *transfer) copyArtifact(ctx context.Context, name string, from store.Reader, digest string, to store.Store, tag string) (int, error) {
	report, end := t.e.Progress(t.verb + " " + name)
	defer end()
	copied, err := store.Copy(ctx, from, digest, to, store.CopyOptions{
		Tag: tag, Overwrite: t.overwrite, Attachments: true, Merge: cosign.Merge, Progress: report,
	})
	return copied.Uploaded, err
}

// say prints the result to stderr, and the copied module to stdout.
func (t *transfer) say(ctx context.Context, b *bundle.Bundle, to *destination, done string, o *command.Output) error {
	if to.Uploaded == 0 {
		t.e.Sayf("Unchanged: %s already exists", to)
	} else {
		t.e.Sayf("%s: %s", done, to)
	}
	if o.Table() {
		return t.e.Print("%s\n%s", to, b.Digest)
	}
	s, err := summary.Of(ctx, b)
	if err != nil {
		return err
	}
	if to.Repository != "" {
		s.Repository = to.Repository
	}
	if to.Layout != "" {
		s.Layout = to.Layout
	}
	s.Tag, s.Uploaded = to.Tag, &to.Uploaded
	return o.Write(t.e.Out, s, nil)
}

// hostOf returns the host and port of a destination in a registry.
func hostOf(to string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(to, "oci://"), "/")
	return host
}
