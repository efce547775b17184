// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"

	"helm.sh/helm/v3/pkg/chartutil"
)

// The minor versions of Kubernetes that a chart is tried with, without a cluster.
const (
	newestMinor = 37
	oldestMinor = 16
)

// KubeVersion returns the newest version of Kubernetes that the chart says it
// runs on, "v1.37.0", for Options.KubeVersion where there is no cluster. A chart
// that runs on none that is known gets the newest one, and is then refused by
// Render.
func (c *Chart) KubeVersion() string {
	newest := kubeVersion(newestMinor, 0)
	want := c.chart.Metadata.KubeVersion
	if want == "" {
		return newest
	}
	for minor := newestMinor; minor >= oldestMinor; minor-- {
		// A chart may ask for what was fixed in a minor version.
		for _, patch := range []int{0, 99} {
			if v := kubeVersion(minor, patch); chartutil.IsCompatibleRange(want, v) {
				return v
			}
		}
	}
	return newest
}

func kubeVersion(minor, patch int) string { return fmt.Sprintf("v1.%d.%d", minor, patch) }
