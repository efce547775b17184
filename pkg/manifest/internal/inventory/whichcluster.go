// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// A Whereabouts identifies the cluster in which a call works, and the cluster that it is intended for. Clusters are identified
// by the UID of the namespace kube-system.
type Whereabouts struct {
	// UID identifies the cluster of the connection. It is empty if the credentials don't allow reading it.
	UID string
	// Expected identifies the cluster that contains the bundle, or is empty if that is unknown.
	Expected string
	// MoveTo identifies the cluster that the bundle may move to, or is empty.
	MoveTo string
}

// A WrongClusterError reports that the connection leads to a different cluster than the one that contains the bundle.
type WrongClusterError struct {
	// Expected is the UID of the cluster that contains the bundle. Found is the UID of the cluster of the connection, or empty
	// if the credentials don't allow reading it.
	Expected, Found string
	// Inventory refers to the inventory that names the expected cluster. It is the zero value if the caller named it.
	Inventory cluster.ObjectRef
	// Messages contain the instructions for moving to the other cluster.
	Messages advice.Messages
}

// Error returns a message that contains both clusters and the possible solutions.
func (e *WrongClusterError) Error() string {
	expected := text.OneLine(e.Expected)
	if e.Found == "" {
		return fmt.Sprintf("the module is installed in the cluster with UID %s, but the credentials have no permission "+
			"to get namespace kube-system, which identifies the cluster; grant this permission", expected)
	}
	where := "the module is installed in the cluster with UID " + expected
	if e.Inventory != (cluster.ObjectRef{}) {
		where = fmt.Sprintf("%s lists the objects in the cluster with UID %s", e.Inventory, expected)
	}
	return fmt.Sprintf("%s, but the credentials are for the cluster with UID %s; neither cluster is changed: restore the credentials, or, to "+
		"continue in the other cluster, %s %s", where, e.Found, e.Messages.WithDefaults().MoveTo, e.Found)
}

// Check returns a *WrongClusterError if this is not the expected cluster.
func (w Whereabouts) Check(m advice.Messages) error {
	return w.check(w.Expected, cluster.ObjectRef{}, m)
}

// check returns a *WrongClusterError unless this is the cluster with the given UID, or the one to move to.
func (w Whereabouts) check(expected string, ref cluster.ObjectRef, m advice.Messages) error {
	if expected == "" || expected == w.UID || w.isMeant() {
		return nil
	}
	return &WrongClusterError{Expected: expected, Found: w.UID, Inventory: ref, Messages: m}
}

// isMeant reports whether the bundle may move to this cluster.
func (w Whereabouts) isMeant() bool { return w.UID != "" && w.UID == w.MoveTo }

// IsMoved reports whether a loaded inventory contains the UID of a different cluster, because it was copied. The next save
// corrects the UID.
func (s *Store) IsMoved(st Stored) bool {
	return st.Inventory != nil && st.Inventory.Cluster != "" && s.Where.UID != "" && st.Inventory.Cluster != s.Where.UID
}
