// SPDX-License-Identifier: Apache-2.0

package release

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// IsRecord reports whether an object is the record of a revision.
func IsRecord(r cluster.ObjectRef) bool {
	return r.GroupKind() == ssa.SecretKind.GroupKind() && strings.HasPrefix(r.Name, RecordPrefix)
}

// IsStale reports whether the record of a revision contradicts an inventory: the inventory does not have its release, or the record
// describes a revision as deployed or pending that is neither the deployed one nor the one that is being installed.
func IsStale(m *metav1.PartialObjectMetadata, inv *inventory.Inventory) bool {
	r, known := inventory.Release{Namespace: m.Namespace, Name: m.Labels["name"]}, false
	for part, rec := range inv.Parts {
		if rec.ReleaseOf(part) != r && rec.FormerReleaseOf(part) != r {
			continue
		}
		known = true
		if n := m.Labels[LabelRevision]; n == strconv.Itoa(rec.Revision) || rec.Run != nil && n == strconv.Itoa(rec.Run.Revision) {
			return false
		}
	}
	status := m.Labels[LabelStatus]
	return !known || status == record.StatusDeployed || isPending(status)
}

// isPending reports whether a status means that the installation of a revision has begun and not completed.
func isPending(status string) bool {
	return slices.Contains([]string{record.StatusPendingInstall, record.StatusPendingUpgrade, record.StatusPendingRollback}, status)
}
