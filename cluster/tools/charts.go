// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"path/filepath"
)

// A Chart is a chart that others publish inside a Go module, by its directory in
// the module. Charts of the same module at two versions are two Charts.
type Chart struct {
	// module is the path of the Go module, as the file charts/go.mod has it.
	module string
	folder string
}

// The charts at the versions that charts/go.mod pins. Only what is in the zip of
// the module is read: nothing is built, and no dependency is downloaded.
//
//nolint:gochecknoglobals // Constants.
var (
	GatekeeperChart         = Chart{module: "github.com/open-policy-agent/gatekeeper/v3", folder: "charts/gatekeeper"}
	GatekeeperPreviousChart = Chart{module: "previous.example.org/gatekeeper", folder: "charts/gatekeeper"}
	KyvernoChart            = Chart{module: "github.com/kyverno/kyverno", folder: "charts/kyverno"}
	KyvernoPreviousChart    = Chart{module: "previous.example.org/kyverno", folder: "charts/kyverno"}
)

// ChartDir returns the directory, in the module cache, with a chart, and downloads
// its module when it is not there.
func ChartDir(ctx context.Context, c Chart) (string, error) {
	dir, err := sourceOf(ctx, "charts", c.module)
	return filepath.Join(dir, filepath.FromSlash(c.folder)), err
}
