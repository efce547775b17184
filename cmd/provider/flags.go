// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/crossplane-contrib/provider-kyma/internal/version"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// flags of the command. Each can be given as an environment variable too, in capitals and with underscores.
type flags struct {
	debug              bool
	sync               time.Duration
	poll               time.Duration
	minPoll            time.Duration
	timeout            time.Duration
	concurrency        int
	leaderElection     bool
	managementPolicies bool
	metricsAddress     string
	probeAddress       string
	stateMetric        time.Duration

	cacheDir          string
	cacheSize         int64
	maxArchive        int64
	maxUnpacked       int64
	maxFiles          int
	namespace         string
	objectConcurrency int

	allowExec           bool
	allowFiles          bool
	allowTenantIdentity bool
}

func parse(args []string) (*flags, error) {
	f := &flags{}
	_, err := application(f).Parse(args)
	return f, err
}

// application that fills the flags.
func application(f *flags) *kingpin.Application {
	app := kingpin.New("provider", "Crossplane provider that installs modules into Kubernetes clusters.").DefaultEnvars()
	app.Version(version.Version)
	app.HelpFlag.Short('h')
	f.process(app)
	f.work(app)
	f.trust(app)
	return app
}

func (f *flags) process(app *kingpin.Application) {
	app.Flag("debug", "Log at debug level.").Short('d').BoolVar(&f.debug)
	app.Flag("leader-election", "Work only while holding the lease of the leader.").Short('l').BoolVar(&f.leaderElection)
	app.Flag("sync", "How often all resources are looked at, whatever is known of them.").Short('s').Default("1h").DurationVar(&f.sync)
	app.Flag("metrics-bind-address", "Address of the metrics; 0 turns them off.").Default(":8080").StringVar(&f.metricsAddress)
	app.Flag("health-probe-bind-addr", "Address of the probes.").Default(":8081").StringVar(&f.probeAddress)
	app.Flag("poll-state-metric", "How often the metrics of the states of managed resources are taken.").Default("5s").DurationVar(&f.stateMetric)
	app.Flag("enable-management-policies", "Respect spec.managementPolicies.").Default("true").BoolVar(&f.managementPolicies)
}

func (f *flags) work(app *kingpin.Application) {
	app.Flag("poll", "How often a Manifest is looked at when no event asks for it.").Default("10m").DurationVar(&f.poll)
	app.Flag("min-poll-interval", "The shortest interval that annotation crossplane.io/poll-interval may ask for.").Default("10s").DurationVar(&f.minPoll)
	app.Flag("timeout", "How long one pass over a Manifest may take.").Default("2m").DurationVar(&f.timeout)
	app.Flag("max-reconcile-rate", "How many Manifests are worked on at the same time.").Default("10").IntVar(&f.concurrency)
	app.Flag("max-object-concurrency", "How many objects of one Manifest are applied at the same time.").Default("8").IntVar(&f.objectConcurrency)
	app.Flag("inventory-namespace", "Namespace in the target cluster that holds the inventories; never change it while modules are installed.").
		Default(manifest.DefaultNamespace).StringVar(&f.namespace)
	app.Flag("cache-dir", "Folder in which pulled blobs are kept.").Default(filepath.Join(os.TempDir(), "provider-kyma")).StringVar(&f.cacheDir)
	app.Flag("cache-size", "Size of that folder in bytes; the least recently used blobs go first.").Default("1073741824").Int64Var(&f.cacheSize)
	app.Flag("max-archive-size", "Largest chart or layer that is pulled, in bytes.").Default("67108864").Int64Var(&f.maxArchive)
	app.Flag("max-unpacked-size", "Largest size that it may unpack to, in bytes.").Default("536870912").Int64Var(&f.maxUnpacked)
	app.Flag("max-archive-files", "Most files that it may hold.").Default("10000").IntVar(&f.maxFiles)
}

func (f *flags) trust(app *kingpin.Application) {
	app.Flag("allow-kubeconfig-exec", "Allow kubeconfigs to name commands (exec, auth-provider) that run in the provider.").BoolVar(&f.allowExec)
	app.Flag("allow-kubeconfig-files", "Allow kubeconfigs to name files of the provider.").BoolVar(&f.allowFiles)
	app.Flag("allow-tenant-identity", "Allow a namespaced ProviderConfig to use the provider's own identity, files and environment.").
		BoolVar(&f.allowTenantIdentity)
}
