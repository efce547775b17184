// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/apply"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

var (
	ref       = cluster.ObjectRef{Kind: "ConfigMap", Namespace: "apps", Name: "web"}
	forbidden = kerrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "web", nil)
	entry     = inventory.Entry{Version: "v1", Kind: "ConfigMap", Namespace: "apps", Name: "web", Part: "web", UID: "1", Intent: "i"}
)

// A server answers requests and counts them.
type server struct {
	object  *unstructured.Unstructured
	meta    *metav1.PartialObjectMetadata
	state   cluster.ObjectState
	err     error
	after   string // Fields that the engine would regain.
	dryRun  error
	desired *object.Desired
	// renderErr is returned by AppliedObject.
	renderErr error
	ceded     []ownership.Ceded
	requests  int
}

func (s *server) Get(context.Context, schema.GroupVersionKind, cluster.ObjectRef) (*unstructured.Unstructured, error) {
	s.requests++
	return s.object, s.err
}

func (s *server) State(context.Context, schema.GroupVersionKind, cluster.ObjectRef) (cluster.ObjectState, bool, error) {
	s.requests++
	return s.state, s.state.UID != "", s.err
}

func (s *server) Metadata(context.Context, schema.GroupVersionKind, cluster.ObjectRef) (*metav1.PartialObjectMetadata, error) {
	s.requests++
	return s.meta, s.err
}

func (s *server) AppliedObject(context.Context, *inventory.Entry) (*object.Desired, error) {
	return s.desired, s.renderErr
}

func (s *server) OwnerOf(_ context.Context, id string) string {
	s.requests++
	return "Manifest of " + id
}

func (s *server) TryRepair(context.Context, *object.Desired, *inventory.Entry, *metav1.PartialObjectMetadata) (apply.Outcome, error) {
	s.requests++
	return apply.Outcome{Lost: fieldset.Of(&metav1.FieldsV1{Raw: []byte(s.after)}), Ceded: s.ceded}, s.dryRun
}

func configMap(version string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"k": "v"}}}
	u.SetResourceVersion(version)
	return u
}

func TestEvaluate(t *testing.T) {
	kind := schema.GroupKind{Kind: "ConfigMap"}
	say := func(s health.State, err error) bundle.Rule {
		return bundle.Rule{For: kind, Func: func(context.Context, *unstructured.Unstructured) (health.State, string, error) { return s, "", err }}
	}
	type want struct {
		State    health.State
		Message  string
		Failed   bool
		Requests int // Of two evaluations of one version.
	}
	cases := map[string]struct {
		reason string
		rule   bundle.Rule
		server server
		want   want
	}{
		"Met":    {reason: "A rule is evaluated once for each version.", rule: bundle.Rule{For: kind, CEL: `object.data.k == "v"`}, server: server{object: configMap("7")}, want: want{State: health.Ready, Requests: 1}},
		"Func":   {reason: "A function is evaluated once for each version.", rule: say(health.Ready, nil), server: server{object: configMap("7")}, want: want{State: health.Ready, Requests: 1}},
		"Error":  {reason: "An error is not cached, because the rule may succeed for the same version.", rule: say(health.Ready, errors.New("no\nluck")), server: server{object: configMap("7")}, want: want{State: health.Error, Message: "no luck", Requests: 2}},
		"Gone":   {reason: "A deleted object is not ready.", rule: say(health.Ready, nil), want: want{State: health.Processing, Message: "no longer exists", Requests: 2}},
		"Fails":  {reason: "A failure to read the object is an error.", rule: say(health.Ready, nil), server: server{err: errors.New("no")}, want: want{State: health.Processing, Failed: true, Requests: 2}},
		"Behind": {reason: "If the watch lags behind, more requests are sent, but the result is right.", rule: say(health.Ready, nil), server: server{object: configMap("8")}, want: want{State: health.Ready, Requests: 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := &RuleEvaluator{Objects: &tc.server, Expressions: health.NewRules(), Readiness: []bundle.Rule{tc.rule}, Evaluations: Evaluations{}}
			if !h.Applies(&entry) {
				t.Fatal("the rule is for the object")
			}
			var got want
			for range 2 {
				var err error
				got.State, got.Message, err = h.Evaluate(t.Context(), &entry, cluster.ObjectState{ResourceVersion: "7"})
				got.Failed = err != nil
			}
			got.Requests = tc.server.requests
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestApplies(t *testing.T) {
	resource := entry
	resource.Stage = object.StageResource
	cases := map[string]struct {
		reason string
		rules  []bundle.Rule
		entry  inventory.Entry
		want   bool
	}{
		"None":     {reason: "Without a rule, the status counts.", entry: entry},
		"Kind":     {reason: "A rule applies to its kind.", rules: []bundle.Rule{{CEL: "true", For: ref.GroupKind()}}, entry: entry, want: true},
		"Other":    {reason: "A rule does not apply to other kinds.", rules: []bundle.Rule{{CEL: "true", For: schema.GroupKind{Kind: "Secret"}}}, entry: entry},
		"Default":  {reason: "A rule without a kind applies to the custom resource.", rules: []bundle.Rule{{CEL: "true"}}, entry: entry},
		"Resource": {reason: "The custom resource does not need a rule.", entry: resource, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := &RuleEvaluator{Readiness: tc.rules}
			if got := h.Applies(&tc.entry); got != tc.want {
				t.Errorf("\n%s\nwant %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	meta := func(uid, set string) *metav1.PartialObjectMetadata {
		m := &metav1.PartialObjectMetadata{}
		m.UID, m.Labels = "1", map[string]string{object.LabelPartOf: set}
		if uid != "" {
			m.UID = "2"
		}
		return m
	}
	const own = `{"f:data":{"f:k":{}}}`
	type want struct {
		Difference observe.Difference
		Failed     bool
		// Requests of two comparisons, and of a third one after ReportAge.
		Requests, Later int
	}
	differs := func(d observe.Drift) observe.Difference {
		d.Key = ref
		return observe.Difference{Drift: d, Differs: true}
	}
	cases := map[string]struct {
		reason string
		drift  observe.Drift
		server server
		ended  bool
		want   want
	}{
		"Fields": {
			reason: "The dry run names the fields to regain. The result is valid until the object changes.",
			server: server{meta: meta("", "me"), desired: &object.Desired{}, after: own}, want: want{Difference: differs(observe.Drift{Fields: []string{"data.k"}}), Requests: 2},
		},
		"Legitimate": {
			reason: "Ceded fields do not count as a difference.",
			server: server{meta: meta("", "me"), desired: &object.Desired{}, after: `{}`, ceded: []ownership.Ceded{{Path: own}}},
			want:   want{Difference: observe.Difference{Drift: observe.Drift{Key: ref}}, Requests: 2},
		},
		"Unwanted": {
			reason: "Without the applied object, the report names no fields, and the comparison is repeated later.",
			server: server{meta: meta("", "me")}, want: want{Difference: differs(observe.Drift{}), Requests: 1, Later: 1},
		},
		"Refused": {
			reason: "If the dry run is refused, the comparison is repeated later.",
			server: server{meta: meta("", "me"), desired: &object.Desired{}, dryRun: forbidden}, want: want{Difference: differs(observe.Drift{}), Requests: 2, Later: 2},
		},
		"Outage": {
			reason: "If the dry run fails, it is unknown how the object differs.",
			server: server{meta: meta("", "me"), desired: &object.Desired{}, dryRun: kerrors.NewServiceUnavailable("later")},
			want:   want{Difference: observe.Difference{Drift: observe.Drift{Key: ref}, Differs: true, Failed: true}, Requests: 2, Later: 2},
		},
		"Unrendered": {
			reason: "If the applied object cannot be rendered, it is unknown how the object differs.",
			server: server{meta: meta("", "me"), renderErr: errors.New("no chart")},
			want:   want{Difference: observe.Difference{Drift: observe.Drift{Key: ref}, Differs: true, Failed: true}, Requests: 1, Later: 1},
		},
		"Ended": {
			reason: "If the context has ended, the comparison is an error.", ended: true,
			server: server{meta: meta("", "me"), desired: &object.Desired{}, dryRun: context.Canceled}, want: want{Failed: true, Requests: 4, Later: 2},
		},
		"Deleted": {
			reason: "A watch does not report an object that lost its label.", drift: observe.Drift{Kind: observe.DriftDeleted},
			want: want{Difference: differs(observe.Drift{Kind: observe.DriftDeleted}), Requests: 1, Later: 1},
		},
		"Replaced": {reason: "Another object of the bundle has the name.", server: server{meta: meta("2", "me")}, want: want{Difference: differs(observe.Drift{Kind: observe.DriftReplaced}), Requests: 1}},
		"Foreign":  {reason: "An object that does not belong to the bundle has the name.", server: server{meta: meta("2", "you")}, want: want{Difference: differs(observe.Drift{Kind: observe.DriftForeign}), Requests: 1}},
		"Fails":    {reason: "A failure to read the object is an error.", server: server{err: errors.New("no")}, want: want{Failed: true, Requests: 2, Later: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.ended {
				cancel()
			}
			c := &DriftComparer{Set: "me", Objects: &tc.server, Bundle: &tc.server, Now: time.Unix(1_700_000_000, 0), Reports: Reports{}}
			compare := func() (got want) {
				d, err := c.Compare(ctx, &entry, tc.drift, cluster.ObjectState{UID: "1", Owned: "theirs"})
				return want{Difference: d, Failed: err != nil}
			}
			compare()
			got := compare()
			got.Requests = tc.server.requests
			c.Now = c.Now.Add(ReportAge)
			compare()
			got.Later = tc.server.requests - got.Requests
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A cache holds one object and cannot watch some kinds.
type cache struct {
	cluster.Cache

	states map[cluster.ObjectRef]cluster.ObjectState
	blind  bool
}

func (c *cache) Track(_ context.Context, gvks []schema.GroupVersionKind) map[schema.GroupVersionKind]error {
	out := map[schema.GroupVersionKind]error{}
	for _, gvk := range gvks {
		if c.blind {
			out[gvk] = errors.New("cannot be listed")
		}
	}
	return out
}

// TestUnwatched checks that kinds with too many objects are reported in a stable order.
func TestUnwatched(t *testing.T) {
	kind := func(name string) schema.GroupVersionKind { return schema.GroupVersionKind{Version: "v1", Kind: name} }
	a, b := &cluster.TooManyError{Kind: "A"}, &cluster.TooManyError{Kind: "B"}
	got := tooMany(map[schema.GroupVersionKind]error{kind("B"): b, kind("C"): forbidden, kind("A"): a, kind("D"): context.DeadlineExceeded})
	if diff := cmp.Diff([]string{a.Error(), b.Error()}, got); diff != "" {
		t.Errorf("tooMany(...): -want, +got:\n%s", diff)
	}
}

func (c *cache) Get(r cluster.ObjectRef) (cluster.ObjectState, bool) {
	s, ok := c.states[r]
	return s, ok
}

func TestFindObjects(t *testing.T) {
	state := cluster.ObjectState{UID: "1"}
	states := map[cluster.ObjectRef]cluster.ObjectState{ref: state}
	type want struct {
		Found, Asked, Denied, Failed bool
		Requests                     int
	}
	cases := map[string]struct {
		reason string
		cache  cache
		server server
		want   want
	}{
		"Watched": {reason: "A watched object does not cost a request.", cache: cache{states: states}, want: want{Found: true}},
		"Missing": {reason: "A missing object of a watched kind does not cost a request.", want: want{}},
		"Blind":   {reason: "If a kind cannot be watched, each object is read.", cache: cache{states: states, blind: true}, server: server{state: state}, want: want{Found: true, Asked: true, Requests: 1}},
		"Gone":    {reason: "A request takes precedence over the cache.", cache: cache{states: states, blind: true}, want: want{Asked: true, Requests: 1}},
		"Denied":  {reason: "A forbidden object is reported as denied.", cache: cache{blind: true}, server: server{err: forbidden}, want: want{Asked: true, Denied: true, Requests: 1}},
		"Fails":   {reason: "Any other error ends the search.", cache: cache{blind: true}, server: server{err: errors.New("no")}, want: want{Failed: true, Requests: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := FindObjects(t.Context(), &tc.cache, &tc.server, &inventory.Inventory{Objects: []inventory.Entry{entry}})
			_, found := got.States[ref]
			is := want{Found: found, Asked: got.Asked[ref], Denied: got.Denied[ref] != nil, Failed: err != nil, Requests: tc.server.requests}
			if diff := cmp.Diff(tc.want, is); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
