// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
)

// connect returns a simulator in this process.
func connect(t *testing.T) *Simulator {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, socket, "") }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	for {
		client, err := dial(ctx, socket)
		if err == nil {
			t.Cleanup(func() { _ = client.Close() })
			return &Simulator{client: client}
		}
		select {
		case err := <-served:
			t.Fatal(err)
		case <-time.After(pollEvery):
		}
	}
}

// TestCalls checks each call through the socket.
func TestCalls(t *testing.T) {
	s := connect(t)
	first, err := s.Add("c1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add("c1"); err == nil {
		t.Error("a cluster can be added twice")
	}
	second, err := s.Rotate("c1")
	if err != nil || string(first) == string(second) || !strings.Contains(string(second), "c1.fleet.test") {
		t.Errorf("the kubeconfig does not have another token: %v, %s", err, second)
	}
	if err := s.SetFault([]string{"c1"}, apiserver.Fault{Mode: apiserver.Forbidden, Latency: time.Second}); err != nil {
		t.Error(err)
	}
	if err := s.SetFault([]string{"c1"}, apiserver.Fault{Mode: apiserver.Replaced}); err != nil {
		t.Error(err)
	}
	if created, err := s.Created([]string{"c1", "other"}); err != nil || len(created) != 0 {
		t.Errorf("objects were created in a cluster that responded instead of another one: %v, %v", created, err)
	}
	if err := s.SetFault([]string{"other"}, apiserver.Fault{}); err == nil {
		t.Error("a cluster that does not exist fails")
	}
	if count, err := s.Count(); err != nil || len(count.Requests) != 0 {
		t.Errorf("there are requests: %v, %v", count, err)
	}
	if n, err := s.CountOf([]string{"c1"}); err != nil || n != 0 {
		t.Errorf("there are requests: %v, %v", n, err)
	}
	if _, err := s.CountOf([]string{"other"}); err == nil {
		t.Error("a cluster that does not exist has requests")
	}
	if unknown, err := s.Unknown(); err != nil || len(unknown) != 0 {
		t.Errorf("there are unknown calls: %v, %v", unknown, err)
	}
	namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	f := Field{Clusters: []string{"c1"}, Resource: namespaces, Names: []string{"default"}, Path: []string{"metadata", "name"}, Value: "default"}
	if _, err := s.Await(t.Context(), f); err != nil {
		t.Errorf("the value is there: %v", err)
	}
	f.Absent = true
	if _, err := s.Await(t.Context(), f); !errors.Is(err, ErrTimeout) {
		t.Errorf("an object that exists is not absent: %v", err)
	}
	f.Names = []string{"none"}
	if _, err := s.Await(t.Context(), f); err != nil {
		t.Errorf("an object that does not exist is absent: %v", err)
	}
	f.Absent, f.Names = false, []string{"default"}
	if err := s.Observe(f); err != nil {
		t.Error(err)
	}
	if got, err := s.Observed(); err != nil || len(got["default"]) != 1 || got["default"][0] != "c1" {
		t.Errorf("the cluster that has the value is not recorded: %v, %v", got, err)
	}
	f.Value = "other"
	if err := s.Observe(f); err != nil {
		t.Error(err)
	}
	if got, err := s.Observed(); err != nil || len(got) != 0 {
		t.Errorf("a cluster without the value is recorded: %v, %v", got, err)
	}
	if err := s.Observe(Field{Clusters: []string{"other"}}); err == nil {
		t.Error("a cluster that does not exist is observed")
	}
	if _, err := s.Await(t.Context(), f); !errors.Is(err, ErrTimeout) {
		t.Errorf("the value is not there: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	f.Timeout = time.Second
	if _, err := s.Await(ended, f); !errors.Is(err, context.Canceled) {
		t.Errorf("the wait does not end with its context: %v", err)
	}
	if err := s.Remove("c1"); err != nil {
		t.Error(err)
	}
	if _, err := s.Rotate("c1"); err == nil {
		t.Error("a removed cluster has credentials")
	}
}
