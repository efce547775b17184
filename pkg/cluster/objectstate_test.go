// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"reflect"
	"testing"
)

// A Cache contains an ObjectState for each object of each cluster, and a map allocates memory separately for each value that is
// larger than this.
func TestObjectStateIsSmall(t *testing.T) {
	if size := reflect.TypeFor[ObjectState]().Size(); size > 128 {
		t.Errorf("an ObjectState has %d bytes, want at most 128", size)
	}
}
