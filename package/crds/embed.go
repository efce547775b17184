// SPDX-License-Identifier: Apache-2.0

package crds

import "embed"

// Files are the CustomResourceDefinitions, one a file.
//
//go:embed *.yaml
var Files embed.FS
