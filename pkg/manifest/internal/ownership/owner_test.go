// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestRelate(t *testing.T) {
	type args struct {
		owner  string
		uid    string
		adopts bool
	}
	cases := map[string]struct {
		reason string
		args   args
		want   Relation
	}{
		"Label":      {reason: "The label identifies the object as ours.", args: args{owner: "me"}, want: Ours},
		"LostLabel":  {reason: "The object that was applied is ours even without its label.", args: args{uid: "1"}, want: Ours},
		"Replaced":   {reason: "Another object with the same name is not ours.", args: args{uid: "2"}, want: Unowned},
		"NeverMade":  {reason: "An object that was never applied is not ours.", want: Unowned},
		"OfAnother":  {reason: "The label takes precedence over the UID.", args: args{owner: "you", uid: "1"}, want: OfAnother},
		"Adopted":    {reason: "With adopt, the object is adopted.", args: args{owner: "you", adopts: true}, want: Adoptable},
		"AdoptedOwn": {reason: "With adopt, an object of ours is adoptable, too.", args: args{owner: "me", adopts: true}, want: Adoptable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
			if tc.args.owner != "" {
				m.Labels = map[string]string{object.LabelPartOf: tc.args.owner}
			}
			if diff := cmp.Diff(tc.want, Relate(m, "me", tc.args.uid, tc.args.adopts)); diff != "" {
				t.Errorf("\n%s\nRelate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
