// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	stdlog "log"
	"os"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	uzap "go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	registry "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/lazylog"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/noopupdate"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/readyourwrites"
	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/sandbox"
)

const (
	leaderElectionID = "crossplane-leader-election-provider-kyma"
	// shutdownTimeout leaves time to release the lease within the termination grace period of a pod, which is 30 s by default.
	shutdownTimeout = 25 * time.Second
)

func main() {
	if sandbox.IsChild(os.Args) {
		os.Exit(sandbox.Serve())
	}
	f, err := parse(os.Args[1:])
	if err == nil {
		err = run(ctrl.SetupSignalHandler(), f)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "provider: error: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, f *flags) error {
	log := logger(f.debug)
	survivePanics()
	limitMemory(f, memlimit.FromCgroup, log)
	limitGarbage()
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return errors.Wrap(err, "cannot get the configuration of the control plane")
	}
	// The API server limits requests itself, and a client-side limit would only mask slow requests.
	cfg.QPS = -1
	if err := limitClientMetrics(cfg); err != nil {
		return err
	}
	local, m := rest.CopyConfig(cfg), metrics.New(registry.Registry, version.Get())
	cfg.Wrap(awaitServer(watchRetry, watchLimit))
	cfg.Wrap(countRequests(m.ControlPlaneRequests))
	lead := newLeadership(f)
	cfg.Wrap(lead.fence)
	o := options(f, cfg, lead.lease)
	if err := shareLease(&o, f); err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(cfg, o)
	if err != nil {
		return errors.Wrap(err, "cannot create the controller manager")
	}
	if err := lead.manageShards(mgr, f, m, log); err != nil {
		return err
	}
	recording, err := newRecordingManager(mgr, f, m, lead, log)
	if err != nil {
		return err
	}
	stop, err := setup(ctx, recording, local, m, f, lead, log)
	if err != nil {
		return err
	}
	defer stop()
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return errors.Wrap(err, "cannot add the health check")
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return errors.Wrap(err, "cannot add the readiness check")
	}
	log.Info("Starting provider-kyma", "version", version.Version, "commit", version.Get().Commit, "host", cfg.Host)
	return errors.Wrap(mgr.Start(ctx), "cannot run the controller manager")
}

// logger returns the logger of the provider. Libraries only log errors, including panics, unless debug is set.
func logger(debug bool) logging.Logger {
	lazy := zap.RawZapOpts(uzap.WrapCore(lazylog.Core))
	zl := zap.New(zap.UseDevMode(debug), zap.WriteTo(os.Stderr), lazy)
	libraries := zl
	if !debug {
		libraries = zap.New(zap.WriteTo(os.Stderr), zap.Level(zapcore.ErrorLevel), lazy)
	}
	ctrl.SetLogger(libraries)
	klog.SetLogger(libraries)
	// Helm logs warnings to this logger that contain values, which can be secret.
	stdlog.SetOutput(io.Discard)
	return logging.NewLogrLogger(zl.WithName("provider-kyma"))
}

// survivePanics makes the goroutines of client-go, which decode responses and call event handlers, log a panic and continue, so
// that a single object cannot end the process repeatedly.
func survivePanics() { utilruntime.ReallyCrash = false }

// newClient returns the client of the controllers. It waits until the cache contains its own writes, and skips updates that
// would change nothing.
func newClient(cfg *rest.Config, o client.Options) (client.Client, error) {
	c, err := client.New(cfg, o)
	if err != nil {
		return nil, err
	}
	return noopupdate.New(readyourwrites.New(c), c), nil
}

// options returns the options of the controller-runtime manager.
func options(f *flags, cfg *rest.Config, held *lease) ctrl.Options {
	s := runtime.NewScheme()
	utilruntime.Must(scheme.AddToScheme(s))
	utilruntime.Must(apiextensionsv1.AddToScheme(s))
	utilruntime.Must(v1alpha1.AddToScheme(s))
	duration, renew, shutdown := leaseDuration, renewDeadline, shutdownTimeout
	return ctrl.Options{
		Scheme:    s,
		NewClient: newClient,
		Cache: cache.Options{
			SyncPeriod:       &f.sync,
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&apiextensionsv1.CustomResourceDefinition{}: {Transform: customresourcesgate.TransformStripCRDSchema},
				&corev1.Secret{}:    {Transform: stripAnnotations},
				&corev1.ConfigMap{}: {Transform: stripAnnotations},
			},
		},
		Metrics:                    metricsOptions(f),
		HealthProbeBindAddress:     f.probeAddress,
		PprofBindAddress:           f.pprofAddress,
		LeaderElection:             f.leaderElection,
		LeaderElectionID:           leaderElectionID,
		LeaderElectionNamespace:    f.leaseNamespace(),
		LeaderElectionConfig:       held.observe(cfg),
		LeaderElectionResourceLock: resourcelock.LeasesResourceLock,
		// When the leader stops, another replica can take over immediately.
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &duration,
		RenewDeadline:                 &renew,
		GracefulShutdownTimeout:       &shutdown,
	}
}

// stripAnnotations removes the annotations and managed fields of cached Secrets and ConfigMaps, because the provider doesn't
// read them. kubectl stores the whole content of an object in an annotation.
func stripAnnotations(in any) (any, error) {
	if o, ok := in.(metav1.Object); ok {
		o.SetManagedFields(nil)
		o.SetAnnotations(nil)
	}
	return in, nil
}
