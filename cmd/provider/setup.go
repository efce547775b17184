// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	manifestcontroller "github.com/crossplane-contrib/provider-kyma/internal/controller/manifest"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/advice"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/namespaces"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/secrets"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/cloud"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
	"github.com/crossplane-contrib/provider-kyma/internal/target"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// setup sets up the controllers. local configures access to the control plane, and lead decides what this process may write. The returned
// function closes resources that the manager doesn't close.
func setup(
	ctx context.Context, mgr ctrl.Manager, local *rest.Config, m *metrics.Metrics, f *flags, lead *leadership, log logging.Logger,
) (func(), error) {
	keys, err := verificationKeys(f.moduleKeys)
	if err != nil {
		return nil, errors.Wrap(err, "--module-verification-key")
	}
	guard, err := f.guard(os.Getenv("KUBERNETES_SERVICE_HOST"))
	if err != nil {
		return nil, err
	}
	limits := archiveLimits(archive.Limits{Compressed: f.maxArchive, Uncompressed: f.maxUnpacked, Files: f.maxFiles}, log)
	puller, err := newPuller(f, pull.WithLimits(limits), pull.WithGuard(guard), pull.WithObserver(m.StepSeconds.Of("pull")))
	if err != nil {
		return nil, err
	}
	renderer, endRenderer, err := rendering(f, m.StepSeconds.Of("render"), log)
	if err != nil {
		return nil, err
	}
	options, disconnect, err := controllerOptions(f, log)
	if err != nil {
		return nil, err
	}
	notify, attempts := &changes{}, config.NewAttempts()
	pool := newPool(notify, attempts, target.WithLocal(local), target.WithUserAgent(userAgent()), target.WithMetrics(m), target.WithLogger(log),
		target.WithGuard(guard), target.WithParkAfter(f.parkAfter))
	reader := secrets.NewReader(mgr.GetClient(), mgr.GetAPIReader())
	if err := reader.Watch(ctx, mgr.GetCache()); err != nil {
		return nil, err
	}
	targets := &clusters{shards: lead.shards, pool: pool, attempts: attempts, resolver: target.NewResolver(reader, targetPolicy(f))}
	c := &controllers{mgr: mgr, flags: f, metrics: m, notify: notify, attempts: attempts, manifests: manifestcontroller.Options{
		Options: settings.Options{
			Options: options, Timeout: f.timeout, MinPollInterval: f.minPoll, PollJitter: f.jitter(), Priorities: priority.NewTracker(), Shards: lead.shards,
			Queued: m.QueueSeconds.Observe,
		},
		Namespaces:  namespaces.NewReader(mgr.GetAPIReader()),
		Secrets:     reader,
		Access:      config.Access{Get: (&cloud.Identities{}).Identity, AllowTenants: f.allowTenantIdentity, PlainHTTP: f.plainHosts},
		Values:      reader,
		Clusters:    targets,
		Connections: targets,
		Puller:      puller,
		Verifier:    module.NewVerifier(puller),
		Limits:      limits,
		Names:       f.externalNames,
		Origin:      naming.Origin{Predecessors: f.predecessors},
		Engine:      &timedEngine{Engine: manifest.New(append(engineOptions(f, lead), renderer...)...), observe: m.StepSeconds.Of("apply")},
	}, resolver: module.NewResolver(puller, limits), keys: keys}
	if err := begin(ctx, mgr, c.steps(ctx), options); err != nil {
		return nil, err
	}
	return func() {
		pool.Close()
		endRenderer()
		puller.Close()
		disconnect()
	}, nil
}

// targetPolicy returns what the flags allow in ProviderConfigs.
func targetPolicy(f *flags) target.Policy {
	return target.Policy{AllowExec: f.allowExec, AllowFiles: f.allowFiles, AllowTenantIdentity: f.allowTenantIdentity}
}

// userAgent returns the User-Agent header of requests to registries and target clusters.
func userAgent() string { return "provider-kyma/" + version.Version }

// newPool returns the connections to target clusters, which report changes of objects and their own states.
func newPool(notify *changes, attempts *config.Attempts, o ...target.Option) *target.Pool {
	return target.NewPool(manifest.Interpreter(), append(o, target.WithOnChange(notify.notify), target.WithOnRetry(notify.wake),
		target.WithOnOutcome(func(c *target.Cluster) { attempts.Changed(c) }))...)
}

// newPuller returns a client for registries with the cache that the flags set.
func newPuller(f *flags, o ...pull.Option) (*pull.Client, error) {
	c, err := pull.New(append(o, pull.WithUserAgent(userAgent()), pull.WithCacheDir(f.cacheDir), pull.WithCacheSize(f.cacheSize))...)
	return c, errors.Wrap(err, "cannot set up access to registries")
}

// engineOptions returns the options of the engine.
func engineOptions(f *flags, lead *leadership) []manifest.Option {
	out := []manifest.Option{
		manifest.WithInventoryNamespace(f.namespace), manifest.WithConcurrency(f.objectConcurrency), manifest.WithPlanAge(f.poll),
		manifest.WithMessages(advice.Messages()),
	}
	if f.leaderElection {
		out = append(out, manifest.WithGuard(lead.checkWork))
	}
	return out
}

// controllerOptions returns the options that all controllers share, and a function that closes the connection to the change
// log service.
func controllerOptions(f *flags, log logging.Logger) (controller.Options, func(), error) {
	o := controller.Options{
		Logger:                  log,
		MaxConcurrentReconciles: f.concurrency,
		PollInterval:            f.poll,
		Features:                &feature.Flags{},
	}
	if f.managementPolicies {
		o.Features.Enable(feature.EnableBetaManagementPolicies)
	}
	if !f.changeLogs {
		return o, func() {}, nil
	}
	o.Features.Enable(feature.EnableAlphaChangeLogs)
	l, disconnect, err := changeLogs(f.changeLogsSocket)
	o.ChangeLogOptions = l
	return o, disconnect, err
}
