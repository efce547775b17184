// SPDX-License-Identifier: Apache-2.0

package await

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// scripted is a server that answers lists and watches with the given results, in their order.
type scripted struct {
	client.WithWatch

	lists   []any // A []string of names, or an error.
	watches []any // A []watch.Event, after which the watch ends, or an error.
}

func (s *scripted) List(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
	next := s.lists[0]
	s.lists = s.lists[1:]
	if err, ok := next.(error); ok {
		return err
	}
	kymas, _ := l.(*v1alpha1.KymaList)
	for _, name := range next.([]string) {
		kymas.Items = append(kymas.Items, *named(name))
	}
	return nil
}

func (s *scripted) Watch(_ context.Context, _ client.ObjectList, _ ...client.ListOption) (watch.Interface, error) {
	next := s.watches[0]
	s.watches = s.watches[1:]
	if err, ok := next.(error); ok {
		return nil, err
	}
	events := next.([]watch.Event)
	w := watch.NewFakeWithChanSize(len(events), false)
	for _, e := range events {
		w.Action(e.Type, e.Object)
	}
	w.Stop()
	return w, nil
}

func named(name string) *v1alpha1.Kyma {
	return &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func TestFollow(t *testing.T) {
	expired := kerrors.NewResourceExpired("too old").Status()
	boom := errors.New("boom")
	forbidden := kerrors.NewForbidden(schema.GroupResource{Resource: "kymas"}, "", boom)
	unauthorized := kerrors.NewUnauthorized("expired")
	type want struct {
		seen    []int
		trouble int
		err     error
	}
	cases := map[string]struct {
		reason string
		server *scripted
		// until is the number of objects at which look is done.
		until int
		// blind is the number of the call of look that fails with a temporary error; 0 means none.
		blind int
		want  want
	}{
		"AtOnce":  {"The list already meets the condition.", &scripted{lists: []any{[]string{"a"}}}, 1, 0, want{seen: []int{1}}},
		"Watched": {"A watch adds and deletes objects.", &scripted{lists: []any{[]string{"a"}}, watches: []any{[]watch.Event{{Type: watch.Added, Object: named("b")}, {Type: watch.Deleted, Object: named("a")}, {Type: watch.Deleted, Object: named("b")}}}}, 0, 0, want{seen: []int{1, 2, 1, 0}}},
		"Ended":   {"A watch that ends is replaced without an error.", &scripted{lists: []any{[]string{"a"}, []string{"a", "b"}}, watches: []any{[]watch.Event{}}}, 2, 0, want{seen: []int{1, 2}}},
		"Expired": {"After a watch has expired, objects are listed again.", &scripted{lists: []any{[]string{"a"}, []string{"a", "b"}}, watches: []any{[]watch.Event{{Type: watch.Error, Object: &expired}}}}, 2, 0, want{seen: []int{1, 2}, trouble: 1}},
		"Gone":    {"If a watch cannot start because its version has expired, objects are listed again.", &scripted{lists: []any{[]string{"a"}, []string{"a", "b"}}, watches: []any{kerrors.NewResourceExpired("too old")}}, 2, 0, want{seen: []int{1, 2}, trouble: 1}},
		"Away":    {"If the server is unavailable, lists and watches are retried.", &scripted{lists: []any{[]string{"a"}, boom, []string{"a", "b"}}, watches: []any{boom}}, 2, 0, want{seen: []int{1, 2}, trouble: 2}},
		"Blind":   {"A temporary error of look after a list is retried.", &scripted{lists: []any{[]string{"a"}, []string{"a"}}}, 1, 1, want{seen: []int{1, 1}, trouble: 1}},
		"BlindWatch": {
			"A temporary error of look after a change is retried.", &scripted{lists: []any{[]string{}, []string{"a"}}, watches: []any{[]watch.Event{{Type: watch.Added, Object: named("a")}}}}, 1, 2,
			want{seen: []int{0, 1, 1}, trouble: 1},
		},
		"Unauthorized": {"A refused list is an error.", &scripted{lists: []any{[]string{}, unauthorized}, watches: []any{boom}}, 1, 0, want{seen: []int{0}, trouble: 1, err: unauthorized}},
		"Forbidden":    {"A refused watch is an error.", &scripted{lists: []any{[]string{}}, watches: []any{forbidden}}, 1, 0, want{seen: []int{0}, err: forbidden}},
		"Never":        {"A server that is unavailable at the first list is an error.", &scripted{lists: []any{boom}}, 1, 0, want{err: boom}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got want
			f := &Follower{
				Client: tc.server, List: func() client.ObjectList { return &v1alpha1.KymaList{} },
				trouble: func(error) { got.trouble++ },
			}
			got.err = f.follow(t.Context(), func(all Objects) (bool, error) {
				got.seen = append(got.seen, len(all))
				if tc.blind > 0 && len(got.seen) == tc.blind {
					return false, Blind(boom)
				}
				return len(all) == tc.until, nil
			})
			if !errors.Is(got.err, tc.want.err) {
				t.Errorf("\n%s\nwant error %v, got %v", tc.reason, tc.want.err, got.err)
			}
			got.err = tc.want.err
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmp.Comparer(errors.Is)); diff != "" {
				t.Errorf("\n%s\nfollow(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &Follower{Client: &scripted{lists: []any{[]string{}}, watches: []any{[]watch.Event{}}}, List: func() client.ObjectList { return &v1alpha1.KymaList{} }}
	if err := f.follow(ctx, func(Objects) (bool, error) { return false, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("want the end of the context, got %v", err)
	}
}
