// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func abandon(value string) func(*v1alpha1.Manifest) {
	return func(m *v1alpha1.Manifest) {
		meta.AddAnnotations(m, map[string]string{v1alpha1.AnnotationAbandon: value})
	}
}

// uses sets a reference to a ProviderConfig that does not have to exist.
func uses(name string) func(*v1alpha1.Manifest) {
	return func(m *v1alpha1.Manifest) {
		m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: name}
	}
}

// waited moves the transition time of the current condition into the past.
func waited(mr *v1alpha1.Manifest, d time.Duration) {
	for i := range mr.Status.Conditions {
		mr.Status.Conditions[i].LastTransitionTime = metav1.NewTime(time.Now().Add(-d))
	}
}

func TestAbandon(t *testing.T) {
	away := &transport.UnreachableError{Host: "https://gone", Reason: "connection refused"}
	type want struct {
		released bool
		hint     bool
		events   int
	}
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		err    error
		since  time.Duration
		want   want
	}{
		"Unannotated": {
			reason: "Without the annotation, nothing is abandoned, and the message names the annotation.",
			mr:     named("n", "m", deleted), err: away, since: time.Hour, want: want{hint: true},
		},
		"Unreachable": {
			reason: "A cluster that does not respond is abandoned.",
			mr:     named("n", "m", deleted, abandon("true")), err: errors.Wrap(away, "inventory"), since: time.Minute,
			want: want{released: true, hint: true, events: 1},
		},
		"Page": {
			reason: "Another server responds at the address of the cluster.",
			mr:     named("n", "m", deleted, abandon("true")), err: errors.Wrap(&notfound.Error{Host: "https://gone"}, "inventory"), since: time.Minute,
			want: want{released: true, hint: true, events: 1},
		},
		"WrongCluster": {
			reason: "Another cluster responds at the address of the cluster.",
			mr:     named("n", "m", deleted, abandon("true")), err: &engine.WrongClusterError{Expected: "a", Found: "b"}, since: time.Minute,
			want: want{released: true, hint: true, events: 1},
		},
		"UnannotatedWrongCluster": {
			reason: "A response from another cluster does not remove the finalizer.",
			mr:     named("n", "m", deleted), err: &engine.WrongClusterError{Expected: "a", Found: "b"}, since: time.Hour, want: want{hint: true},
		},
		"UnannotatedPage": {
			reason: "A response from another server does not remove the finalizer.",
			mr:     named("n", "m", deleted), err: &notfound.Error{Host: "https://gone"}, since: time.Hour, want: want{hint: true},
		},
		"Hiccup": {
			reason: "A cluster is not abandoned after the first failure.",
			mr:     named("n", "m", deleted, abandon("true")), err: away, since: 0, want: want{hint: true},
		},
		"Unauthorized": {
			reason: "A cluster that rejects the credentials is abandoned.",
			mr:     named("n", "m", deleted, abandon("true")), err: kerrors.NewUnauthorized("no"), since: time.Minute,
			want: want{released: true, hint: true, events: 1},
		},
		"Timeout": {
			reason: "A cluster whose requests time out is abandoned.",
			mr:     named("n", "m", deleted, abandon("true")), err: fmt.Errorf("get: %w", context.DeadlineExceeded), since: time.Minute,
			want: want{released: true, hint: true, events: 1},
		},
		"OtherValue": {
			reason: "Only the value true requests it.",
			mr:     named("n", "m", deleted, abandon("yes")), err: away, since: time.Minute, want: want{hint: true},
		},
		"Forbidden": {
			reason: "The provider waits if permissions are missing for a short time.",
			mr:     named("n", "m", deleted, abandon("true")), since: time.Minute,
			err: kerrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "x", errors.New("no")), want: want{hint: true},
		},
		"ForbiddenForLong": {
			reason: "A cluster that forbids access to the inventory for a long time is abandoned.",
			mr:     named("n", "m", deleted, abandon("true")), since: 5 * time.Minute,
			err: kerrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "x", errors.New("no")), want: want{released: true, hint: true, events: 1},
		},
		"ForbiddenUnannotated": {
			reason: "Without the annotation, missing permissions do not abandon a cluster.",
			mr:     named("n", "m", deleted), since: time.Hour,
			err: kerrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "x", errors.New("no")), want: want{hint: true},
		},
		"Internal": {
			reason: "An API server that responds with an internal error is still reachable.",
			mr:     named("n", "m", deleted, abandon("true")), err: kerrors.NewInternalError(errors.New("etcd")), since: time.Minute,
		},
		"Conflict": {
			reason: "A conflict is temporary.",
			mr:     named("n", "m", deleted, abandon("true")), since: time.Minute,
			err: kerrors.NewConflict(schema.GroupResource{Resource: "secrets"}, "x", errors.New("changed")),
		},
		"Held": {
			reason: "While other finalizers block the deletion of the Manifest, the event is not repeated.",
			mr: named("n", "m", deleted, abandon("true"), func(m *v1alpha1.Manifest) {
				m.Finalizers = []string{"finalizer.managedresource.crossplane.io", metav1.FinalizerDeleteDependents}
			}),
			err: away, since: time.Minute, want: want{released: true, hint: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &recorded{}
			e := externalOf(&mockEngine{observe: func() (engine.Observation, error) { return engine.Observation{}, tc.err }}, &engine.Bundle{}, r)
			if _, err := e.Observe(t.Context(), tc.mr); err == nil {
				t.Fatal("Observe(...): the first failure must be an error")
			}
			first := tc.mr.DeepCopy()
			waited(tc.mr, tc.since)
			o, err := e.Observe(t.Context(), tc.mr)
			got := want{
				released: err == nil && !o.ResourceExists, events: len(r.events),
				hint: strings.Contains(tc.mr.Status.AtProvider.Message, "kyma.m.crossplane.io/abandon=true"),
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nObserve(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			if c := tc.mr.GetCondition(xpv2.TypeReady); c.Reason != reasonFor(tc.err, xpv2.ReasonDeleting) || !c.Equal(first.GetCondition(xpv2.TypeReady)) {
				t.Errorf("\n%s\nObserve(...): the condition must stay what it was at first: %v", tc.reason, c)
			}
		})
	}
}

func TestAbandonWithoutConfig(t *testing.T) {
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		get    error
		want   []string
	}{
		"Unannotated": {
			reason: "Without the annotation, an installed module is not abandoned, even if its cluster is unknown.",
			mr:     named("n", "m", deleted, uses("none")),
		},
		"NoConfig": {
			reason: "Without a ProviderConfig, the cluster cannot be reached.",
			mr:     named("n", "m", deleted, uses("none"), abandon("true")),
			want:   []string{"Abandoned: Left objects behind in the cluster of ProviderConfig n/none: inventory Secret n.m (ProviderConfig n/none does not exist)"},
		},
		"NoSecret": {
			reason: "Without the Secret of the ProviderConfig, the cluster cannot be reached.",
			mr:     named("n", "m", deleted, uses("there"), abandon("true")),
			get:    errors.Wrap(&config.MissingError{Object: "Secret n/s"}, "spec.credentials"),
			want: []string{"Abandoned: Left objects behind in the cluster of ProviderConfig n/there: inventory Secret n.m " +
				"(ProviderConfig there: spec.credentials: Secret n/s does not exist)"},
		},
		"Unread": {
			reason: "A Secret that cannot be read temporarily may exist.",
			mr:     named("n", "m", deleted, uses("there"), abandon("true")), get: context.DeadlineExceeded,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			meta.SetExternalName(tc.mr, "n.m")
			r := &recorded{}
			c := &connector{
				client: fake.NewClientBuilder().WithScheme(schemeOf(t)).WithObjects(
					&v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "there"}}).Build(),
				clusters: &mockClusters{
					get:  func() (cluster.Cluster, error) { return nil, tc.get },
					last: func() (cluster.Cluster, bool) { return nil, false },
				},
				engine: &mockEngine{}, record: r, requeuer: requeue.New(t.Context().Done()), memory: &checkpoint.Memory{},
			}
			if _, err := c.Connect(t.Context(), tc.mr); err == nil {
				t.Fatal("Connect(...): the first failure must be an error")
			}
			waited(tc.mr, time.Minute)
			e, err := c.Connect(t.Context(), tc.mr)
			if released := err == nil && e == (nothing{}); released != (tc.want != nil) {
				t.Errorf("\n%s\nConnect(...): %v, %v", tc.reason, e, err)
			}
			if diff := cmp.Diff(tc.want, r.events); diff != "" {
				t.Errorf("\n%s\nevents: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLeftBehind(t *testing.T) {
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		want   string
	}{
		"Everything": {
			reason: "The message lists everything that users may have to clean up.",
			mr: named("n", "m", func(m *v1alpha1.Manifest) {
				p := &m.Spec.ForProvider
				p.Installs = []v1alpha1.Install{{Name: "web", Namespace: "apps"}, {Name: "db"}}
				p.CRDs = &v1alpha1.LayerSource{}
				p.Resource = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"x/v1","kind":"Widget","metadata":{"name":"main","namespace":"apps"}}`)}
				m.Status.AtProvider.Installs = []v1alpha1.InstallStatus{{Name: "web", Version: "1.0.0"}, {Name: "crds"}}
				m.Status.AtProvider.Resources = &v1alpha1.ResourceCounts{Ready: 1, Total: 12}
			}),
			want: "12 objects; inventory Secret n.m; install db in namespace default; install web 1.0.0 in namespace apps; " +
				"its CRDs; custom resource Widget apps/main",
		},
		"Ignored": {
			reason: "A custom resource that the Manifest does not manage is not listed, and a cluster-scoped one has no namespace.",
			mr: named("n", "m", func(m *v1alpha1.Manifest) {
				m.Spec.ForProvider.Resource = &runtime.RawExtension{Raw: []byte(`{"kind":"Widget","metadata":{"name":"main"}}`)}
				m.Spec.ForProvider.CustomResourcePolicy = v1alpha1.CustomResourcePolicyIgnore
			}),
			want: "inventory Secret n.m",
		},
		"Many": {
			reason: "The length of the message is limited.",
			mr: named("n", "m", func(m *v1alpha1.Manifest) {
				for _, n := range []string{"a", "b", "c", "d", "e", "f", "g"} {
					m.Spec.ForProvider.Installs = append(m.Spec.ForProvider.Installs, v1alpha1.Install{Name: n, Namespace: "x"})
				}
				m.Spec.ForProvider.Resource = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"x/v1","kind":"Widget","metadata":{"name":"main"}}`)}
			}),
			want: "inventory Secret n.m; install a in namespace x; install b in namespace x; install c in namespace x; " +
				"install d in namespace x; install e in namespace x; and 2 more; custom resource Widget main",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, leftBehind(tc.mr)); diff != "" {
				t.Errorf("\n%s\nleftBehind(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAnnotationWakes(t *testing.T) {
	e := ctrlevent.UpdateEvent{ObjectOld: named("n", "m", deleted), ObjectNew: named("n", "m", deleted, abandon("true"))}
	if !resource.DesiredStateChanged().Update(e) {
		t.Error("the annotation must be noticed at once")
	}
}
