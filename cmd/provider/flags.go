// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/version"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// flags of the command. Each can be given as an environment variable too, in capitals and with underscores.
type flags struct {
	debug                   bool
	sync                    time.Duration
	poll                    time.Duration
	pollJitter              uint
	minPoll                 time.Duration
	timeout                 time.Duration
	concurrency             int
	leaderElection          bool
	leaderElectionNamespace string
	managementPolicies      bool
	changeLogs              bool
	changeLogsSocket        string
	metricsAddress          string
	probeAddress            string
	stateMetric             time.Duration

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

	moduleKeys           []string
	moduleRegistryConfig string
	controlPlaneConfig   string
}

func parse(args []string) (*flags, error) {
	f := &flags{}
	if _, err := application(f).Parse(args); err != nil {
		return nil, err
	}
	return f, f.validate()
}

// validate what the types of the flags do not.
func (f *flags) validate() error {
	if f.pollJitter >= 100 {
		return errors.Errorf("--poll-jitter-percentage is %d and must be less than 100", f.pollJitter)
	}
	if f.concurrency < 1 {
		return errors.Errorf("--max-reconcile-rate is %d and must be at least 1", f.concurrency)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"poll", f.poll}, {"timeout", f.timeout}, {"poll-state-metric", f.stateMetric}} {
		if d.value <= 0 {
			return errors.Errorf("--%s is %s and must be more than 0", d.name, d.value)
		}
	}
	return nil
}

// application that fills the flags.
func application(f *flags) *kingpin.Application {
	app := kingpin.New("provider", "Crossplane provider that installs modules into Kubernetes clusters.").DefaultEnvars()
	app.Version(version.Get().String())
	app.UsageWriter(os.Stdout)
	app.HelpFlag.Short('h')
	f.process(app)
	f.work(app)
	f.trust(app)
	f.modules(app)
	for name, variable := range standardVariables() {
		if flag := app.GetFlag(name); os.Getenv(variableOf(name)) == "" {
			flag.Envar(variable)
		}
	}
	return app
}

// jitter is the share of the poll interval by which it varies.
func (f *flags) jitter() float64 { return float64(f.pollJitter) / 100 }

// standardVariables are the environment variables that users of other providers know flags by. Those with our prefix win.
func standardVariables() map[string]string {
	return map[string]string{
		"leader-election":            "LEADER_ELECTION",
		"leader-election-namespace":  "POD_NAMESPACE",
		"enable-management-policies": "ENABLE_MANAGEMENT_POLICIES",
		"enable-changelogs":          "ENABLE_CHANGE_LOGS",
		"changelogs-socket-path":     "CHANGELOGS_SOCKET_PATH",
		"metrics-bind-address":       "METRICS_BIND_ADDRESS",
	}
}

// variableOf a flag, with our prefix, as kingpin calls it.
func variableOf(name string) string {
	return strings.ToUpper("provider_" + strings.ReplaceAll(name, "-", "_"))
}

func (f *flags) process(app *kingpin.Application) {
	app.Flag("debug", "Log at debug level.").Short('d').BoolVar(&f.debug)
	app.Flag("leader-election", "Work only while holding the lease of the leader.").Short('l').BoolVar(&f.leaderElection)
	app.Flag("leader-election-namespace", "Namespace of the lease; by default that of the pod. Needed outside of a pod.").
		PlaceHolder("NAMESPACE").StringVar(&f.leaderElectionNamespace)
	app.Flag("sync", "Interval of a full resync of all resources.").Short('s').Default("1h").DurationVar(&f.sync)
	app.Flag("metrics-bind-address", "Address of the metrics; 0 turns them off.").Default(":8080").StringVar(&f.metricsAddress)
	app.Flag("health-probe-bind-addr", "Address of the probes.").Default(":8081").StringVar(&f.probeAddress)
	app.Flag("poll-state-metric", "How often the metrics of the states of managed resources are taken.").Default("5s").DurationVar(&f.stateMetric)
	app.Flag("enable-management-policies", "Respect spec.managementPolicies.").Default("true").BoolVar(&f.managementPolicies)
	app.Flag("enable-changelogs", "Send each change of a managed resource to a change log service.").BoolVar(&f.changeLogs)
	app.Flag("changelogs-socket-path", "Unix socket of that service.").Default("/var/run/changelogs/changelogs.sock").StringVar(&f.changeLogsSocket)
}

func (f *flags) work(app *kingpin.Application) {
	app.Flag("poll", "Interval in which a Manifest is checked if no event triggers it.").Default("10m").DurationVar(&f.poll)
	app.Flag("poll-jitter-percentage", "Percentage of its interval by which each poll comes sooner or later.").Default("10").UintVar(&f.pollJitter)
	app.Flag("min-poll-interval", "The shortest interval that annotation crossplane.io/poll-interval may ask for.").Default("10s").DurationVar(&f.minPoll)
	app.Flag("timeout", "How long one pass over a Manifest may take.").Default("2m").DurationVar(&f.timeout)
	app.Flag("max-reconcile-rate", "How many Manifests are worked on at the same time.").Default("10").IntVar(&f.concurrency)
	app.Flag("max-object-concurrency", "How many objects of one Manifest are applied at the same time.").Default("8").IntVar(&f.objectConcurrency)
	app.Flag("inventory-namespace", "Namespace in the target cluster that holds the inventories; never change it while modules are installed.").
		Default(manifest.DefaultNamespace).StringVar(&f.namespace)
	app.Flag("cache-dir", "Directory for the cache of pulled blobs.").Default(filepath.Join(os.TempDir(), "provider-kyma")).StringVar(&f.cacheDir)
	app.Flag("cache-size", "Size of that directory in bytes; the least recently used blobs go first.").Default("1073741824").Int64Var(&f.cacheSize)
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

func (f *flags) modules(app *kingpin.Application) {
	app.Flag("module-verification-key", "Public key as PEM, for signatures of a name, that ModuleTemplates are verified with. May be given several times.").
		PlaceHolder("NAME=FILE").StringsVar(&f.moduleKeys)
	app.Flag("module-registry-config", "ClusterProviderConfig whose registries the components of ModuleTemplates are fetched from; by default any, anonymously.").
		PlaceHolder("NAME").StringVar(&f.moduleRegistryConfig)
	app.Flag("control-plane-config", "ClusterProviderConfig that modules with target control-plane are installed with.").
		Default("control-plane").StringVar(&f.controlPlaneConfig)
}
