// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

var namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"} //nolint:gochecknoglobals // Constant.

// An OwnNamespaceError means that a namespace does not exist that the bundle contains. It must only be created as the object of the
// bundle, which the next step does.
type OwnNamespaceError struct {
	// Namespace is the name of the namespace.
	Namespace string
}

// Error returns one line that names the namespace.
func (e *OwnNamespaceError) Error() string {
	return "namespace " + e.Namespace + " of the module does not exist yet, or was deleted"
}

// Retryable returns true.
func (*OwnNamespaceError) Retryable() bool { return true }

// LabelNamespace adds labels and annotations to a namespace that belongs to several owners, and creates it if it is missing.
// Each owner has its own field manager, so that no owner removes what another owner has set. An existing label with a different
// value is not changed.
func LabelNamespace(ctx context.Context, c *Client, owner, name string, labels, annotations map[string]string) error {
	err := labelNamespace(ctx, c, owner, name, labels, annotations)
	if IsOwnershipConflict(err) {
		var m *metav1.PartialObjectMetadata
		if m, err = c.Metadata(ctx, namespaceKind, cluster.ObjectRef{Kind: "Namespace", Name: name}); err == nil && m != nil {
			err = labelNamespace(ctx, c, owner, name, agreed(labels, m.Labels), agreed(annotations, m.Annotations))
		}
	}
	return errors.Wrapf(Explain(err), "cannot label namespace %s", name)
}

func labelNamespace(ctx context.Context, c *Client, owner, name string, labels, annotations map[string]string) error {
	body, err := json.Marshal(&metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations},
	})
	if err != nil {
		return errors.Wrap(err, "cannot encode namespace")
	}
	sum := sha256.Sum256([]byte(owner))
	_, _, err = c.write(ctx, c.cluster.REST().Verb(http.MethodPatch).AbsPath(path(namespaceKind.GroupVersion(), namespaces, "", name)).
		Param("fieldManager", c.FieldManager+"-"+hex.EncodeToString(sum[:8])).Param("force", "false").
		SetHeader("Content-Type", applyPatch).SetHeader("Accept", Metadata).Body(body))
	return err
}

var namespaces = cluster.Mapping{Resource: "namespaces"} //nolint:gochecknoglobals // Constant.

// agreed returns the entries of want that are missing in have or have the same value there.
func agreed(want, have map[string]string) map[string]string {
	out := maps.Clone(want)
	maps.DeleteFunc(out, func(k, v string) bool {
		other, set := have[k]
		return set && other != v
	})
	return out
}
