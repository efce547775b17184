// SPDX-License-Identifier: Apache-2.0

package target

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// version requests the version from the server, without using the cache.
func (c *connected) version(t *testing.T, patience time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return c.REST().Get().AbsPath("/version").Do(ctx).Error()
}

// explained returns the text of an error in a condition.
func explained(err error) string {
	if err == nil {
		return ""
	}
	return transport.Explain(err).Error()
}

func TestStopped(t *testing.T) {
	c := connect(t, server.Config())
	apply(t, manifest.DefaultFieldManager, "set", "configmaps", configMap("stays", "x"))
	if err := c.track(t, configMapKind); err != nil {
		t.Fatal(err)
	}
	server.StopAPIServer()
	want := "API server " + server.URL() + ": connection refused"
	eventually(t, "requests are refused", func() bool { return explained(c.version(t, 20*time.Second)) == want })
	eventually(t, "the watch says why it is not in sync", func() bool { return explained(c.track(t, configMapKind)) == want })
	c.asked()
	for range 1000 {
		if diff := cmp.Diff(want, explained(c.version(t, 20*time.Second))); diff != "" {
			t.Fatalf("-want, +got:\n%s", diff)
		}
	}
	if n := len(c.asked()); n > 50 {
		t.Errorf("want few of 1000 requests sent to a server that is down, got %d", n)
	}
	if err := server.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watch is in sync again", func() bool { return c.track(t, configMapKind) == nil })
	c.silent(t, "nothing has changed")
	remove(t, configMaps, "default", "stays")
	c.heard(t, "set: gone ConfigMap default/stays")
}

func TestFrozen(t *testing.T) {
	c := connect(t, server.Config())
	if err := c.version(t, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	server.Pause()
	want := "API server " + server.URL() + ": timed out"
	// A signal stops threads one by one, and a thread that is still running can respond.
	eventually(t, "the server is frozen", func() bool { return explained(c.version(t, 3*time.Second)) == want })
	start := time.Now()
	for range 100 {
		if diff := cmp.Diff(want, explained(c.version(t, 3*time.Second))); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
	}
	server.Resume()
	if since := time.Since(start); since > 30*time.Second {
		t.Errorf("want 100 callers not to wait one after the other, but they waited %s", since)
	}
	eventually(t, "the server is back", func() bool { return c.version(t, 20*time.Second) == nil })
}
