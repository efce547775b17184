// SPDX-License-Identifier: Apache-2.0

package crds

import "embed"

// Files contains the CRDs, one per file.
//
//go:embed *.yaml
var Files embed.FS
