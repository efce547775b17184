// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// Limits of a kustomization. Kustomize cannot be stopped once it is past the
// files, so that what goes in is bounded, and by how much it may grow.
const (
	maxKustomizations = 256       // Visits: a base that two overlays share counts twice.
	maxDepth          = 32        // Bases of bases.
	maxRead           = 64 << 20  // Bytes of all files that are read, each as often as it is.
	maxObjects        = 1000      // Each is compared with each: 1000 take seconds, 4000 a minute.
	maxSteps          = 250_000   // Patches, images and the like, times objects.
	maxGrowth         = 128 << 20 // Bytes that patches, labels, variables and replacements may add.
	maxOutput         = 64 << 20
)

// parseSchema parses the schema that kustomize shares in the process, once,
// before it is used by several goroutines: kustomize does that without a lock.
//
//nolint:gochecknoglobals // Made once, never changed.
var parseSchema = sync.OnceFunc(func() { openapi.Schema() })

// Build builds the kustomization in directory dir of some files, whose bases and
// components are among them, and returns what it prints as YAML. It prints what
// kubectl kustomize prints: objects are in the order of kustomize's legacy sort
// (Namespaces and CRDs first, webhooks last), unless sortOptions of the
// kustomization say otherwise: order fifo keeps that of the resources. The same
// files give the same bytes.
//
// Nothing is fetched and nothing is executed. Refused, with an error that names
// file, field and value, are URLs and git references, paths that climb out of
// the files, plugins other than the built-in ones, Helm charts, and what is not
// safe in a process that serves several tenants: openapi, as a schema is for the
// whole process, JSON patches with copy, replacements where a reference may be
// ambiguous, more than 1000 objects, and what grows beyond all bounds. The
// context is asked whenever a file is read; the work after that takes seconds.
//
// Kustomize itself writes to the stderr of the process that a field is
// deprecated.
func Build(ctx context.Context, files []input.File, dir string) (out []byte, err error) {
	fs, err := newFileSystem(ctx, files)
	if err != nil {
		return nil, err
	}
	root := path.Clean("/" + dir)
	if !fs.IsDir(root) {
		return nil, errors.Errorf("there is no directory %q", dir)
	}

	// Kustomize panics on some malformed input; it must not be able to end the process.
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, errors.Errorf("cannot build the kustomization: %s", input.Line(fmt.Sprint(r)))
		}
	}()
	c := &check{files: fs, sizes: map[string]int{}, counts: map[string]int{}, names: map[objectName]int{}}
	if err := c.enter(strings.TrimPrefix(root, "/"), nil, nil); err != nil {
		return nil, err
	}
	if err := c.bounded(); err != nil {
		return nil, err
	}

	parseSchema()
	o := krusty.MakeDefaultOptions()
	o.Reorder = krusty.ReorderOptionUnspecified // As kubectl.
	m, err := krusty.MakeKustomizer(o).Run(fs, root)
	if ctx.Err() != nil {
		return nil, errors.Wrap(context.Cause(ctx), "cannot build the kustomization")
	}
	if err != nil {
		return nil, errors.Errorf("cannot build the kustomization: %s", input.Line(err.Error()))
	}
	if out, err = m.AsYaml(); err != nil {
		return nil, errors.Errorf("cannot write the objects of the kustomization: %s", input.Line(err.Error()))
	}
	if len(out) > maxOutput {
		return nil, errors.Errorf("the kustomization prints more than %d bytes", maxOutput)
	}
	return out, nil
}
