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

// Capabilities identifies the properties of a cluster that a chart uses, in the form in which they are stored: "v1.36", or
// "v1.36 apis=" and a digest. It is empty if a chart uses none.
type Capabilities string

// capabilitiesOf returns the capabilities that a chart uses. The API versions of a cluster change with each CRD, so they count
// only if the chart always renders the same objects: the objects then show whether a change matters.
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

// MinorOf returns the minor version of a version, such as v1.36 of v1.36.3. It is empty if the version cannot be parsed.
func MinorOf(version string) string {
	v, err := k8sversion.ParseGeneric(version)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("v%d.%d", v.Major(), v.Minor())
}

// Outdates reports whether a part was rendered for a different minor version of the cluster than the given one, which is empty
// if it is unknown. The result is false for a part that does not use the version.
func Outdates(minor string, rec *inventory.Part) bool {
	before, _, _ := strings.Cut(rec.Capabilities, " ")
	return minor != "" && strings.HasPrefix(before, "v") && before != minor
}
