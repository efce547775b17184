// SPDX-License-Identifier: Apache-2.0

package moduletemplate

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

const lower = "False VersionLowered version 0.9.0 is lower than the previous version 1.0.0: to downgrade, annotate the ModuleTemplate with " +
	"kyma.m.crossplane.io/allow-downgrade=0.9.0"

// TestReconcile checks what a pass reports, and that a second pass writes and reports nothing.
func TestReconcile(t *testing.T) {
	type want struct {
		said       string
		version    string
		generation int64
		handled    string
		retry      bool
		calls      int // Error of the resolver in the first pass.
		events     []string
	}
	invalid := func() error {
		_, err := module.NewResolver(nil, archive.Limits{}).Resolve(context.Background(), nil, &v1alpha1.ModuleTemplate{})
		return err
	}()
	// before is a resolved template.
	before := func(t *testing.T, b *bench) {
		t.Helper()
		b.reconcile(t, "a")
		b.resolver.calls, b.writes, b.events.events = 0, 0, nil
	}
	// after changes a resolved template, which is then resolved to a version.
	after := func(version string, changes ...func(*v1alpha1.ModuleTemplate)) func(t *testing.T, b *bench) {
		return func(t *testing.T, b *bench) {
			t.Helper()
			before(t, b)
			for _, change := range changes {
				b.change(t, "a", change)
			}
			b.resolver.version = version
		}
	}
	cases := map[string]struct {
		reason  string
		arrange func(t *testing.T, b *bench)
		want    want
	}{
		"New": {
			reason: "A template is resolved.",
			want: want{
				said: "True Resolved module sample version 1.0.0", version: "1.0.0", generation: 1, calls: 1,
				events: []string{"Normal Resolved Module sample resolved to version 1.0.0, digest sha256:1.0.0"},
			},
		},
		"Again": {
			reason:  "A resolved template is not resolved again.",
			arrange: before,
			want:    want{said: "True Resolved module sample version 1.0.0", version: "1.0.0", generation: 1},
		},
		"Changed": {
			reason:  "A template is resolved again after a change of its spec.",
			arrange: after("1.1.0", newGeneration),
			want: want{
				said: "True Resolved module sample version 1.1.0", version: "1.1.0", generation: 2, calls: 1,
				events: []string{"Normal Resolved Module sample resolved to version 1.1.0, digest sha256:1.1.0"},
			},
		},
		"Unchanged": {
			reason:  "A change of the spec without any effect causes no event.",
			arrange: after("1.0.0", newGeneration),
			want:    want{said: "True Resolved module sample version 1.0.0", version: "1.0.0", generation: 2, calls: 1},
		},
		"Requested": {
			reason:  "A template is resolved again on request.",
			arrange: after("1.0.0", annotate(meta.AnnotationKeyReconcileRequestedAt, "now")),
			want:    want{said: "True Resolved module sample version 1.0.0", version: "1.0.0", generation: 1, handled: "now", calls: 1},
		},
		"StatusLost": {
			reason: "A status that was emptied is filled again.",
			arrange: func(t *testing.T, b *bench) {
				t.Helper()
				before(t, b)
				m := b.get(t, "a")
				m.Status = v1alpha1.ModuleTemplateStatus{}
				if err := b.client.Status().Update(t.Context(), m); err != nil {
					t.Fatal(err)
				}
			},
			want: want{
				said: "True Resolved module sample version 1.0.0", version: "1.0.0", generation: 1, calls: 1,
				events: []string{"Normal Resolved Module sample resolved to version 1.0.0, digest sha256:1.0.0"},
			},
		},
		"Down": {
			reason: "If a component cannot be fetched, the template is retried and keeps its former resolution.",
			arrange: func(t *testing.T, b *bench) {
				t.Helper()
				before(t, b)
				b.change(t, "a", newGeneration)
				b.resolver.err = errors.New("the registry is down")
			},
			want: want{
				said: "False ResolveFailed the registry is down", version: "1.0.0", generation: 1, retry: true, calls: 1,
				events: []string{"Warning ResolveFailed the registry is down"},
			},
		},
		"NoConfig": {
			reason: "If the registries cannot be read, the template is retried.",
			arrange: func(_ *testing.T, b *bench) {
				b.r.registries = func(context.Context) (oci.Registries, error) { return nil, errors.New("no config") }
			},
			want: want{said: "False ResolveFailed no config", retry: true, events: []string{"Warning ResolveFailed no config"}},
		},
		"Invalid": {
			reason:  "An invalid template is not retried.",
			arrange: func(_ *testing.T, b *bench) { b.resolver.err = invalid },
			want: want{
				said: "False InvalidDescriptor " + invalid.Error(), calls: 1,
				events: []string{"Warning InvalidDescriptor " + invalid.Error()},
			},
		},
		"Lower": {
			reason:  "A lower version is refused.",
			arrange: after("0.9.0", newGeneration),
			want:    want{said: lower, version: "1.0.0", generation: 1, calls: 1, events: []string{"Warning " + strings.TrimPrefix(lower, "False ")}},
		},
		"LowerMeant": {
			reason:  "A lower version is allowed by the annotation.",
			arrange: after("0.9.0", newGeneration, annotate(v1alpha1.AnnotationAllowDowngrade, "0.9.0")),
			want: want{
				said: "True Resolved module sample version 0.9.0", version: "0.9.0", generation: 2, calls: 1,
				events: []string{"Normal Resolved Module sample resolved to version 0.9.0, digest sha256:0.9.0"},
			},
		},
		"LowerOtherwiseMeant": {
			reason:  "An annotation that names another version does not allow the downgrade.",
			arrange: after("0.9.0", newGeneration, annotate(v1alpha1.AnnotationAllowDowngrade, "0.8.0")),
			want:    want{said: lower, version: "1.0.0", generation: 1, calls: 1, events: []string{"Warning " + strings.TrimPrefix(lower, "False ")}},
		},
		"OtherModule": {
			reason:  "The versions of different modules are not compared.",
			arrange: after("0.9.0", func(m *v1alpha1.ModuleTemplate) { m.Spec.ModuleName = "other"; m.Generation++ }),
			want: want{
				said: "True Resolved module other version 0.9.0", version: "0.9.0", generation: 2, calls: 1,
				events: []string{"Normal Resolved Module other resolved to version 0.9.0, digest sha256:0.9.0"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, template("a", "sample", "regular"), template("b", "sample", "fast"))
			if tc.arrange != nil {
				tc.arrange(t, b)
			}
			got := func() want {
				b.resolver.calls = 0
				m, retry := b.reconcile(t, "a")
				return want{
					said: said(m), version: m.Status.Version, generation: m.Status.ResolvedGeneration,
					handled: m.Status.LastHandledReconcileAt, retry: retry, calls: b.resolver.calls, events: b.events.events,
				}
			}
			if diff := cmp.Diff(tc.want, got(), cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nReconcile(...): -want, +got:\n%s", tc.reason, diff)
			}
			m := b.get(t, "a")
			if ready, resolved := m.Status.GetCondition(xpv2.TypeReady), m.Status.GetCondition(v1alpha1.TypeResolved); ready.Status != resolved.Status ||
				ready.Message != resolved.Message || ready.ObservedGeneration != m.Generation || m.Status.ObservedGeneration != m.Generation {
				t.Errorf("\n%s\nReady must say whether it is resolved as it is: %+v, observed generation %d", tc.reason, ready, m.Status.ObservedGeneration)
			}
			b.writes = 0
			tc.want.calls = 0
			if second := got(); b.writes != 0 || second.said != tc.want.said || len(second.events) != len(tc.want.events) {
				t.Errorf("\n%s\nThe second pass must be quiet, got %d writes, %+v", tc.reason, b.writes, second)
			}
		})
	}
}

// TestAmbiguous checks that if two templates have the same module and channel, neither is used until one of them is deleted.
func TestAmbiguous(t *testing.T) {
	b := newBench(t, template("a", "sample", "regular"))
	b.reconcile(t, "a")
	if err := b.client.Create(t.Context(), template("b", "sample", "regular")); err != nil {
		t.Fatal(err)
	}
	const what = `, so none of them is used: delete all but one, or change their channels`
	for name, other := range map[string]string{"a": "b", "b": "a"} {
		m, retry := b.reconcile(t, name)
		want := `False AmbiguousChannel module "sample" in channel "regular" is also provided by ModuleTemplate ` + other + what
		if said(m) != want || retry {
			t.Errorf("%s: want %q, got %q, retry %t", name, want, said(m), retry)
		}
	}
	if b.resolver.calls != 1 {
		t.Errorf("want the first template resolved only, got %d", b.resolver.calls)
	}
	if err := b.client.Delete(t.Context(), b.get(t, "b")); err != nil {
		t.Fatal(err)
	}
	m, _ := b.reconcile(t, "a")
	if want := "True Resolved module sample version 1.0.0"; said(m) != want || b.resolver.calls != 1 {
		t.Errorf("the former resolution counts again: want %q, got %q, resolved %d times", want, said(m), b.resolver.calls)
	}
	if len(b.events.events) != 3 {
		t.Errorf("want one event for the version, and one for each that is ambiguous, got %q", b.events.events)
	}
}

// TestVerified checks what is reported about signatures.
func TestVerified(t *testing.T) {
	private, key := publicKey(t)
	_, other := publicKey(t)
	unsigned, err := ocm.Decode([]byte(descriptor))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := ocm.Sign(unsigned, "module-signature", private)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, template("a", "sample", "regular"))
	b.resolver.components = []*ocm.Descriptor{signed}
	steps := []struct {
		reason string
		keys   []ocm.Key
		want   string
		ready  string
		again  int
		writes int
	}{
		{reason: "Without keys nothing is said.", want: "Unknown", ready: "True Available", writes: 1},
		{reason: "With keys, what was resolved before is verified.", keys: []ocm.Key{key}, want: "True SignatureValid", ready: "True Available", again: 1, writes: 1},
		{reason: "What was verified with a key is not verified again.", keys: []ocm.Key{key}, want: "True SignatureValid", ready: "True Available"},
		{reason: "With another key it is done again, and stops nothing.", keys: []ocm.Key{other}, want: "False SignatureInvalid", ready: "False SignatureInvalid", again: 1, writes: 1},
		{reason: "A key more is enough.", keys: []ocm.Key{other, key}, want: "True SignatureValid", ready: "True Available", again: 1, writes: 1},
		{reason: "The order of keys does not matter.", keys: []ocm.Key{key, other}, want: "True SignatureValid", ready: "True Available"},
		{reason: "Without keys it is reverted.", want: "Unknown", ready: "True Available", writes: 1},
	}
	for _, s := range steps {
		b.resolver.again, b.writes = 0, 0
		b.r.keys = newKeys(s.keys)
		m, retry := b.reconcile(t, "a")
		c := m.Status.GetCondition(v1alpha1.TypeVerified)
		got := strings.TrimSpace(string(c.Status) + " " + string(c.Reason))
		if got != s.want || b.resolver.again != s.again || b.writes != s.writes || retry {
			t.Errorf("\n%s\nwant %q, got %q %q; %d times, %d writes", s.reason, s.want, got, c.Message, b.resolver.again, b.writes)
		}
		if c := m.Status.GetCondition(xpv2.TypeReady); string(c.Status)+" "+string(c.Reason) != s.ready {
			t.Errorf("\n%s\nwant Ready %q, got %+v", s.reason, s.ready, c)
		}
		if said(m) != "True Resolved module sample version 1.0.0" {
			t.Errorf("\n%s\nResolved is %q", s.reason, said(m))
		}
	}
	if len(b.events.events) != 2 || !strings.HasPrefix(b.events.events[1], "Warning SignatureInvalid ") {
		t.Errorf("want one event of a signature, got %q", b.events.events)
	}
}

// TestConflict checks that a concurrent write of another client is not an error.
func TestConflict(t *testing.T) {
	page := kerrors.NewGenericServerResponse(http.StatusNotFound, "GET", schema.GroupResource{}, "a", "<html>", 0, true)
	cases := map[string]struct {
		reason string
		get    error
		update error
		want   reconcile.Result
		err    bool
	}{
		"GetPage":  {reason: "A page says nothing of the template.", get: page, err: true},
		"Page":     {reason: "A page says nothing of the template.", update: page, err: true},
		"Gone":     {reason: "A template that is gone needs nothing.", get: kerrors.NewNotFound(schema.GroupResource{}, "a")},
		"GetFails": {reason: "An API server that fails is asked again.", get: errors.New("boom"), err: true},
		"Conflict": {reason: "The next pass sees what another client wrote.", update: kerrors.NewConflict(schema.GroupResource{}, "a", nil), want: reconcile.Result{RequeueAfter: cacheDelay}},
		"Fails":    {reason: "A write that fails is tried again.", update: errors.New("boom"), err: true},
		"GoneNow":  {reason: "A template may go meanwhile.", update: kerrors.NewNotFound(schema.GroupResource{}, "a")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.r.client = &test.MockClient{
				MockGet: test.NewMockGetFn(tc.get), MockList: test.NewMockListFn(nil),
				MockStatusUpdate: test.NewMockSubResourceUpdateFn(tc.update),
			}
			got, err := b.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "a"}})
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.err {
				t.Errorf("\n%s\nReconcile(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
