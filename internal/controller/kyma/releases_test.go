// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane/crossplane-runtime/v2/pkg/test"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestKymasOf checks which Kymas a ModuleReleaseMeta concerns if none of them has reported the module yet, so that the index by modules
// does not have them.
func TestKymasOf(t *testing.T) {
	cases := map[string]struct {
		reason    string
		mandatory bool
		selects   bool
		want      int
	}{
		"Mandatory": {reason: "A Kyma that must have a module is queued before it has reported it.", mandatory: true, selects: true, want: 1},
		"Others":    {reason: "A Kyma that the change does not concern is not queued.", mandatory: true},
		"Channel":   {reason: "For channels, the index has all Kymas that enable the module.", selects: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &v1alpha1.ModuleReleaseMeta{}
			r.Spec.ModuleName = "a"
			if tc.mandatory {
				r.Spec.Mandatory = &v1alpha1.Release{Version: "1.0.0"}
			}
			got := (&watches{fleet: kymas{*newKyma()}}).kymasOf(t.Context(), r, func(*v1alpha1.Kyma) bool { return tc.selects })
			if len(got) != tc.want {
				t.Errorf("%s\nwant %d requests, got %v", tc.reason, tc.want, got)
			}
		})
	}
}

// TestReleases checks which Kymas an event about a rollout in progress queues.
func TestReleases(t *testing.T) {
	was := &v1alpha1.ModuleReleaseMeta{}
	was.Spec.ModuleName = "a"
	was.Status.Channels = []v1alpha1.ChannelRollout{{Channel: "regular", Version: "2.0.0", Phase: v1alpha1.RolloutProgressing}}
	cases := map[string]struct {
		reason string
		change func(r *v1alpha1.ChannelRollout)
		want   []string
	}{
		"Numbers": {reason: "Numbers concern no Kyma.", change: func(r *v1alpha1.ChannelRollout) { r.Updated = 1 }},
		"Turn":    {reason: "The turn of a Kyma has come.", change: func(r *v1alpha1.ChannelRollout) { r.Threshold = 1 << 32 }, want: []string{"k"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			is, q := was.DeepCopy(), &line{}
			tc.change(&is.Status.Channels[0])
			w := &watches{fleet: kymas{*newKyma(v1alpha1.Module{Name: "a"})}, client: &test.MockClient{MockGet: test.NewMockGetFn(nil)}}
			w.releases().Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: was, ObjectNew: is}, q)
			if diff := cmp.Diff(tc.want, q.names); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestModuleNames(t *testing.T) {
	k := newKyma(v1alpha1.Module{Name: "a"}, v1alpha1.Module{Name: "b"})
	k.Status.AtProvider.Modules = []v1alpha1.ModuleStatus{
		{Name: "b", Origin: v1alpha1.ModuleOriginMandatory}, {Name: "c", Origin: v1alpha1.ModuleOriginMandatory}, {Name: "d"},
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, moduleNames(k)); diff != "" {
		t.Errorf("want the modules that the Kyma enables or must have\n-want, +got:\n%s", diff)
	}
}
