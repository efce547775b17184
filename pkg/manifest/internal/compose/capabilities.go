// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	k8sversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// Capabilities identifies the properties of a cluster that a chart asks for, in the form in which they are stored: "v1.36", or
// "v1.36 apis=" and a digest. It is empty for a chart that asks for none.
type Capabilities string

// capabilitiesOf returns the capabilities that a chart asks for. The API versions of the cluster change with each CRD. They count
// only if the chart renders the same objects each time, so that the objects show whether a change matters.
func capabilitiesOf(chart *render.Chart, o *render.Options, pure bool) Capabilities {
	var out []string
	if minor := MinorOf(o.KubeVersion); minor != "" && chart.NeedsKubeVersion(o.Values, o.Overrides) {
		out = append(out, minor)
	}
	if o.APIVersions != nil && pure {
		sum := sha256.Sum256([]byte(strings.Join(o.APIVersions, "\n")))
		out = append(out, "apis="+hex.EncodeToString(sum[:8]))
	}
	return Capabilities(strings.Join(out, " "))
}

// MinorOf returns the minor version of a version, such as v1.36 of v1.36.3. It is empty if the version cannot be read.
func MinorOf(version string) string {
	v, err := k8sversion.ParseGeneric(version)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("v%d.%d", v.Major(), v.Minor())
}

// Outdates reports whether a cluster of a minor version is another input than the one of the record of a part. The minor version is
// empty if it is not known. A part that does not ask for the version does not depend on it.
func Outdates(minor string, rec *inventory.Part) bool {
	before, _, _ := strings.Cut(rec.Capabilities, " ")
	return minor != "" && strings.HasPrefix(before, "v") && before != minor
}
