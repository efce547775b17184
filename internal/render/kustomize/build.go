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

// The limits of a kustomization. Kustomize cannot be stopped after it has read the files, so the limits bound its
// input and how much that may grow.
const (
	maxKustomizations = 256       // Visits: a base that two overlays share counts twice.
	maxDepth          = 32        // Nesting of bases.
	maxRead           = 64 << 20  // Size of all files, in bytes, counted at each read.
	maxObjects        = 1000      // Kustomize compares each object with each other one: 1000 take seconds, 4000 a minute.
	maxSteps          = 250_000   // Patches, images and the like, multiplied by objects.
	maxGrowth         = 128 << 20 // Bytes that patches, labels, variables and replacements may add.
	maxOutput         = 64 << 20
)

// parseSchema parses the schema that kustomize shares in the process, once, before several goroutines use it, because
// kustomize parses it without a lock.
//
//nolint:gochecknoglobals // Made once, never changed.
var parseSchema = sync.OnceFunc(func() { openapi.Schema() })

// Build builds the kustomization in directory dir of files, which include its bases and components, and returns the
// output of kubectl kustomize as YAML: objects are in the order of kustomize's legacy sort (Namespaces and CRDs
// first, webhooks last), unless sortOptions of the kustomization differ: order fifo keeps the order of the resources.
// The same files result in the same bytes.
//
// Build fetches and executes nothing. It refuses, with an error that names file, field and value: URLs and git
// references, paths that leave the files, plugins other than the built-in ones, Helm charts, and anything unsafe in a
// process that serves several tenants: openapi, because a schema applies to the whole process, JSON patches with
// copy, replacements with possibly ambiguous references, more than 1000 objects, and growth beyond the limits. It
// checks ctx whenever it reads a file; the work after that takes seconds.
//
// Kustomize itself writes warnings about deprecated fields to the stderr of the process.
func Build(ctx context.Context, files []input.File, dir string) (out []byte, err error) {
	fs, err := newFileSystem(ctx, files)
	if err != nil {
		return nil, err
	}
	root := path.Clean("/" + dir)
	if !fs.IsDir(root) {
		return nil, errors.Errorf("directory %q does not exist", dir)
	}

	// Kustomize panics on some malformed input, which must not end the process.
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
	o.Reorder = krusty.ReorderOptionUnspecified // Like kubectl.
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
		return nil, errors.Errorf("the output of the kustomization is larger than %d bytes", maxOutput)
	}
	return out, nil
}
