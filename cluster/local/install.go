// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/local/fleet"
	"github.com/crossplane-contrib/provider-kyma/cluster/local/operator"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	// team is the namespace of a team in the control plane, with its claim and its Manifest.
	team = "team-a"
	// config is the name of the ProviderConfig of the team's Manifest. The claim creates its own ProviderConfig from the
	// same Secret.
	config = "target"

	hello          = "hello"
	helloNamespace = "hello-system"
	helloReplicas  = 2
	greeterCount   = 2
)

// An environment holds the installed objects and the tools that inspect them.
type environment struct {
	servers  *servers
	workshop workshop
	// control is an administrator's client of the control plane.
	control client.Client
	target  target
	claim   claim
	fleet   *fleet.Fleet
	rollout rollout
	// references are the modules in the registry, by <module>-<version>.
	references map[string]string
}

// install installs the provider with Crossplane, pushes the modules, and claims them.
func install(ctx context.Context, s *servers) (*environment, error) {
	e := &environment{servers: s, workshop: s.workshop}
	var err error
	if e.control, err = s.control.Client(); err != nil {
		return nil, err
	}
	if e.target, err = newTarget(s.target); err != nil {
		return nil, err
	}
	e.fleet = &fleet.Fleet{Control: e.control, Clusters: s.fleet}
	if err := installPackages(ctx, s.crossplane, s.workshop.packages(), s.registry.Host()); err != nil {
		return nil, err
	}
	if err := s.workshop.writeKubeconfig(s.control.Kubeconfig()); err != nil {
		return nil, err
	}
	sayf("creating and signing modules, and pushing them to the registry at %s", s.registry.Host())
	o, err := push(ctx, s.workshop, s.registry)
	if err != nil {
		return nil, err
	}
	e.references = o.references
	if err := startOperator(ctx, e.target.config); err != nil {
		return nil, err
	}
	if err := controlplane.Connect(ctx, e.control, team, config, s.target, s.registry); err != nil {
		return nil, err
	}
	if err := o.create(ctx, s.workshop, e.control); err != nil {
		return nil, err
	}
	if e.claim, err = applyClaim(ctx, e.control, s.registry.Host()); err != nil {
		return nil, err
	}
	sayf("waiting until the claim and Manifest %q in the same namespace are Ready", hello)
	if _, err := e.workshop.do(ctx, "wait", e.claim.composite, "--timeout", waitTimeout); err != nil {
		return nil, err
	}
	if err := e.claim.await(ctx, v1alpha1.StateReady, nil); err != nil {
		return nil, err
	}
	return e, awaitReady(ctx, e.control, hello)
}

// An offer holds the modules and the Manifest that can be installed.
type offer struct {
	releases

	manifest *v1alpha1.Manifest
}

// push pushes the modules and the chart of the Manifest.
func push(ctx context.Context, w workshop, registry *controlplane.Registry) (*offer, error) {
	root, err := tools.Root()
	if err != nil {
		return nil, err
	}
	local := filepath.Join(root, "cluster", "local")
	pushed, err := pushModules(ctx, w, registry.Host(), filepath.Join(local, "modules"))
	if err != nil {
		return nil, err
	}
	files, err := controlplane.ReadDir(filepath.Join(local, "chart"))
	if err != nil {
		return nil, err
	}
	chart, err := registry.PushChart(ctx, "charts", files)
	if err != nil {
		return nil, err
	}
	m := newManifest(hello, helloNamespace, map[string]any{"replicas": helloReplicas}, v1alpha1.Source{
		Type: v1alpha1.SourceTypeHelmChart, URL: "oci://" + registry.Host() + "/charts", ChartName: "hello", Version: chart.Tag,
	})
	return &offer{releases: pushed, manifest: m}, nil
}

// create creates the ModuleTemplates and the Manifest in the control plane.
func (o *offer) create(ctx context.Context, w workshop, control client.Client) error {
	if err := applyAll(ctx, w, o.templates); err != nil {
		return err
	}
	return errors.Wrapf(control.Create(ctx, o.manifest), "cannot create Manifest %q", hello)
}

// applyAll applies files in their order.
func applyAll(ctx context.Context, w workshop, paths []string) error {
	for _, path := range paths {
		sayf("  kubectl apply -f %s", filepath.Base(path))
		if _, err := w.kubectl(ctx, "apply", "-f", path); err != nil {
			return err
		}
	}
	return nil
}

// startOperator starts an operator that replaces those of the modules. It runs until ctx is done.
func startOperator(ctx context.Context, target *rest.Config) error {
	c, err := dynamic.NewForConfig(target)
	if err != nil {
		return errors.Wrap(err, "cannot create a client for the target cluster")
	}
	o := &operator.Operator{Client: c, OnError: func(err error) { sayf("error of a simulated operator: %v", err) }}
	for _, m := range modules() {
		o.Modules = append(o.Modules, operator.Module{Resource: m.resource, Deployment: m.deployment, Needed: m.needed})
	}
	go o.Run(ctx)
	return nil
}

// newManifest returns a Manifest with one install of the same name.
func newManifest(name, namespace string, values map[string]any, source v1alpha1.Source) *v1alpha1.Manifest {
	m := &v1alpha1.Manifest{
		ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name},
		Spec: v1alpha1.ManifestSpec{ForProvider: v1alpha1.ManifestParameters{
			Installs: []v1alpha1.Install{{Name: name, Namespace: namespace, Source: source, Values: raw(values)}},
		}},
	}
	m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: config}
	return m
}

func raw(object map[string]any) *runtime.RawExtension {
	data, _ := json.Marshal(object) //nolint:errchkjson // Strings, numbers, booleans, and maps of them.
	return &runtime.RawExtension{Raw: data}
}
