// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"path/filepath"
)

// A Chart is a chart that another project publishes in a Go module, identified by its directory in the module. Charts of
// two versions of a module are two Charts.
type Chart struct {
	// module is the path of the Go module in charts/go.mod.
	module string
	dir    string
}

// These are the charts at the versions that charts/go.mod pins. Only the zip of the module is read: nothing is built, and
// no dependency is downloaded.
//
//nolint:gochecknoglobals // Constants.
var (
	GatekeeperChart         = Chart{module: "github.com/open-policy-agent/gatekeeper/v3", dir: "charts/gatekeeper"}
	GatekeeperPreviousChart = Chart{module: "previous.example.org/gatekeeper", dir: "charts/gatekeeper"}
	KyvernoChart            = Chart{module: "github.com/kyverno/kyverno", dir: "charts/kyverno"}
	KyvernoPreviousChart    = Chart{module: "previous.example.org/kyverno", dir: "charts/kyverno"}
)

// ChartDir returns the directory of a chart in the module cache, and downloads its module if necessary.
func ChartDir(ctx context.Context, c Chart) (string, error) {
	dir, err := sourceOf(ctx, "charts", c.module)
	return filepath.Join(dir, filepath.FromSlash(c.dir)), err
}
