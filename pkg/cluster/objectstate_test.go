// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"reflect"
	"testing"
)

// A Summary is kept of each object of each cluster, and a map allocates for each value that is larger than this.
func TestSummaryIsSmall(t *testing.T) {
	if size := reflect.TypeFor[ObjectState]().Size(); size > 128 {
		t.Errorf("a Summary has %d bytes, want at most 128", size)
	}
}
