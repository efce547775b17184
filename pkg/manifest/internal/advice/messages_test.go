// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithDefaults(t *testing.T) {
	got := Messages{ForceRemoval: "shout"}.WithDefaults()
	want := Messages{
		Adopt:        "set Bundle.Adopt",
		ForceRemoval: "shout",
		Recreate:     `set Bundle.Recreate, or annotation kyma.m.crossplane.io/recreate: "true" on the object`,
		OmitResource: "omit Bundle.Resource",
		Rename:       "choose another Bundle.Name",
		MoveTo:       "set Bundle.NewClusterUID to",
		TakeOver:     "add to Bundle.Predecessors the UID",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is set stays, and the rest names fields of a Bundle and options: -want, +got:\n%s", diff)
	}
}
