// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// manifestsCRD is the name of the CRD of Manifests.
const manifestsCRD = "manifests.kyma.m.crossplane.io"

// authenticationConfig is the name of a ConfigMap in kube-system that the API server creates in each new cluster.
const authenticationConfig = "extension-apiserver-authentication"

// controlPlaneUIDs returns the UIDs that identify the control plane: the UID of the namespace kube-system, which Crossplane
// does not let providers read by default, the UID of a ConfigMap in this namespace, which still exists when the package of the
// provider is reinstalled, and the UID of the Manifest CRD. It omits UIDs that the provider is not allowed to read.
func controlPlaneUIDs(ctx context.Context, reader client.Reader, reviews client.Writer) ([]string, error) {
	var out []string
	for _, o := range []struct {
		gvk      schema.GroupVersionKind
		resource string
		name     types.NamespacedName
	}{
		{corev1.SchemeGroupVersion.WithKind("Namespace"), "namespaces", types.NamespacedName{Name: metav1.NamespaceSystem}},
		{
			corev1.SchemeGroupVersion.WithKind("ConfigMap"), "configmaps",
			types.NamespacedName{Namespace: metav1.NamespaceSystem, Name: authenticationConfig},
		},
		{
			apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), "customresourcedefinitions",
			types.NamespacedName{Name: manifestsCRD},
		},
	} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: o.gvk.Group, Resource: o.resource, Namespace: o.name.Namespace, Name: o.name.Name, Verb: "get",
			},
		}}
		if err := reviews.Create(ctx, review); err != nil {
			return nil, errors.Wrapf(err, "cannot check whether the provider has permission to get %s %s", o.gvk.Kind, o.name.Name)
		}
		if !review.Status.Allowed {
			continue
		}
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(o.gvk)
		if err := reader.Get(ctx, o.name, m); err != nil {
			if notfound.IsObject(err, o.resource, o.name.Name) {
				continue
			}
			return nil, errors.Wrapf(err, "cannot get %s %s, whose UID identifies the control plane", o.gvk.Kind, o.name.Name)
		}
		out = append(out, string(m.UID))
	}
	return out, nil
}
