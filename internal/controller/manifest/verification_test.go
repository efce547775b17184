// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// verifierFn is a function that implements Verifier for version 1.0.0 of a component.
type verifierFn func() error

func (f verifierFn) Verify(context.Context, oci.Registries, *v1alpha1.ManifestParameters, []ocm.Key) (module.Root, error) {
	return module.Root{Name: "example.org/module/a", Version: "1.0.0"}, f()
}

// noSecrets is a reader without objects.
type noSecrets struct{}

func (noSecrets) Get(_ context.Context, namespace, name string) (map[string][]byte, error) {
	return nil, &config.MissingError{Object: "Secret " + namespace + "/" + name}
}

func (s noSecrets) GetTyped(ctx context.Context, namespace, name string) (corev1.SecretType, map[string][]byte, error) {
	_, err := s.Get(ctx, namespace, name)
	return "", nil, err
}

func asks(mode v1alpha1.VerificationMode, keys ...string) *v1alpha1.Verification {
	v := &v1alpha1.Verification{Mode: mode}
	for _, k := range keys {
		v.Keys = append(v.Keys, v1alpha1.VerificationKey{SignatureName: k, PublicKeySecretRef: v1alpha1.SecretKeySelector{Name: k, Key: "key"}})
	}
	return v
}

func verifiedCondition(status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) *xpv2.Condition {
	return &xpv2.Condition{Type: v1alpha1.TypeVerified, Status: status, Reason: reason, Message: message}
}

func TestVerify(t *testing.T) {
	const reason = `resource "chart" has another digest than was signed`
	invalid := errors.Wrap(&ocm.VerificationError{Reason: reason}, "outer")
	away := errors.New("host is unknown")
	type want struct {
		condition *xpv2.Condition
		events    []string
		err       string
		asked     int
	}
	cases := map[string]struct {
		reason       string
		verification *v1alpha1.Verification
		before       *xpv2.Condition
		fresh        bool
		result       error
		want         want
	}{
		"None": {
			reason: "Without verification, the condition Verified is removed.",
			before: verifiedCondition(corev1.ConditionFalse, "SignatureInvalid", "old"), result: invalid,
		},
		"Off": {
			reason: "With mode Off, the condition Verified is removed.", verification: asks(v1alpha1.VerificationOff),
			before: verifiedCondition(corev1.ConditionTrue, "SignatureValid", "old"), result: invalid,
		},
		"Unset": {reason: "A mode that is not set is Off.", verification: asks(""), result: invalid},
		"EnforceValid": {
			reason: "Content with a valid signature is applied.", verification: asks(v1alpha1.VerificationEnforce),
			want: want{asked: 1, condition: verifiedCondition(corev1.ConditionTrue, "SignatureValid", "All sources are covered by signature ")},
		},
		"EnforceInvalid": {
			reason: "With mode Enforce, content without a valid signature is not applied.", verification: asks(v1alpha1.VerificationEnforce), result: invalid,
			want: want{
				asked: 1, condition: verifiedCondition(corev1.ConditionFalse, "SignatureInvalid", reason),
				err: "a valid signature is required (ProviderConfig c, spec.verification.mode Enforce): outer: verification failed: " + reason,
			},
		},
		"EnforceAway": {
			reason: "With mode Enforce, content that cannot be verified is not applied.", verification: asks(v1alpha1.VerificationEnforce), result: away,
			before: verifiedCondition(corev1.ConditionTrue, "SignatureValid", "old"),
			want: want{
				asked: 1, condition: verifiedCondition(corev1.ConditionUnknown, "CannotVerify", "host is unknown"),
				err: "a valid signature is required (ProviderConfig c, spec.verification.mode Enforce): host is unknown",
			},
		},
		"EnforceNoKey": {
			reason: "The message names a missing key, and the content is not applied.", verification: asks(v1alpha1.VerificationEnforce, "acme"),
			want: want{
				condition: verifiedCondition(corev1.ConditionUnknown, "CannotVerify",
					`ProviderConfig c: spec.verification.keys["acme"].publicKeySecretRef: Secret n/acme does not exist`),
				err: "Secret n/acme does not exist",
			},
		},
		"WarnValid": {
			reason: "With mode Warn, a valid signature causes no event.", verification: asks(v1alpha1.VerificationWarn),
			want: want{asked: 1, condition: verifiedCondition(corev1.ConditionTrue, "SignatureValid", "All sources are covered by signature ")},
		},
		"WarnInvalid": {
			reason: "With mode Warn, content without a valid signature is applied and causes an event.", verification: asks(v1alpha1.VerificationWarn), result: invalid,
			want: want{
				asked: 1, condition: verifiedCondition(corev1.ConditionFalse, "SignatureInvalid", reason),
				events: []string{"NotVerified: Applied without a valid signature: " + reason},
			},
		},
		"WarnAgain": {
			reason: "With mode Warn, the event is not repeated.", verification: asks(v1alpha1.VerificationWarn), result: invalid,
			before: verifiedCondition(corev1.ConditionFalse, "SignatureInvalid", reason),
			want:   want{asked: 1, condition: verifiedCondition(corev1.ConditionFalse, "SignatureInvalid", reason)},
		},
		"WarnFirst": {
			reason: "The managed reconciler drops the condition in a pass that creates, so the next pass records the event.", verification: asks(v1alpha1.VerificationWarn),
			fresh: true, result: invalid,
			want: want{asked: 1, condition: verifiedCondition(corev1.ConditionFalse, "SignatureInvalid", reason)},
		},
		"WarnAway": {
			reason: "With mode Warn, content that cannot be verified is applied.", verification: asks(v1alpha1.VerificationWarn), result: away,
			want: want{
				asked: 1, condition: verifiedCondition(corev1.ConditionUnknown, "CannotVerify", "host is unknown"),
				events: []string{"NotVerified: Applied without a valid signature: host is unknown"},
			},
		},
		"Unheard": {
			reason: "An unknown mode, for example of a later version, is as strict as Enforce.", verification: asks("Strict"), result: invalid,
			want: want{asked: 1, condition: verifiedCondition(corev1.ConditionFalse, "SignatureInvalid", reason), err: "a valid signature is required"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mr := named("n", "m")
			if !tc.fresh {
				meta.SetExternalName(mr, "n.m")
			}
			if tc.before != nil {
				mr.SetConditions(*tc.before)
			}
			mr.SetConditions(xpv2.Available())
			got, r := want{}, &recorded{}
			c := &connector{secrets: noSecrets{}, record: r, verifier: verifierFn(func() error { got.asked++; return tc.result })}
			cfg := &config.Config{Kind: "ProviderConfig", Name: "c", Namespace: "n", Spec: v1alpha1.ProviderConfigSpec{Verification: tc.verification}}
			report := func() error {
				v := c.verify(t.Context(), cfg, mr)
				(&reporter{recorder: r}).verification(mr, v)
				return v.refusal()
			}
			if err := report(); err != nil {
				got.err = err.Error()
			}
			if tc.want.err != "" && strings.Contains(got.err, tc.want.err) {
				got.err = tc.want.err
			}
			got.events = r.events
			for i := range mr.Status.Conditions {
				if mr.Status.Conditions[i].Type == v1alpha1.TypeVerified {
					got.condition = &mr.Status.Conditions[i]
				}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.IgnoreTypes(metav1.Time{})); diff != "" {
				t.Errorf("\n%s\nverify(...): -want, +got:\n%s", tc.reason, diff)
			}
			if mr.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
				t.Errorf("\n%s\nverify(...) must leave other conditions alone: %v", tc.reason, mr.Status.Conditions)
			}
			before := mr.DeepCopy()
			_ = report()
			if diff := cmp.Diff(before, mr); diff != "" {
				t.Errorf("\n%s\nverify(...) again must change nothing: -want, +got:\n%s", tc.reason, diff)
			}
			mr.Generation = 7
			_ = report()
			if got := mr.GetCondition(v1alpha1.TypeVerified).ObservedGeneration; tc.want.condition != nil && got != mr.Generation {
				t.Errorf("\n%s\nverify(...): the condition is of generation %d, want %d", tc.reason, got, mr.Generation)
			}
		})
	}
}

func TestConnectEnforced(t *testing.T) {
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c"}}
	pc.Spec.Verification = asks(v1alpha1.VerificationEnforce)
	installed := func(m *v1alpha1.Manifest) { meta.SetExternalName(m, "n.m") }
	asked := 0
	c := &connector{
		client:   fake.NewClientBuilder().WithScheme(schemeOf(t)).WithObjects(pc).Build(),
		usage:    tracker(func() error { return nil }),
		clusters: &mockClusters{get: func() (cluster.Cluster, error) { return &aCluster{}, nil }},
		verifier: verifierFn(func() error { asked++; return &ocm.VerificationError{Reason: "no signature"} }),
		engine:   &mockEngine{}, record: &recorded{}, requeuer: requeue.New(t.Context().Done()), memory: &checkpoint.Memory{},
	}
	mr := named("n", "m", uses("c"), installed)
	if e, err := c.Connect(t.Context(), mr); err == nil || e != nil {
		t.Fatalf("Connect(...): want an error and no external client, got %v and %v", err, e)
	}
	at := mr.Status.AtProvider
	if at.State != v1alpha1.StateError || !strings.Contains(at.Message, "no signature") || mr.GetCondition(xpv2.TypeReady).Status != corev1.ConditionFalse {
		t.Errorf("Connect(...): status %+v", mr.Status)
	}
	if _, err := c.Connect(t.Context(), named("n", "m", uses("c"), installed, deleted)); err != nil || asked != 1 {
		t.Errorf("Connect(...): what is removed must not be verified: %v, asked %d times", err, asked)
	}
}

// TestObserveReportsVerification checks that Observe reports the verification result of Connect.
func TestObserveReportsVerification(t *testing.T) {
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c"}}
	pc.Spec.Verification = asks(v1alpha1.VerificationWarn)
	c := &connector{
		client:   fake.NewClientBuilder().WithScheme(schemeOf(t)).WithObjects(pc).Build(),
		usage:    tracker(func() error { return nil }),
		clusters: &mockClusters{get: func() (cluster.Cluster, error) { return &aCluster{}, nil }},
		verifier: verifierFn(func() error { return &ocm.VerificationError{Reason: "no signature"} }),
		engine: &mockEngine{observe: func() (engine.Observation, error) {
			return engine.Observation{Exists: true, UpToDate: true, State: engine.Ready}, nil
		}},
		record: &recorded{}, requeuer: requeue.New(t.Context().Done()), memory: &checkpoint.Memory{},
	}
	mr := named("n", "m", uses("c"))
	e, err := c.Connect(t.Context(), mr)
	if err != nil || len(mr.Status.Conditions) > 0 {
		t.Fatalf("Connect(...): %v, conditions %v", err, mr.Status.Conditions)
	}
	if _, err := e.Observe(t.Context(), mr); err != nil || mr.GetCondition(v1alpha1.TypeVerified).Message != "no signature" {
		t.Errorf("Observe(...): %v, conditions %v", err, mr.Status.Conditions)
	}
}

func TestVerifiedNamesSignature(t *testing.T) {
	got := (&verification{keys: []ocm.Key{{Name: "b"}, {Name: "a"}}}).condition().Message
	if want := "All sources are covered by signature a or b"; got != want {
		t.Errorf("condition(): want %q, got %q", want, got)
	}
}

func TestChangedKeyWakes(t *testing.T) {
	b := fake.NewClientBuilder().WithScheme(schemeOf(t))
	if err := config.Index(t.Context(), indexer{b}); err != nil {
		t.Fatal(err)
	}
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c"}}
	pc.Spec.Verification = asks(v1alpha1.VerificationEnforce, "acme")
	cpc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	cpc.Spec.Verification = asks(v1alpha1.VerificationWarn, "acme")
	cpc.Spec.Verification.Keys[0].PublicKeySecretRef.Namespace = "n"
	of := func(kind string) func(*v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) {
			m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: kind, Name: "c"}
		}
	}
	w := &watches{client: b.WithObjects(pc, cpc,
		named("n", "a", of("ProviderConfig")), named("m", "b", of("ProviderConfig")), named("m", "c", of("ClusterProviderConfig"))).Build()}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "acme"}}
	want := []reconcile.Request{{NamespacedName: key("n", "a")}, {NamespacedName: key("m", "c")}}
	if diff := cmp.Diff(want, w.ofSecret(t.Context(), secret)); diff != "" {
		t.Errorf("a key that is changed must wake the Manifests it is for: -want, +got:\n%s", diff)
	}
}

// indexer adds indexes to a fake client.
type indexer struct {
	builder *fake.ClientBuilder
}

func (i indexer) IndexField(_ context.Context, o client.Object, field string, f client.IndexerFunc) error {
	i.builder.WithIndex(o, field, f)
	return nil
}

func schemeOf(tb testing.TB) *runtime.Scheme {
	tb.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestVerifyLimits checks that a version below the minimum is not applied even if it is signed.
func TestVerifyLimits(t *testing.T) {
	cases := map[string]struct {
		reason  string
		minimum string
		want    string
	}{
		"Below":   {reason: "A signed version below the minimum is refused.", minimum: "1.1.0", want: "component example.org/module/a has version 1.0.0, but verification.minimumVersions of the ProviderConfig requires at least 1.1.0"},
		"Minimum": {reason: "The minimum is applied.", minimum: "1.0.0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mr := named("n", "m")
			v := asks(v1alpha1.VerificationEnforce)
			v.MinimumVersions = []v1alpha1.MinimumVersion{{Component: "example.org/module/a", Version: tc.minimum}}
			c := &connector{secrets: noSecrets{}, record: &recorded{}, verifier: verifierFn(func() error { return nil })}
			cfg := &config.Config{Kind: "ProviderConfig", Name: "c", Namespace: "n", Spec: v1alpha1.ProviderConfigSpec{Verification: v}}
			err := c.verify(t.Context(), cfg, mr).refusal()
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nverify(...): want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
