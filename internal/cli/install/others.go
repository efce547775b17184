// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/charts"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

const (
	labelName     = "app.kubernetes.io/name"
	labelInstance = "app.kubernetes.io/instance"

	// Helm annotates the objects of a release.
	annotationRelease          = "meta.helm.sh/release-name"
	annotationReleaseNamespace = "meta.helm.sh/release-namespace"
)

// refuse returns an error with ExitExists if the provider was installed in another way, or if the installation would delete a
// ClusterProviderConfig.
func (i *installation) refuse(ctx context.Context, p *apply.Plane) error {
	for _, check := range []func(context.Context, *apply.Plane) error{i.refusePackage, i.refuseDeployments, i.refuseConfigs} {
		if err := check(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func existsf(format string, args ...any) error {
	return command.WithCode(command.ExitExists, errors.Errorf(format, args...))
}

// refusePackage refuses if Crossplane runs the provider.
func (i *installation) refusePackage(ctx context.Context, p *apply.Plane) error {
	brought, err := p.PackagedCRDs(ctx, i.crds)
	if err != nil || len(brought) == 0 {
		return err
	}
	b := brought[0]
	return existsf("CRD %s belongs to %s: Crossplane runs the provider in this cluster: to upgrade it, change the package of its Provider, "+
		"for example with 'kymactl deploy --package IMAGE'", b.Name, b.By)
}

// refuseDeployments refuses if a Deployment belongs to a Helm release, or runs the provider in another namespace.
func (i *installation) refuseDeployments(ctx context.Context, p *apply.Plane) error {
	all, err := p.List(ctx, appsv1.SchemeGroupVersion.WithKind("Deployment"), client.MatchingLabels{labelName: charts.Name})
	if err != nil {
		return err
	}
	for n := range all {
		d := &all[n]
		words := apply.ObjectOf(d).Words()
		if r := d.GetAnnotations()[annotationRelease]; r != "" {
			return existsf("%s belongs to Helm release %s: upgrade it with 'helm upgrade %s CHART --namespace %s'",
				words, r, r, d.GetAnnotations()[annotationReleaseNamespace])
		}
		if i.contains(apply.ObjectOf(d)) {
			continue
		}
		if apply.Ours(d) && d.GetName() == release {
			return existsf("%s already runs the provider: use --namespace %s", words, d.GetNamespace())
		}
		return existsf("%s already runs the provider, and was not installed by kymactl: upgrade it in the way in which it was installed", words)
	}
	return nil
}

// refuseConfigs refuses to delete a ClusterProviderConfig of an earlier installation: its deletion would only end when all Kymas and
// Manifests that use it are deleted, and could not be undone.
func (i *installation) refuseConfigs(ctx context.Context, p *apply.Plane) error {
	left, err := i.leftovers(ctx, p, v1alpha1.ClusterProviderConfigGroupVersionKind)
	if err != nil || len(left) == 0 {
		return err
	}
	name := left[0].GetName()
	return existsf("ClusterProviderConfig %[1]s belongs to the in-cluster mode of an earlier installation: use --in-cluster with the same name, or delete "+
		"it first with 'kubectl delete clusterproviderconfigs.%[2]s %[1]s'", name, v1alpha1.Group)
}

// leftovers returns the objects of a kind that an earlier installation created, and that are not part of this one.
func (i *installation) leftovers(ctx context.Context, p *apply.Plane, kind schema.GroupVersionKind) ([]unstructured.Unstructured, error) {
	all, err := p.List(ctx, kind, client.MatchingLabels{
		labelName: charts.Name, labelInstance: release, apply.LabelManagedBy: command.FieldManager,
	})
	if err != nil {
		return nil, err
	}
	var out []unstructured.Unstructured
	for n := range all {
		if !i.contains(apply.ObjectOf(&all[n])) {
			out = append(out, all[n])
		}
	}
	return out, nil
}
