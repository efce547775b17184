// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/bench/objects"
	"github.com/crossplane-contrib/provider-kyma/test/bench/usage"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	// kymaNamespace is the namespace of the Kymas.
	kymaNamespace = "bench-kymas"
	// kymaModules is the number of modules of a Kyma.
	kymaModules = 3
	// kymaRepository is the repository of the components of the modules.
	kymaRepository = "modules"
	moduleVersion  = "1.0.0"
)

// moduleName returns the name of a module of a Kyma. It is unique, because all Kymas share one target, where no two may
// have the same module.
func moduleName(kyma, i int) string { return fmt.Sprintf("%s-%d", name(kyma), i) }

// measureKymas measures the cost of Kymas and adds it to a result. Call it after all measurements of Manifests alone.
func measureKymas(ctx context.Context, e *environment, o options, r *result) error {
	r.Kymas = o.kymas
	if o.kymas == 0 {
		return nil
	}
	if err := prepareKymas(ctx, e, o); err != nil {
		return err
	}
	before, err := e.provider.Quiet(ctx, usage.QuietWithin)
	if err != nil {
		return err
	}
	sayf("creating %d Kymas of %d modules", o.kymas, kymaModules)
	if r.kymaSeconds, err = installKymas(ctx, e.controlClient, o); err != nil {
		return err
	}
	ready, err := e.provider.Sample(ctx)
	if err != nil {
		return err
	}
	sayf("all are Ready after %.1f s; waiting until the provider is quiet", r.kymaSeconds)
	after, err := e.provider.Quiet(ctx, usage.QuietWithin)
	if err != nil {
		return err
	}
	r.KymaReconciles = usage.Per(reconciled(ready)-reconciled(before), r.Kymas)
	r.addKymas(before, after)
	idle, err := watchIdle(ctx, e.provider, o.idle)
	if err != nil {
		return err
	}
	r.KymaIdleWrites = idle.Target.Minus(after.Target).Writes() + idle.Control.Minus(after.Control).Writes()
	sayf("breaking and fixing one module of each Kyma after another")
	lags, err := measureLags(ctx, e, o.kymas)
	if err != nil {
		return err
	}
	r.KymaLagP50, r.KymaLagP99, r.lags = milliseconds(usage.Percentile(lags, 50)), milliseconds(usage.Percentile(lags, 99)), len(lags)
	return nil
}

// prepareKymas creates what is not measured: the modules and their ModuleTemplates.
func prepareKymas(ctx context.Context, e *environment, o options) error {
	root, err := tools.Root()
	if err != nil {
		return err
	}
	testdata := filepath.Join(root, "test", "bench", "testdata")
	if err := e.target.InstallCRDs(ctx, filepath.Join(testdata, "crds")); err != nil {
		return err
	}
	extra, err := controlplane.ReadDir(testdata)
	if err != nil {
		return err
	}
	chart := maps.Clone(e.chart)
	chart["templates/probe.yaml"] = extra["probe.yaml"]
	if err := controlplane.Connect(ctx, e.controlClient, kymaNamespace, config, e.target, e.registry); err != nil {
		return err
	}
	n := o.kymas * kymaModules
	sayf("releasing %d modules", n)
	unresolved := objects.NewPending(n, func(i int) string { return moduleName(i/kymaModules, i%kymaModules) })
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, errors.Errorf("not all were resolved within %s", o.timeout))
	defer cancel()
	err = objects.Parallel(ctx, n, func(ctx context.Context, i int) error {
		return release(ctx, e.controlClient, e.registry, moduleName(i/kymaModules, i%kymaModules), chart)
	})
	if err != nil {
		return errors.Wrap(err, "cannot release a module")
	}
	return errors.Wrap(unresolved.Await(ctx, e.controlClient, &v1alpha1.ModuleTemplateList{}, ""), "cannot prepare the ModuleTemplates")
}

// release pushes the component of a module and creates the ModuleTemplate that offers it.
func release(ctx context.Context, control client.Client, registry *controlplane.Registry, module string, chart controlplane.Files) error {
	c := controlplane.Component{
		Name: "example.org/module/" + module, Version: moduleVersion,
		Resources: []controlplane.ComponentResource{{Name: module, Type: "helm-chart", Files: chart}},
	}
	if _, err := registry.PushComponent(ctx, kymaRepository, c); err != nil {
		return err
	}
	t := &v1alpha1.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: module},
		Spec: v1alpha1.ModuleTemplateSpec{
			Channel:   "regular",
			Component: &v1alpha1.Component{Repository: registry.Host() + "/" + kymaRepository, Name: c.Name, Version: c.Version},
		},
	}
	return errors.Wrapf(control.Create(ctx, t), "cannot create ModuleTemplate %q", module)
}

// installKymas creates the Kymas, and returns the seconds from before the first request until all are Ready.
func installKymas(ctx context.Context, control client.WithWatch, o options) (float64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, errors.Errorf("not all were Ready within %s", o.timeout))
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	begin := time.Now()
	g.Go(func() error {
		err := objects.Parallel(ctx, o.kymas, func(ctx context.Context, i int) error { return control.Create(ctx, newKyma(i)) })
		return errors.Wrap(err, "cannot create a Kyma")
	})
	g.Go(func() error {
		return objects.NewPending(o.kymas, name).Await(ctx, control, &v1alpha1.KymaList{}, kymaNamespace)
	})
	err := g.Wait()
	return time.Since(begin).Seconds(), err
}

func newKyma(i int) *v1alpha1.Kyma {
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: kymaNamespace, Name: name(i)}}
	k.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: config}
	for j := range kymaModules {
		k.Spec.ForProvider.Modules = append(k.Spec.ForProvider.Modules, v1alpha1.Module{Name: moduleName(i, j)})
	}
	return k
}

// addKymas adds the usage per Kyma between two samples.
func (r *result) addKymas(before, after usage.Sample) {
	control := after.Control.Minus(before.Control)
	r.KymaRequests = usage.Per(control.Sum(), r.Kymas)
	r.KymaWrites = usage.Per(control.Writes(), r.Kymas)
	r.kymaReconcilesAll = usage.Per(reconciled(after)-reconciled(before), r.Kymas)
	r.kymaTarget = usage.Per(after.Target.Minus(before.Target).Sum(), r.Kymas)
	r.kymaCPU = usage.Per(after.CPU-before.CPU, r.Kymas)
	r.kymaByVerb = control.Per(r.Kymas)
	for controller, n := range after.Reconciles {
		if n -= before.Reconciles[controller]; n > 0 {
			r.kymaByController = append(r.kymaByController, fmt.Sprintf("%s %.2f", controller, usage.Per(n, r.Kymas)))
		}
	}
}
