// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"math"
	"net"
	"net/http/httptest"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	changelogs "github.com/crossplane/crossplane-runtime/v2/apis/changelogs/proto/v1alpha1"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
)

// service stores the entries that it receives.
type service struct {
	changelogs.UnimplementedChangeLogServiceServer

	entries chan *changelogs.ChangeLogEntry
}

func (s *service) SendChangeLog(_ context.Context, r *changelogs.SendChangeLogRequest) (*changelogs.SendChangeLogResponse, error) {
	s.entries <- r.GetEntry()
	return &changelogs.SendChangeLogResponse{}, nil
}

// TestChangeLogs checks that an entry contains the managed resource as the control plane has it: the values in its spec, but only
// references to values in Secrets.
func TestChangeLogs(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "c.sock")
	o, stop, err := changeLogs(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	// The service starts after the provider, as it can in a pod.
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server, s := grpc.NewServer(), &service{entries: make(chan *changelogs.ChangeLogEntry, 1)}
	changelogs.RegisterChangeLogServiceServer(server, s)
	go func() { _ = server.Serve(l) }()
	defer server.Stop()
	mr := &v1alpha1.Kyma{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.KymaKind},
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "k"},
		Spec: v1alpha1.KymaSpec{ForProvider: v1alpha1.KymaParameters{Modules: []v1alpha1.Module{{
			Name:       "web",
			Values:     &runtime.RawExtension{Raw: []byte(`{"replicas":2}`)},
			ValuesFrom: []v1alpha1.ValuesReference{{Kind: "Secret", Name: "s"}},
		}}}},
	}
	if err := o.ChangeLogger.Log(t.Context(), mr, changelogs.OperationType_OPERATION_TYPE_UPDATE, errors.New("boom"), nil); err != nil {
		t.Fatal(err)
	}
	e := <-s.entries
	got := []string{e.GetProvider(), e.GetApiVersion(), e.GetKind(), e.GetName(), e.GetErrorMessage()}
	want := []string{"provider-kyma:" + version.Version, "kyma.m.crossplane.io/v1alpha1", "Kyma", "k", "boom"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Log(...): -want, +got:\n%s", diff)
	}
	modules, _, err := unstructured.NestedSlice(e.GetSnapshot().AsMap(), "spec", "forProvider", "modules")
	if err != nil {
		t.Fatal(err)
	}
	wantModules := []any{map[string]any{
		"name": "web", "values": map[string]any{"replicas": 2.0}, "valuesFrom": []any{map[string]any{"kind": "Secret", "name": "s"}},
	}}
	if diff := cmp.Diff(wantModules, modules); diff != "" {
		t.Errorf("modules in the entry of Log(...): -want, +got:\n%s", diff)
	}
}

func TestControllerOptions(t *testing.T) {
	f, err := parse([]string{"--enable-changelogs", "--changelogs-socket-path=/none", "--max-reconcile-rate=3"})
	if err != nil {
		t.Fatal(err)
	}
	o, stop, err := controllerOptions(f, logging.NewNopLogger())
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if o.ChangeLogOptions == nil || !o.Features.Enabled(feature.EnableAlphaChangeLogs) || !o.Features.Enabled(feature.EnableBetaManagementPolicies) ||
		o.MaxConcurrentReconciles != 3 {
		t.Errorf("controllerOptions(...): got %+v", o)
	}
}

func TestLimitMemory(t *testing.T) {
	const mib = 1 << 20
	cases := map[string]struct {
		reason   string
		env      map[string]string
		flags    []string
		provider memlimit.Provider
		want     int64
	}{
		"Limited":   {reason: "The limit is 90 % of the memory limit of the container, without the rendering processes.", provider: memlimit.Limit(1000 * mib), want: 525 * mib},
		"InProcess": {reason: "There are no rendering processes.", flags: []string{"--render-processes=0"}, provider: memlimit.Limit(1000 * mib), want: 900 * mib},
		"Huge":      {reason: "No machine has that much.", flags: []string{"--render-processes=0"}, provider: memlimit.Limit(1 << 63), want: math.MaxInt64 / 10 * 9},
		"Unlimited": {reason: "Without a limit of the container, there is none.", provider: func() (uint64, error) { return 0, memlimit.ErrNoLimit }, want: math.MaxInt64},
		"NoCgroup":  {reason: "Outside of a container, nothing changes.", provider: func() (uint64, error) { return 0, errors.New("boom") }, want: 77 * mib},
		"Explicit":  {reason: "GOMEMLIMIT takes precedence.", env: map[string]string{"GOMEMLIMIT": "77MiB"}, provider: memlimit.Limit(1000 * mib), want: 77 * mib},
		"Off":       {reason: "An environment variable disables it.", env: map[string]string{"AUTOMEMLIMIT": "off"}, provider: memlimit.Limit(1000 * mib), want: 77 * mib},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := debug.SetMemoryLimit(77 * mib)
			defer debug.SetMemoryLimit(before)
			unset(t, "GOMEMLIMIT", "AUTOMEMLIMIT")
			for k, v := range tc.env {
				t.Setenv(k, v)
			}
			f, err := parse(tc.flags)
			if err != nil {
				t.Fatal(err)
			}
			limitMemory(f, tc.provider, logging.NewNopLogger())
			if got := debug.SetMemoryLimit(-1); got != tc.want {
				t.Errorf("\n%s\nlimitMemory(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

func TestLimitGarbage(t *testing.T) {
	cases := map[string]struct {
		reason string
		gogc   string
		limit  int64
		want   int
	}{
		"Limited":   {reason: "A process with a memory limit leaves a part of it for bursts.", limit: 1 << 30, want: gcPercent},
		"Unlimited": {reason: "Without a limit, the default of Go applies.", limit: math.MaxInt64, want: 100},
		"Explicit":  {reason: "GOGC takes precedence.", gogc: "100", limit: 1 << 30, want: 100},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			limit, percent := debug.SetMemoryLimit(tc.limit), debug.SetGCPercent(100)
			defer debug.SetMemoryLimit(limit)
			defer debug.SetGCPercent(percent)
			t.Setenv("GOGC", tc.gogc)
			limitGarbage()
			if got := debug.SetGCPercent(100); got != tc.want {
				t.Errorf("\n%s\nwant %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

func TestVerbOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		method string
		url    string
		want   string
	}{
		"List":   {reason: "By default, the verb is the method.", method: "GET", url: "/apis/kyma.m.crossplane.io/v1alpha1/kymas", want: "GET"},
		"Watch":  {reason: "A watch has its own verb.", method: "GET", url: "/api/v1/secrets?watch=true", want: "WATCH"},
		"Create": {reason: "A POST that creates an object is a write.", method: "POST", url: "/api/v1/namespaces/n/events", want: "POST"},
		"Review": {reason: "A POST that creates an access review is not a write.", method: "POST", url: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", want: "REVIEW"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), tc.method, tc.url, nil)
			if got := verbOf(r); got != tc.want {
				t.Errorf("\n%s\nverbOf(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
