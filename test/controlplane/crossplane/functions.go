// SPDX-License-Identifier: Apache-2.0

package crossplane

import "github.com/crossplane-contrib/provider-kyma/cluster/tools"

// A function is a composition function.
type function struct {
	tool tools.Tool
	// module is the Go module whose subdirectory named package is the Crossplane package.
	module  string
	version string
}

func functions() []function {
	return []function{
		{tool: tools.FunctionPatchAndTransform, module: tools.FunctionPatchAndTransformModule, version: "v0.5.0"},
		{tool: tools.FunctionAutoReady, module: tools.FunctionAutoReadyModule, version: "v0.6.0"},
	}
}

// ref returns the name by which Crossplane finds the package.
func (f function) ref() string {
	return Host + "/" + Organization + "/" + string(f.tool) + ":" + f.version
}
