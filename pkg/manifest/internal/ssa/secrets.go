// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"encoding/json"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// SecretKind is the kind of inventories and Helm releases.
var SecretKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"} //nolint:gochecknoglobals // Constant.

var secrets = cluster.Mapping{Resource: "secrets", Namespaced: true} //nolint:gochecknoglobals // Constant.

// WriteSecret creates a Secret, with replace also where one exists, and its namespace where it is missing and createNamespace
// allows it.
func (c *Client) WriteSecret(ctx context.Context, s *corev1.Secret, replace, createNamespace bool) error {
	err := c.SendSecret(ctx, http.MethodPost, s)
	if IsNamespaceMissing(err, s.Namespace) {
		if err := c.provideNamespace(ctx, s.Namespace, createNamespace); err != nil {
			return err
		}
		err = c.SendSecret(ctx, http.MethodPost, s)
	}
	if replace && kerrors.IsAlreadyExists(err) {
		err = c.SendSecret(ctx, http.MethodPut, s)
	}
	return Explain(err)
}

// SendSecret creates a Secret (POST) or replaces it (PUT). The error is as the API server returned it.
func (c *Client) SendSecret(ctx context.Context, verb string, s *corev1.Secret) error {
	s.APIVersion, s.Kind = "v1", "Secret"
	b, err := json.Marshal(s)
	if err != nil {
		return errors.Wrap(err, "cannot encode Secret")
	}
	name := s.Name
	if verb == http.MethodPost {
		name = ""
	}
	_, err = c.body(c.cluster.REST().Verb(verb).AbsPath(path(SecretKind.GroupVersion(), secrets, s.Namespace, name)).
		Param("fieldManager", object.FieldManager).SetHeader("Content-Type", JSON).SetHeader("Accept", Metadata).
		Body(b).Do(ctx))
	return err
}

// DeleteSecrets deletes the Secrets of a namespace that a label selector selects.
func (c *Client) DeleteSecrets(ctx context.Context, namespace, selector string) error {
	_, err := c.body(c.cluster.REST().Delete().AbsPath(path(SecretKind.GroupVersion(), secrets, namespace, "")).
		Param("labelSelector", selector).SetHeader("Accept", metadataList).Do(ctx))
	if notfound.Is(err) {
		return nil
	}
	return Explain(err)
}
