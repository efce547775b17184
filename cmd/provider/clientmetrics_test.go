// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clientmetrics "k8s.io/client-go/tools/metrics"
	registry "sigs.k8s.io/controller-runtime/pkg/metrics"
)

// TestLimitClientMetrics checks that only the host of the control plane is a label of a metric, however many target clusters there are.
func TestLimitClientMetrics(t *testing.T) {
	before := clientmetrics.RequestResult
	t.Cleanup(func() { clientmetrics.RequestResult = before })
	server := func() *rest.Config {
		s := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(s.Close)
		return &rest.Config{Host: s.URL}
	}
	control := server()
	if err := limitClientMetrics(control); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*rest.Config{control, server(), server()} {
		client, err := kubernetes.NewForConfig(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Discovery().ServerVersion(); err == nil {
			t.Error("want an error from a server without an API")
		}
	}
	families, err := registry.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range families {
		if f.GetName() != "rest_client_requests_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "host" {
					got = append(got, "http://"+l.GetValue())
				}
			}
		}
	}
	if diff := cmp.Diff([]string{control.Host}, got); diff != "" {
		t.Errorf("hosts of rest_client_requests_total: -want, +got:\n%s", diff)
	}
}
