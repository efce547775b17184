// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"path/filepath"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// A function is one of those that compositions run.
type function struct {
	tool tools.Tool
	// module holds the package in its folder package.
	module  string
	version string
}

func functions() []function {
	return []function{
		{tool: tools.FunctionPatchAndTransform, module: tools.FunctionPatchAndTransformModule, version: "v0.5.0"},
		{tool: tools.FunctionAutoReady, module: tools.FunctionAutoReadyModule, version: "v0.6.0"},
	}
}

// ref is the name by which Crossplane finds the package.
func (f function) ref() string {
	return Host + "/" + Organization + "/" + string(f.tool) + ":" + f.version
}

// PushFunctions pushes the packages of the functions, without their images, which a
// node would pull. Compositions and configurations then find them.
func (x *Crossplane) PushFunctions(ctx context.Context) error {
	for _, f := range functions() {
		source, err := tools.ModuleDir(ctx, f.tool, f.module)
		if err != nil {
			return err
		}
		file := x.path(string(f.tool) + ".xpkg")
		if _, err := x.Crank(ctx, "xpkg", "build", "--package-root="+filepath.Join(source, "package"), "--package-file="+file); err != nil {
			return err
		}
		if _, err := x.Push(ctx, file, string(f.tool), f.version); err != nil {
			return err
		}
	}
	return nil
}
