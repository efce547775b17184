// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// checkNothingLeft checks that the target contains no object with the provider's label, and no release record.
func (t target) checkNothingLeft(ctx context.Context) error {
	left, err := t.leftovers(ctx, client.MatchingLabels{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy})
	if err != nil {
		return err
	}
	records, err := t.list(ctx, corev1.SchemeGroupVersion.WithKind("Secret"), client.MatchingLabels{"owner": "helm"})
	if err != nil {
		return err
	}
	if left = append(left, records...); len(left) > 0 {
		return errors.Errorf("objects left in the target cluster: %s", strings.Join(left, ", "))
	}
	return nil
}

// leftovers returns the objects of the target with the labels. Namespaces are excluded, because the namespace of a module
// stays while it may contain objects of other clients.
func (t target) leftovers(ctx context.Context, labels client.MatchingLabels) ([]string, error) {
	d, err := discovery.NewDiscoveryClientForConfig(t.config)
	if err != nil {
		return nil, errors.Wrap(err, "cannot create a client")
	}
	resources, err := d.ServerPreferredResources()
	if err != nil {
		return nil, errors.Wrap(err, "cannot discover the kinds of the target cluster")
	}
	var left []string
	for _, group := range resources {
		gv, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot parse group version %q", group.GroupVersion)
		}
		for _, r := range group.APIResources {
			if !slices.Contains(r.Verbs, "list") || r.Kind == "Namespace" {
				continue
			}
			found, err := t.list(ctx, gv.WithKind(r.Kind), labels)
			if err != nil {
				return nil, err
			}
			left = append(left, found...)
		}
	}
	return left, nil
}

func (t target) list(ctx context.Context, gvk schema.GroupVersionKind, labels client.MatchingLabels) ([]string, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err := t.client.List(ctx, list, labels); err != nil {
		return nil, errors.Wrapf(err, "cannot list %s", gvk.Kind)
	}
	var found []string
	for _, o := range list.Items {
		found = append(found, fmt.Sprintf("%s %s/%s", gvk.Kind, o.GetNamespace(), o.GetName()))
	}
	return found, nil
}
