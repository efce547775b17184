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
// references, paths that leave the files, plugins other than the built-in ones, Helm charts, and openapi, because a
// schema applies to the whole process. It checks ctx whenever it reads a file, and bounds neither the time nor the
// memory of what kustomize does with them: build what you do not trust in a child process.
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
	c := &check{files: fs, open: map[string]bool{}}
	if err := c.enter(strings.TrimPrefix(root, "/")); err != nil {
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
		// The error of kustomize has the content of the object, which can be secret.
		return nil, errors.New("cannot write the objects of the kustomization: " +
			"one of them has a value that JSON cannot represent, such as the number .nan")
	}
	return out, nil
}
