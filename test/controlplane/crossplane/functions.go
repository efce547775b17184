// SPDX-License-Identifier: Apache-2.0

package crossplane

import "github.com/crossplane-contrib/provider-kyma/cluster/tools"

// A function is one of those that compositions run.
type function struct {
	tool tools.Tool
	// module holds the package in its directory package.
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
