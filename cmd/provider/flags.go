// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// flags contains the values of the command-line flags. Each flag can also be set by an environment variable, see variableOf.
type flags struct {
	debug                   bool
	sync                    time.Duration
	poll                    time.Duration
	pollJitter              uint
	defaultSpread           time.Duration
	minPoll                 time.Duration
	parkAfter               time.Duration
	timeout                 time.Duration
	concurrency             int
	leaderElection          bool
	leaderElectionNamespace string
	managementPolicies      bool
	changeLogs              bool
	changeLogsSocket        string
	shards                  int
	shardSelector           string
	metricsAddress          string
	pprofAddress            string
	metricsSecure           bool
	metricsCertDir          string
	probeAddress            string

	cacheDir          string
	cacheSize         int64
	maxArchive        int64
	maxUnpacked       int64
	maxFiles          int
	namespace         string
	objectConcurrency int

	renderProcesses int
	renderCPU       time.Duration
	renderMemory    int64
	renderOutput    int64
	renderObjects   int

	allowExec           bool
	allowFiles          bool
	allowTenantIdentity bool
	allowTargets        []string
	denyTargets         []string
	services            []string
	plainHosts          []string
	externalNames       []string
	predecessors        []string

	moduleKeys           []string
	moduleRegistryConfig string
	controlPlaneConfig   string
}

// parse parses and validates the command line.
func parse(args []string) (*flags, error) {
	f := &flags{renderProcesses: automatic, renderMemory: automatic}
	if _, err := application(f).Parse(args); err != nil {
		return nil, err
	}
	return f, f.validate()
}

// validateAddresses returns an error if an address must not be used.
func (f *flags) validateAddresses() error {
	if f.pprofAddress != "" && !isLoopback(f.pprofAddress) {
		return errors.Errorf("--pprof-bind-address must be a loopback address with a port, such as 127.0.0.1:6060, not %q", f.pprofAddress)
	}
	return nil
}

// validate returns an error if a value is out of range.
func (f *flags) validate() error {
	if f.defaultSpread < 0 {
		return errors.Errorf("--default-spread must not be negative, but is %s", f.defaultSpread)
	}
	if f.parkAfter < 0 {
		return errors.Errorf("--park-after must not be negative, but is %s", f.parkAfter)
	}
	if f.pollJitter >= 100 {
		return errors.Errorf("--poll-jitter-percentage must be less than 100, not %d", f.pollJitter)
	}
	if f.metricsCertDir != "" && !f.metricsSecure {
		return errors.New("--metrics-cert-dir requires --metrics-secure")
	}
	if f.concurrency < 1 {
		return errors.Errorf("--max-reconcile-rate must be at least 1, not %d", f.concurrency)
	}
	if err := errors.Join(f.validateAddresses(), f.validateShards()); err != nil {
		return err
	}
	if f.renderProcesses < 0 && f.renderProcesses != automatic {
		return errors.Errorf("--render-processes must be at least 0, not %d", f.renderProcesses)
	}
	if err := f.validatePositive(); err != nil {
		return err
	}
	if err := naming.Allowed(f.externalNames).Validate(); err != nil {
		return errors.Wrap(err, "--allow-external-names")
	}
	_, err := f.guard("")
	return err
}

// isLoopback reports whether an address is a loopback IP address with a port. Profiles contain the memory of the provider, so no other
// machine should read them.
func isLoopback(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().IsLoopback() && at.Port() != 0
}

// validatePositive returns an error if a value that must be greater than 0 is not.
func (f *flags) validatePositive() error {
	for name, n := range map[string]int64{
		"render-memory": f.renderMemory, "render-output": f.renderOutput, "render-objects": int64(f.renderObjects),
	} {
		if n <= 0 && n != automatic {
			return errors.Errorf("--%s must be greater than 0, not %d", name, n)
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"poll", f.poll}, {"render-cpu", f.renderCPU}, {"timeout", f.timeout}} {
		if d.value <= 0 {
			return errors.Errorf("--%s must be greater than 0, not %s", d.name, d.value)
		}
	}
	return nil
}

// application returns the command. Parsing its arguments stores the values of the flags in f.
func application(f *flags) *kingpin.Application {
	app := kingpin.New("provider", "Crossplane provider that installs modules into Kubernetes clusters.").DefaultEnvars()
	app.Version(version.Get().String())
	app.UsageWriter(os.Stdout)
	app.HelpFlag.Short('h')
	f.process(app)
	f.work(app)
	f.rendering(app)
	f.trust(app)
	f.modules(app)
	for name, variable := range standardVariables() {
		if flag := app.GetFlag(name); os.Getenv(variableOf(name)) == "" {
			flag.Envar(variable)
		}
	}
	return app
}

// jitter returns the jitter of the poll interval as a fraction of the interval.
func (f *flags) jitter() float64 { return float64(f.pollJitter) / 100 }

// standardVariables returns the environment variables of flags that other providers use too. Variables with the PROVIDER_
// prefix take precedence.
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

// variableOf returns the environment variable of a flag, as kingpin derives it: PROVIDER_ followed by the name in uppercase
// with underscores.
func variableOf(name string) string {
	return strings.ToUpper("provider_" + strings.ReplaceAll(name, "-", "_"))
}

func (f *flags) process(app *kingpin.Application) {
	app.Flag("debug", "Log at debug level.").Short('d').BoolVar(&f.debug)
	app.Flag("leader-election", "Enable leader election, so that only one replica is active. Disable it only if there is never more than one replica.").
		Short('l').Default("true").BoolVar(&f.leaderElection)
	app.Flag("leader-election-namespace", "Namespace of the leader election Lease. Defaults to the namespace of the pod, or \"default\" outside a pod.").
		PlaceHolder("NAMESPACE").StringVar(&f.leaderElectionNamespace)
	app.Flag("shards", "Number of shards into which replicas divide the ProviderConfigs, with everything that uses them. If 1, one replica does all work. "+
		"All replicas must have the same value.").Default("1").IntVar(&f.shards)
	app.Flag("shard-selector", "Shards that this replica can hold, for example 0,3-5. By default, it can hold all.").
		PlaceHolder("SHARDS").StringVar(&f.shardSelector)
	app.Flag("sync", "Interval between full resyncs of all resources.").Short('s').Default("1h").DurationVar(&f.sync)
	app.Flag("pprof-bind-address", "Loopback address that the pprof endpoint binds to, for example 127.0.0.1:6060. By default, the endpoint is disabled.").
		StringVar(&f.pprofAddress)
	app.Flag("metrics-bind-address", "Address that the metrics endpoint binds to. 0 disables the endpoint.").Default(":8080").StringVar(&f.metricsAddress)
	app.Flag("metrics-secure", "Serve metrics over TLS, and only to clients that are allowed to get /metrics in the control plane.").BoolVar(&f.metricsSecure)
	app.Flag("metrics-cert-dir", "Directory with tls.crt and tls.key for the metrics endpoint. By default, the certificate is self-signed.").
		PlaceHolder("DIR").StringVar(&f.metricsCertDir)
	app.Flag("health-probe-bind-addr", "Address that the health and readiness probe endpoints bind to.").Default(":8081").StringVar(&f.probeAddress)
	app.Flag("enable-management-policies", "Enable support for spec.managementPolicies.").Default("true").BoolVar(&f.managementPolicies)
	app.Flag("enable-changelogs", "Send every change to managed resources to a change log service.").BoolVar(&f.changeLogs)
	app.Flag("changelogs-socket-path", "Unix socket of the change log service.").
		Default("/var/run/changelogs/changelogs.sock").StringVar(&f.changeLogsSocket)
}

func (f *flags) work(app *kingpin.Application) {
	app.Flag("poll", "Interval at which Kymas and Ready Manifests are reconciled if no event triggers a reconcile.").Default("10m").DurationVar(&f.poll)
	app.Flag("default-spread", "Period within which a new version that a ModuleReleaseMeta releases without a RolloutPolicy reaches all "+
		"Kymas. If 0, all Kymas change at once.").
		Default("5m").DurationVar(&f.defaultSpread)
	app.Flag("poll-jitter-percentage", "Random jitter that is added to or subtracted from each poll interval, as a percentage of it. Must be less than 100.").
		Default("10").UintVar(&f.pollJitter)
	app.Flag("min-poll-interval", "Minimum value of the annotation crossplane.io/poll-interval. Shorter intervals are raised to it.").
		Default("10s").DurationVar(&f.minPoll)
	app.Flag("park-after", "Time after which the watches of a cluster are closed if nothing has changed in it or for it. Its Manifests are then "+
		"checked at each poll only. If 0, watches are never closed.").
		Default("0s").DurationVar(&f.parkAfter)
	app.Flag("timeout", "Maximum duration of a single reconcile of a Kyma, a ModuleTemplate or a Manifest.").Default("2m").DurationVar(&f.timeout)
	app.Flag("max-reconcile-rate", "Maximum number of resources of each kind that are reconciled concurrently.").Default("10").IntVar(&f.concurrency)
	app.Flag("max-object-concurrency", "Maximum number of objects of a single Manifest that are applied concurrently.").
		Default("8").IntVar(&f.objectConcurrency)
	app.Flag("inventory-namespace", "Namespace in the target cluster in which inventories are stored. Do not change it while modules are installed.").
		Default(manifest.DefaultNamespace).StringVar(&f.namespace)
	app.Flag("cache-dir", "Directory in which pulled blobs are cached.").Default(filepath.Join(os.TempDir(), "provider-kyma")).StringVar(&f.cacheDir)
	app.Flag("cache-size", "Maximum size of the cache directory, in bytes. The least recently used blobs are evicted first.").
		Default("1073741824").Int64Var(&f.cacheSize)
	app.Flag("max-archive-size", "Maximum size of a chart or layer, in bytes. Defaults to 67108864 (64 MiB), or less "+
		"if the memory limit of the container is low.").Int64Var(&f.maxArchive)
	app.Flag("max-unpacked-size", "Maximum unpacked size of a chart or layer, in bytes. Defaults to 536870912 (512 MiB), or less "+
		"if the memory limit of the container is low.").Int64Var(&f.maxUnpacked)
	app.Flag("max-archive-files", "Maximum number of files in a chart or layer.").Default("10000").IntVar(&f.maxFiles)
}

func (f *flags) rendering(app *kingpin.Application) {
	app.Flag("render-processes", "Maximum number of processes that render charts concurrently. A single namespace can use half of them. "+
		"If 0, charts are rendered in the provider process, where a chart can block the provider or exhaust its memory. "+
		"Defaults to 4, or fewer if the memory limit of the container is low.").IntVar(&f.renderProcesses)
	app.Flag("render-cpu", "Maximum CPU time for rendering one chart, in whole seconds.").Default("30s").DurationVar(&f.renderCPU)
	app.Flag("render-memory", "Maximum memory for rendering one chart, in bytes. Defaults to 536870912 (512 MiB), or less "+
		"if the memory limit of the container is low: all rendering processes together use at most three eighths of it.").Int64Var(&f.renderMemory)
	app.Flag("render-output", "Maximum size of a rendered chart, in bytes.").Default("33554432").Int64Var(&f.renderOutput)
	app.Flag("render-objects", "Maximum number of objects of a rendered chart.").Default("10000").IntVar(&f.renderObjects)
}

func (f *flags) trust(app *kingpin.Application) {
	app.Flag("allow-kubeconfig-exec", "Allow kubeconfigs that run commands in the provider (exec, auth-provider).").BoolVar(&f.allowExec)
	app.Flag("allow-kubeconfig-files", "Allow kubeconfigs that refer to files in the file system of the provider.").BoolVar(&f.allowFiles)
	app.Flag("allow-tenant-identity", "Allow ProviderConfigs to use the identity, files, environment variables and Docker configuration of the provider.").
		BoolVar(&f.allowTenantIdentity)
	app.Flag("allow-target-cidr", "Allow connections to addresses in this range, even if they are denied by default. Can be repeated.").
		PlaceHolder("CIDR").StringsVar(&f.allowTargets)
	app.Flag("deny-target-cidr", "Deny connections to addresses in this range, unless a narrower range is allowed. Can be repeated.").
		PlaceHolder("CIDR").StringsVar(&f.denyTargets)
	app.Flag("service-cidr", "Service IP range of the cluster in which the provider runs. ProviderConfigs cannot connect to addresses in it. "+
		"Can be repeated. By default, the range is derived from KUBERNETES_SERVICE_HOST.").PlaceHolder("CIDR").StringsVar(&f.services)
	app.Flag("allow-plain-http-host", "Allow ProviderConfigs to set plainHTTP for the registry at this host or host:port. Can be repeated.").
		PlaceHolder("HOST").StringsVar(&f.plainHosts)
	app.Flag("allow-external-names", "Allow Manifests in NAMESPACE to use the inventory with the external name NAME, even if NAME does not begin "+
		"with the namespace. * matches any characters. Can be repeated.").PlaceHolder("NAMESPACE/NAME").StringsVar(&f.externalNames)
	app.Flag("take-over-control-plane", "Take over the inventories of the control plane with this UID if this control plane replaces it, "+
		"for example after a restore. The conditions of the affected Manifests contain the UID. Can be repeated.").PlaceHolder("UID").StringsVar(&f.predecessors)
}

func (f *flags) modules(app *kingpin.Application) {
	app.Flag("module-verification-key", "PEM file with the public key that verifies ModuleTemplate signatures with the name NAME. Can be repeated.").
		PlaceHolder("NAME=FILE").StringsVar(&f.moduleKeys)
	app.Flag("module-registry-config", "Name of the ClusterProviderConfig that lists the registries from which components of ModuleTemplates can be "+
		"fetched. By default, all registries are allowed, and are accessed with the Docker configuration of the provider or anonymously.").
		PlaceHolder("NAME").StringVar(&f.moduleRegistryConfig)
	app.Flag("control-plane-config", "Name of the ClusterProviderConfig for modules whose target is control-plane.").
		Default("control-plane").StringVar(&f.controlPlaneConfig)
}
