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

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/local/operator"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	// team is the namespace, in the control plane, of a team with its claim and its Manifest.
	team = "team-a"
	// config is the name of the ProviderConfig of the team's Manifest. The claim makes
	// its own, from the same Secret.
	config = "target"

	hello          = "hello"
	helloNamespace = "hello-system"
	helloReplicas  = 2
	greeterCount   = 2
)

// install has Crossplane install the provider, pushes modules, and claims them.
func (e *environment) install(ctx context.Context) error {
	if err := e.installPackages(ctx); err != nil {
		return err
	}
	if err := e.writeTeamKubeconfig(); err != nil {
		return err
	}
	sayf("making modules, signing them, and pushing them to the registry at %s", e.registry.Host())
	o, err := e.push(ctx)
	if err != nil {
		return err
	}
	if err := e.startOperator(ctx); err != nil {
		return err
	}
	if err := e.create(ctx, o); err != nil {
		return err
	}
	if err := e.applyClaim(ctx); err != nil {
		return err
	}
	sayf("waiting until the claim, and Manifest %q in the same namespace, are Ready", hello)
	if _, err := e.do(ctx, "wait", e.composite, "--timeout", waitTimeout); err != nil {
		return err
	}
	if err := e.awaitClaim(ctx, v1alpha1.StateReady, nil); err != nil {
		return err
	}
	if err := e.awaitReady(ctx, hello); err != nil {
		return err
	}
	return e.printTree(ctx)
}

// An offer is what there is to install.
type offer struct {
	// templates are paths of ModuleTemplates.
	templates []string
	manifest  *v1alpha1.Manifest
}

// push pushes what there is to install.
func (e *environment) push(ctx context.Context) (*offer, error) {
	root, err := tools.Root()
	if err != nil {
		return nil, err
	}
	local := filepath.Join(root, "cluster", "local")
	templates, err := e.pushModules(ctx, filepath.Join(local, "modules"))
	if err != nil {
		return nil, err
	}
	files, err := controlplane.ReadFolder(filepath.Join(local, "chart"))
	if err != nil {
		return nil, err
	}
	chart, err := e.registry.PushChart(ctx, "charts", files)
	if err != nil {
		return nil, err
	}
	m := newManifest(hello, helloNamespace, map[string]any{"replicas": helloReplicas}, v1alpha1.Source{
		Type: v1alpha1.SourceTypeHelmChart, URL: "oci://" + e.registry.Host() + "/charts", ChartName: "hello", Version: chart.Tag,
	})
	return &offer{templates: templates, manifest: m}, nil
}

// create creates what is offered, and what it needs, in the control plane.
func (e *environment) create(ctx context.Context, o *offer) error {
	if err := controlplane.Connect(ctx, e.controlClient, team, config, e.target, e.registry); err != nil {
		return err
	}
	for _, path := range o.templates {
		sayf("  kubectl apply -f %s", filepath.Base(path))
		if _, err := e.kubectl(ctx, "apply", "-f", path); err != nil {
			return err
		}
	}
	return errors.Wrapf(e.controlClient.Create(ctx, o.manifest), "cannot create Manifest %q", hello)
}

// startOperator starts what stands for the operators of the modules, until ctx is
// done.
func (e *environment) startOperator(ctx context.Context) error {
	c, err := dynamic.NewForConfig(e.target.Config())
	if err != nil {
		return errors.Wrap(err, "cannot make a client of the target")
	}
	o := &operator.Operator{Client: c, OnError: func(err error) { sayf("operator: %v", err) }}
	for _, m := range modules() {
		o.Modules = append(o.Modules, operator.Module{Resource: m.resource, Deployment: m.deployment, Needed: m.needed})
	}
	go o.Run(ctx)
	return nil
}

// newManifest is a Manifest with one install of the same name.
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
