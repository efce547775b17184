// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/target"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// secretFunc reads a Secret.
type secretFunc func() (map[string][]byte, error)

func (f secretFunc) Get(context.Context, string, string) (map[string][]byte, error) { return f() }

func kubeconfigOf(server, token string) map[string][]byte {
	return map[string][]byte{"kubeconfig": fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: c,
		contexts: [{name: c, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: 'https://%s'}}],
		users: [{name: u, user: {token: %s}}]}`, server, token)}
}

func rotating() *config.Config {
	return &config.Config{Kind: v1alpha1.ProviderConfigKind, Namespace: "n", Name: "c", Spec: v1alpha1.ProviderConfigSpec{
		Credentials: v1alpha1.Credentials{Source: v1alpha1.CredentialsSourceSecret, CredentialSelectors: v1alpha1.CredentialSelectors{
			SecretRef: &v1alpha1.SecretKeySelector{Name: "s", Key: "kubeconfig"},
		}},
	}}
}

// TestRotate checks which users of a config must connect again after its Secret has changed. The first two of them have tried to connect
// before.
func TestRotate(t *testing.T) {
	missing := kerrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "s")
	users := []string{"n/a", "n/b", "n/never"}
	cases := map[string]struct {
		reason        string
		before, after map[string][]byte
		failure       error
		unused        bool
		want          []string
		err           bool
	}{
		"Token":   {reason: "The token is replaced.", before: kubeconfigOf("h", "old"), after: kubeconfigOf("h", "new")},
		"Same":    {reason: "Something else in the Secret has changed.", before: kubeconfigOf("h", "old"), after: kubeconfigOf("h", "old")},
		"Server":  {reason: "It is another server.", before: kubeconfigOf("h", "old"), after: kubeconfigOf("i", "new"), want: users[:2]},
		"Fixed":   {reason: "No user could connect.", before: kubeconfigOf("", "old"), after: kubeconfigOf("h", "new"), want: users},
		"Empty":   {reason: "All users report the error.", before: kubeconfigOf("h", "old"), after: map[string][]byte{}, want: users},
		"Missing": {reason: "All users report the error.", before: kubeconfigOf("h", "old"), failure: missing, want: users},
		"Read":    {reason: "The Secret is read again.", before: kubeconfigOf("h", "old"), failure: errors.New("boom"), err: true},
		"Unused":  {reason: "No one uses the config.", unused: true, after: kubeconfigOf("h", "new")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data, failure := tc.before, error(nil)
			pool := target.NewPool(manifest.Interpreter())
			defer pool.Close()
			c := &clusters{pool: pool, attempts: config.NewAttempts(), resolver: target.NewResolver(secretFunc(func() (map[string][]byte, error) {
				return data, failure
			}), target.Policy{})}
			for _, user := range users[:2] {
				if !tc.unused {
					_, _ = c.Get(t.Context(), user, rotating()) // The error is a part of the case.
				}
			}
			data, failure = tc.after, tc.failure
			left, _, err := c.Rotate(t.Context(), rotating(), users)
			if diff := cmp.Diff(tc.want, left); diff != "" || (err != nil) != tc.err {
				t.Errorf("\n%s\nRotate(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestGetDuringRotation checks that an attempt that read a kubeconfig before it changed is repeated, whether the attempt succeeds or fails.
func TestGetDuringRotation(t *testing.T) {
	cases := map[string]struct {
		reason string
		stale  map[string][]byte
	}{
		"Server":  {reason: "The previous server is of no use.", stale: kubeconfigOf("previous", "t")},
		"Invalid": {reason: "The previous error is of no use.", stale: kubeconfigOf("", "t")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var c *clusters
			var reads atomic.Int32
			pool := target.NewPool(manifest.Interpreter())
			defer pool.Close()
			c = &clusters{pool: pool, attempts: config.NewAttempts(), resolver: target.NewResolver(secretFunc(func() (map[string][]byte, error) {
				if reads.Add(1) > 1 {
					return kubeconfigOf("current", "t"), nil
				}
				c.Changed() // Between the read and the use of what was read.
				return tc.stale, nil
			}), target.Policy{})}
			if _, err := c.Get(t.Context(), "n/a", rotating()); err != nil {
				t.Fatalf("\n%s\nGet(...): %v", tc.reason, err)
			}
			last, ok := pool.Last("n/a")
			if !ok || last.Host() != "https://current" {
				t.Errorf("\n%s\nGet(...): want the current server", tc.reason)
			}
			if used, failed := c.attempts.Latest(rotating()); !used || failed {
				t.Errorf("\n%s\nLatest(...): got %t, %t", tc.reason, used, failed)
			}
		})
	}
}
