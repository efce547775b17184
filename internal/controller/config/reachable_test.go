// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/target/connection"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// fakeConnection returns a fixed outcome, version and UID.
type fakeConnection struct {
	host    string
	outcome transport.Outcome
	version string
	uid     string
	asking  bool
	err     error
}

func (c *fakeConnection) Host() string                   { return c.host }
func (c *fakeConnection) Outcome() transport.Outcome     { return c.outcome }
func (c *fakeConnection) LastVersion() string            { return c.version }
func (c *fakeConnection) LastUID() (string, bool, error) { return c.uid, !c.asking, c.err }

// events contains the recorded events, as type, reason and message.
type events struct {
	event.NopRecorder

	all []string
}

func (r *events) Event(_ runtime.Object, e event.Event) {
	r.all = append(r.all, string(e.Type)+" "+string(e.Reason)+" "+e.Message)
}

func connected() transport.Outcome {
	return transport.Outcome{State: transport.Connected, Message: "API server https://a:6443 responds"}
}

func down() transport.Outcome {
	return transport.Outcome{State: transport.Unreachable, Message: "API server https://a:6443: connection refused"}
}

// reported returns the status of a config, with each condition as type, status, reason and message.
type reported struct {
	Conditions []string
	Version    string
	UID        string
	Endpoint   string
}

func reportedBy(s *v1alpha1.ProviderConfigStatus) reported {
	out := reported{Version: s.KubernetesVersion, UID: s.ClusterUID, Endpoint: s.Endpoint}
	for _, c := range s.Conditions {
		out.Conditions = append(out.Conditions, strings.TrimSpace(strings.Join([]string{string(c.Type), string(c.Status), string(c.Reason), c.Message}, " ")))
	}
	return out
}

func up(version string) reported {
	return reported{
		Conditions: []string{"Reachable True Connected API server https://a:6443 responds", "Ready True Available API server https://a:6443 responds"},
		Version:    version, Endpoint: "a:6443",
	}
}

// stalled returns the conditions of a config that does not work until someone changes something.
func stalled(reason, message string) []string {
	c := conditionsOf(reason, message)
	return slices.Insert(c, len(c)-1, fmt.Sprintf("Stalled True %s %s", reason, message), fmt.Sprintf("LastAsyncOperation False %s %s", reason, message))
}

// conditionsOf returns the conditions Reachable and Ready, both False with the same reason.
func conditionsOf(reason, message string) []string {
	return []string{"Reachable False " + reason + " " + message, "Ready False " + reason + " " + message}
}

// TestReachable checks what each pass reports, one step after another, and that a second pass writes nothing.
func TestReachable(t *testing.T) {
	type want struct {
		reported

		events []string
		// logged is true if there is a line in the log without an event.
		logged bool
		writes int
		wait   time.Duration
	}
	type step struct {
		reason string
		do     func(t *testing.T, a *Attempts, c *fakeConnection, s *v1alpha1.ProviderConfigStatus)
		want   want
	}
	cfg := func(generation int64) *Config {
		return &Config{Kind: v1alpha1.ProviderConfigKind, Namespace: "n", Name: "c", Generation: generation}
	}
	connect := func(o transport.Outcome) func(*testing.T, *Attempts, *fakeConnection, *v1alpha1.ProviderConfigStatus) {
		return func(_ *testing.T, a *Attempts, c *fakeConnection, _ *v1alpha1.ProviderConfigStatus) {
			c.outcome, c.asking = o, false
			a.Connected("user", cfg(1), c)
		}
	}
	const refused = "API server https://a:6443: connection refused"
	replaced := &connection.ReplacedError{Host: "https://a:6443", Before: "a", Now: "b"}
	cases := map[string][]step{
		"Replaced": {
			{
				reason: "The cluster is reachable.", do: connect(connected()),
				want: want{reported: up("v1.36.3"), logged: true, writes: 1},
			},
			{
				reason: "If a different cluster responds, the connection cannot be used.",
				do:     func(_ *testing.T, _ *Attempts, c *fakeConnection, _ *v1alpha1.ProviderConfigStatus) { c.err = replaced },
				want: want{
					reported: reported{Conditions: conditionsOf("Unreachable", replaced.Error()), Version: "v1.36.3", Endpoint: "a:6443"},
					events:   []string{"Warning Unreachable " + replaced.Error()}, writes: 1,
				},
			},
			{
				reason: "The connection is closed, and its last outcome no longer counts.",
				do: func(_ *testing.T, _ *Attempts, c *fakeConnection, _ *v1alpha1.ProviderConfigStatus) {
					c.err = errors.Wrap(transport.ErrClosed, "cannot get the UID")
				},
				want: want{
					reported: reported{Conditions: conditionsOf("Unreachable", replaced.Error()), Version: "v1.36.3", Endpoint: "a:6443"}, wait: recheckAfter,
				},
			},
		},
		"ComesAndGoes": {
			{reason: "Before an attempt, nothing is reported."},
			{reason: "Nothing is reported about a connection that was not used.", do: connect(transport.Outcome{})},
			{
				reason: "Nothing is reported while the UID is being requested.",
				do: func(_ *testing.T, _ *Attempts, c *fakeConnection, _ *v1alpha1.ProviderConfigStatus) {
					c.outcome, c.asking = connected(), true
				},
			},
			{
				reason: "A connection is reported with the version.", do: connect(connected()),
				want: want{reported: up("v1.36.3"), logged: true, writes: 1},
			},
			{
				reason: "An outage keeps the version.", do: connect(down()),
				want: want{
					reported: reported{Conditions: conditionsOf("Unreachable", refused), Version: "v1.36.3", Endpoint: "a:6443"},
					events:   []string{"Warning Unreachable " + refused}, writes: 1,
				},
			},
			{
				reason: "After an outage, the version may be another one.",
				do: func(_ *testing.T, _ *Attempts, c *fakeConnection, _ *v1alpha1.ProviderConfigStatus) {
					c.outcome, c.version = connected(), "v1.37.0"
				},
				want: want{reported: up("v1.37.0"), events: []string{"Normal Connected API server https://a:6443 responds"}, writes: 1},
			},
			{
				reason: "A version that another part of the provider requested is reported.",
				do: func(_ *testing.T, _ *Attempts, c *fakeConnection, _ *v1alpha1.ProviderConfigStatus) {
					c.version = "v1.38.0"
				},
				want: want{reported: up("v1.38.0"), writes: 1},
			},
			{
				reason: "Without users, nothing is reported.",
				do: func(_ *testing.T, a *Attempts, _ *fakeConnection, _ *v1alpha1.ProviderConfigStatus) {
					a.Forget("user")
				},
				want: want{writes: 1},
			},
		},
		"Credentials": {
			{
				reason: "A config that leads to no connection is reported.",
				do: func(_ *testing.T, a *Attempts, _ *fakeConnection, _ *v1alpha1.ProviderConfigStatus) {
					a.Failed("user", cfg(1), errors.New("there is no key"))
				},
				want: want{
					reported: reported{Conditions: stalled("InvalidCredentials", "there is no key")},
					events:   []string{"Warning InvalidCredentials there is no key"}, writes: 1,
				},
			},
			{
				reason: "Credentials that the API server rejects are reported with another reason, and so with another event.",
				do:     connect(transport.Outcome{State: transport.Unauthorized, Message: "no"}),
				want: want{
					reported: reported{Conditions: stalled("Unauthorized", "no"), Endpoint: "a:6443"},
					events:   []string{"Warning Unauthorized no"}, writes: 1,
				},
			},
		},
		"Restart": {
			{
				reason: "After a restart, the provider reads its last report, and sends no request.",
				do: func(t *testing.T, _ *Attempts, _ *fakeConnection, s *v1alpha1.ProviderConfigStatus) {
					t.Helper()
					s.Endpoint, s.KubernetesVersion, s.Users = "a:6443", "v1.36.3", 1
					long := metav1.NewTime(time.Now().Add(-time.Hour))
					message := connected().Message
					s.Conditions = []xpv2.Condition{
						{Type: v1alpha1.TypeReachable, Status: "True", Reason: v1alpha1.ReasonConnected, Message: message, ObservedGeneration: 1, LastTransitionTime: long},
						{Type: xpv2.TypeReady, Status: "True", Reason: xpv2.ReasonAvailable, Message: message, ObservedGeneration: 1, LastTransitionTime: long},
					}
				},
				want: want{reported: up("v1.36.3")},
			},
			{reason: "The connection connects.", do: connect(connected()), want: want{reported: up("v1.36.3")}},
		},
		"Hostile": {
			{
				reason: "A response that is not a version is not included in the message.",
				do: func(_ *testing.T, a *Attempts, c *fakeConnection, _ *v1alpha1.ProviderConfigStatus) {
					c.outcome, c.version = connected(), "v1\x1b[2J"
					a.Connected("user", cfg(1), c)
				},
				want: want{reported: up(""), logged: true, writes: 1},
			},
		},
		"NoVersion": {
			{
				reason: "A cluster that does not return a version is reachable.",
				do: func(_ *testing.T, a *Attempts, c *fakeConnection, _ *v1alpha1.ProviderConfigStatus) {
					c.outcome, c.version, c.err = connected(), "", errors.New("forbidden")
					a.Connected("user", cfg(1), c)
				},
				want: want{reported: up(""), logged: true, writes: 1},
			},
		},
	}
	for name, steps := range cases {
		t.Run(name, func(t *testing.T) {
			b := newReachableBench(t)
			for _, s := range steps {
				b.now = b.now.Add(time.Minute)
				if s.do != nil {
					b.change(t, func(status *v1alpha1.ProviderConfigStatus) { s.do(t, b.attempts, b.connection, status) })
				}
				b.writes, b.log.n, b.events.all = 0, 0, nil
				got := want{wait: b.reconcile(t), reported: reportedBy(&b.config(t).Status), events: b.events.all, writes: b.writes}
				got.logged = b.log.n == 1 && len(got.events) == 0
				if b.log.n != 1 && len(got.events) > 0 {
					t.Errorf("\n%s\nwant a line in the log for each event, got %d lines and %v", s.reason, b.log.n, b.events.all)
				}
				if diff := cmp.Diff(s.want, got, cmp.AllowUnexported(want{})); diff != "" {
					t.Errorf("\n%s\nReconcile(...): -want, +got:\n%s", s.reason, diff)
				}
				b.writes = 0
				if b.reconcile(t); b.writes != 0 {
					t.Errorf("\n%s\nthe second pass writes %d times", s.reason, b.writes)
				}
			}
		})
	}
}

// TestFlapping checks that a flapping connection causes few writes.
func TestFlapping(t *testing.T) {
	b := newReachableBench(t)
	b.connection.outcome = connected()
	b.attempts.Connected("user", &Config{Kind: v1alpha1.ProviderConfigKind, Namespace: "n", Name: "c"}, b.connection)
	b.reconcile(t)
	b.connection.outcome = down()
	b.now = b.now.Add(2 * time.Second)
	if wait := b.reconcile(t); wait != 3*time.Second || b.writes != 1 {
		t.Errorf("2 seconds after a change, the next one must wait for 3 seconds: waits %s, %d writes", wait, b.writes)
	}
	b.now = b.now.Add(3 * time.Second)
	if wait := b.reconcile(t); wait != 0 || b.writes != 2 {
		t.Errorf("5 seconds after a change, the next one is written: waits %s, %d writes", wait, b.writes)
	}
}

// TestConnectionLine checks the lines about a connection in the log.
func TestConnectionLine(t *testing.T) {
	b := newReachableBench(t)
	b.connection.outcome = connected()
	b.attempts.Connected("user", &Config{Kind: v1alpha1.ProviderConfigKind, Namespace: "n", Name: "c"}, b.connection)
	b.reconcile(t)
	s := &b.config(t).Status
	fields := func(from, to string) []any {
		return []any{
			"kind", "ProviderConfig", "namespace", "n", "name", "c", "cluster", "ProviderConfig n/c", "uid", s.ClusterUID, "endpoint", s.Endpoint,
			"from", from, "to", to,
		}
	}
	if diff := cmp.Diff(fields("", "Connected"), b.log.last); diff != "" || s.Endpoint == "" {
		t.Errorf("of the first connection: -want, +got:\n%s", diff)
	}
	b.connection.outcome, b.now = down(), b.now.Add(time.Hour)
	b.reconcile(t)
	if diff := cmp.Diff(append(fields("Connected", "Unreachable"), "duration", "1h0m0s"), b.log.last); diff != "" {
		t.Errorf("an hour later: -want, +got:\n%s", diff)
	}
}

// A reachableBench is a control plane with one ProviderConfig.
type reachableBench struct {
	client     client.Client
	attempts   *Attempts
	connection *fakeConnection
	events     *events
	now        time.Time
	writes     int
	log        *lines
	r          *reachable
}

// lines is a logger that counts its lines about connections that changed, and keeps the fields of the last one.
type lines struct {
	logging.Logger

	n    int
	last []any
}

func (l *lines) Info(message string, fields ...any) {
	if message == "Connection changed" && len(fields)%2 == 0 {
		l.n, l.last = l.n+1, fields
	}
}

func newReachableBench(t *testing.T) *reachableBench {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	b := &reachableBench{
		attempts: NewAttempts(), connection: &fakeConnection{host: "https://a:6443", version: "v1.36.3"}, events: &events{}, log: &lines{},
		now: time.Now().Truncate(time.Second),
	}
	b.client = fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&v1alpha1.ProviderConfig{}).
		WithObjects(&v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c"}}).
		WithIndex(&v1alpha1.Manifest{}, indexConfig, configOf).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
				b.writes++
				return c.SubResource(sub).Update(ctx, obj, opts...)
			},
		}).Build()
	b.r = &reachable{
		client: b.client, attempts: b.attempts, kind: v1alpha1.ProviderConfigKind, record: b.events, log: b.log, now: func() time.Time { return b.now },
		fresh: func() (resource.ProviderConfig, *v1alpha1.ProviderConfigStatus) {
			c := &v1alpha1.ProviderConfig{}
			return c, &c.Status
		},
	}
	return b
}

func (b *reachableBench) config(t *testing.T) *v1alpha1.ProviderConfig {
	t.Helper()
	c := &v1alpha1.ProviderConfig{}
	if err := b.client.Get(t.Context(), types.NamespacedName{Namespace: "n", Name: "c"}, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// change changes the objects before a pass.
func (b *reachableBench) change(t *testing.T, f func(s *v1alpha1.ProviderConfigStatus)) {
	t.Helper()
	c := b.config(t)
	f(&c.Status)
	if err := b.client.Status().Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// reconcile reconciles the config, and returns the delay of the next pass.
func (b *reachableBench) reconcile(t *testing.T) time.Duration {
	t.Helper()
	res, err := b.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "n", Name: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	return res.RequeueAfter
}
