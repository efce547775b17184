// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/gitopstest"
	"github.com/crossplane-contrib/provider-kyma/internal/target"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// TestGitOps checks how GitOps tools assess a ProviderConfig, a ClusterProviderConfig and a ProviderConfigUsage.
func TestGitOps(t *testing.T) {
	cfg := &Config{Kind: v1alpha1.ProviderConfigKind, Namespace: "n", Name: "c"}
	// after returns the config after a pass, while it is in use.
	after := func(arrange func(b *reachableBench)) *v1alpha1.ProviderConfig {
		b := newReachableBench(t)
		b.change(t, func(s *v1alpha1.ProviderConfigStatus) { s.Users = 1 })
		arrange(b)
		b.reconcile(t)
		return b.config(t)
	}
	connect := func(o transport.Outcome) func(b *reachableBench) {
		return func(b *reachableBench) {
			b.connection.outcome = o
			b.attempts.Connected("user", cfg, b.connection)
		}
	}
	unused := after(func(b *reachableBench) {
		connect(transport.Outcome{State: transport.Unauthorized, Message: "no"})(b)
		b.reconcile(t)
		b.attempts.Forget("user")
		b.change(t, func(s *v1alpha1.ProviderConfigStatus) { s.Users = 0 })
	})
	deleted := after(connect(connected()))
	deleted.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time}
	deleted.SetConditions(providerconfig.Terminating())
	cases := map[string]gitopstest.Case{
		"New":       {Reason: "A ProviderConfig that is not in use is healthy.", Object: &v1alpha1.ProviderConfig{}, OK: true, Want: gitopstest.Works},
		"Untried":   {Reason: "The provider has not connected yet.", Object: after(func(*reachableBench) {}), OK: true, Want: gitopstest.Works},
		"Connected": {Reason: "The API server responds.", Object: after(connect(connected())), OK: true, Want: gitopstest.Works},
		"Down":      {Reason: "The API server does not respond.", Object: after(connect(down())), Want: gitopstest.Waits},
		"Refused": {
			Reason: "The API server rejects the credentials.", Object: after(connect(transport.Outcome{State: transport.Unauthorized, Message: "no"})),
			Want: gitopstest.Failed,
		},
		"NoKubeconfig": {
			Reason: "The credentials are not a valid kubeconfig.", Object: after(func(b *reachableBench) { b.attempts.Failed("user", cfg, errors.New("no")) }),
			Want: gitopstest.Failed,
		},
		"NoSecret": {
			Reason: "The Secret does not exist yet.",
			Object: after(func(b *reachableBench) {
				b.attempts.Failed("user", cfg, &target.MissingSecretError{Namespace: "n", Name: "s"})
			}),
			Want: gitopstest.Waits,
		},
		"Unused":   {Reason: "The last resource that used it was deleted.", Object: unused, OK: true, Want: gitopstest.Works},
		"Deleting": {Reason: "It is being deleted.", Object: deleted, Want: gitopstest.Removed},
	}
	// A ClusterProviderConfig has the same status.
	for name, tc := range maps.Clone(cases) {
		c, ok := tc.Object.(*v1alpha1.ProviderConfig)
		if !ok {
			t.Fatalf("%s: want a ProviderConfig, got %T", name, tc.Object)
		}
		tc.Object = &v1alpha1.ClusterProviderConfig{ObjectMeta: c.ObjectMeta, Status: c.Status}
		cases["Cluster"+name] = tc
	}
	cases["Usage"] = gitopstest.Case{Reason: "A ProviderConfigUsage has no status.", Object: &v1alpha1.ProviderConfigUsage{}, OK: true, Want: gitopstest.Works}
	gitopstest.Check(t, cases)
}
