// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/local/fleet"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// The versions of the module of the fleet.
const (
	bannerFirst  = "1.0.0"
	bannerBroken = "1.1.0"
	bannerFixed  = "1.2.0"
)

// A rollout is what the demo saw while it rolled out the broken version.
type rollout struct {
	// before contains what the clusters had before.
	before map[string]fleet.Installation
	// reached are the clusters that had the broken version at any time.
	reached []string
	// files are the paths of the applied files, in their order. The KymaSet is the last one.
	files []string
}

// playRollout releases the first version of a module to the fleet, promotes a version that never becomes Ready, and waits until it is
// rolled back.
func playRollout(ctx context.Context, e *environment) error {
	f := e.fleet
	sayf("connecting a fleet of %d more clusters, %q and four others, which have an API server only", len(f.Clusters), fleet.Canary)
	if err := f.Connect(ctx, e.servers.registry); err != nil {
		return err
	}
	if err := releaseBanner(ctx, e); err != nil {
		return err
	}
	sayf("version %s is installed in the %d clusters of the fleet", bannerFirst, len(f.Clusters))
	var err error
	if e.rollout.before, err = f.Installations(ctx); err != nil {
		return err
	}
	sayf("promoting version %s, whose Deployment never becomes available, because the clusters of the fleet run no controllers", bannerBroken)
	if err := promoteBanner(ctx, e, bannerBroken); err != nil {
		return err
	}
	if e.rollout.reached, err = awaitRollout(ctx, f, bannerBroken, v1alpha1.RolloutRolledBack); err != nil {
		return err
	}
	if err := awaitBanner(ctx, f, bannerFirst); err != nil {
		return err
	}
	return e.rollout.report(ctx, e)
}

// report prints what happened with the broken version. It fails if a cluster other than the canary was changed.
func (r rollout) report(ctx context.Context, e *environment) error {
	if want := []string{fleet.Canary}; !slices.Equal(r.reached, want) {
		return errors.Errorf("version %s reached the clusters %v, want %v", bannerBroken, r.reached, want)
	}
	after, err := e.fleet.Installations(ctx)
	if err != nil {
		return err
	}
	for name, was := range r.before {
		if is := after[name]; name != fleet.Canary && is != was {
			return errors.Errorf("cluster %q was changed from %+v to %+v", name, was, is)
		}
	}
	args := []string{"rollout", "status", fleet.Module}
	out, err := e.workshop.kymactl(ctx, args...)
	if err != nil {
		return err
	}
	printCommand("kymactl", args, out)
	args = []string{"get", "kymas", "-n", fleet.Namespace, "-L", "ring"}
	if out, err = e.workshop.kubectl(ctx, args...); err != nil {
		return err
	}
	printCommand("kubectl", args, out)
	sayf("version %s reached only cluster %q, failed there, and was rolled back to %s; the module in the other %d clusters was not changed",
		bannerBroken, fleet.Canary, bannerFirst, len(e.fleet.Clusters)-1)
	return nil
}

// releaseBanner pushes all versions of the module, releases the first one, and waits until all clusters of the fleet have it.
func releaseBanner(ctx context.Context, e *environment) error {
	var err error
	if e.rollout.files, err = pushFleet(ctx, e.workshop, e.servers.registry.Host()); err != nil {
		return err
	}
	if err := applyAll(ctx, e.workshop, e.rollout.files); err != nil {
		return err
	}
	if _, err := awaitRollout(ctx, e.fleet, bannerFirst, v1alpha1.RolloutComplete); err != nil {
		return err
	}
	return awaitBanner(ctx, e.fleet, bannerFirst)
}

// pushFleet pushes all versions of the module of the fleet. It returns the paths of the files to apply, in their order.
func pushFleet(ctx context.Context, w workshop, registry string) ([]string, error) {
	root, err := tools.Root()
	if err != nil {
		return nil, err
	}
	local := filepath.Join(root, "cluster", "local")
	templates, err := pushBanner(ctx, w, registry, filepath.Join(local, "modules"))
	return append(templates, filepath.Join(local, "fleet", "release.yaml"), filepath.Join(local, "fleet", "kymaset.yaml")), err
}

// pushBanner creates, signs and pushes the versions of the module of the fleet, and writes a ModuleTemplate without a channel for
// each. It returns their paths.
func pushBanner(ctx context.Context, w workshop, registry, dir string) ([]string, error) {
	var templates []string
	for _, version := range []string{bannerFirst, bannerBroken, bannerFixed} {
		source := fleet.Module + "-" + version
		files, err := bannerFiles(dir, version)
		if err != nil {
			return nil, err
		}
		if err := write(files, filepath.Join(w.modules(), source)); err != nil {
			return nil, err
		}
		reference, err := pushModule(ctx, w, source, version, registry)
		if err != nil {
			return nil, err
		}
		template := source + ".yaml"
		if _, err := w.do(ctx, "module", "template", reference, "--no-channel", "-o", template); err != nil {
			return nil, err
		}
		templates = append(templates, filepath.Join(w.modules(), template))
	}
	return templates, nil
}

// bannerFiles returns the files of a version of the module of the fleet. Only the broken version contains a Deployment.
func bannerFiles(dir, version string) (controlplane.Files, error) {
	files, err := controlplane.ReadDir(filepath.Join(dir, fleet.Module))
	if err != nil {
		return nil, err
	}
	files = at(files, bannerFirst, version)
	if version == bannerBroken {
		more, err := controlplane.ReadDir(filepath.Join(dir, fleet.Module+"-"+version))
		if err != nil {
			return nil, err
		}
		maps.Copy(files, more)
	}
	return files, nil
}

func promoteBanner(ctx context.Context, e *environment, version string) error {
	_, err := e.workshop.do(ctx, "module", "promote", fleet.Module, "--version", version, "--to", fleet.Channel)
	return err
}

// awaitRollout waits until the rollout of a version is in a phase. It returns the names of the clusters that had the version at any
// time.
func awaitRollout(ctx context.Context, f *fleet.Fleet, version string, phase v1alpha1.RolloutPhase) ([]string, error) {
	reached := map[string]bool{}
	err := await(ctx, "rollout of "+version, func(ctx context.Context) (bool, string, error) {
		having, err := f.Having(ctx, version)
		if err != nil {
			return false, "", err
		}
		for _, name := range having {
			reached[name] = true
		}
		m, err := f.Release(ctx)
		if err != nil {
			return false, "", err
		}
		done, seen := fleet.In(m, version, phase)
		return done, seen, nil
	})
	return slices.Sorted(maps.Keys(reached)), err
}

// awaitBanner waits until a version of the module is Ready in all clusters of the fleet.
func awaitBanner(ctx context.Context, f *fleet.Fleet, version string) error {
	return await(ctx, "module "+fleet.Module, func(ctx context.Context) (bool, string, error) {
		all, err := f.Installations(ctx)
		if err != nil {
			return false, "", err
		}
		var seen []string
		done := true
		for _, name := range slices.Sorted(maps.Keys(all)) {
			i := all[name]
			state := "not Ready"
			if i.Ready {
				state = "Ready"
			}
			seen = append(seen, fmt.Sprintf("%s %s %s", name, i.Version, state))
			done = done && i.Ready && i.Version == version && strings.HasSuffix(i.Text, version)
		}
		return done, strings.Join(seen, ", "), nil
	})
}
