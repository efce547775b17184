// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"

	"helm.sh/helm/v3/pkg/chartutil"
)

// The minor versions of Kubernetes that KubeVersion tries, without a cluster.
const (
	newestMinor = 37
	oldestMinor = 16
)

// KubeVersion returns the newest version of Kubernetes that the chart supports, "v1.37.0", for Options.KubeVersion
// without a cluster. If the chart supports no known version, it returns the newest one, which Render then refuses.
func (c *Chart) KubeVersion() string {
	newest := kubeVersion(newestMinor, 0)
	want := c.chart.Metadata.KubeVersion
	if want == "" {
		return newest
	}
	for minor := newestMinor; minor >= oldestMinor; minor-- {
		// A chart may require a fix in a minor version.
		for _, patch := range []int{0, 99} {
			if v := kubeVersion(minor, patch); chartutil.IsCompatibleRange(want, v) {
				return v
			}
		}
	}
	return newest
}

func kubeVersion(minor, patch int) string { return fmt.Sprintf("v1.%d.%d", minor, patch) }
