// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// lifetime is how long labels are cached. A change to the labels takes effect in the first pass after this time.
const lifetime = 15 * time.Second

// A Reader reads the labels of namespaces. It is safe for concurrent use.
type Reader struct {
	server client.Reader
	known  *cache.Expiring
}

// NewReader returns a Reader that reads from an API server.
func NewReader(server client.Reader) *Reader {
	return &Reader{server: server, known: cache.NewExpiring()}
}

// Labels returns the labels of a namespace, which the caller must not change. They can be up to 15 seconds old.
func (r *Reader) Labels(ctx context.Context, name string) (map[string]string, error) {
	if known, ok := r.known.Get(name); ok {
		labels, _ := known.(map[string]string)
		return labels, nil
	}
	n := &metav1.PartialObjectMetadata{}
	n.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	err := r.server.Get(ctx, types.NamespacedName{Name: name}, n)
	if kerrors.IsForbidden(err) {
		return nil, errors.Errorf("the provider has no permission to get namespace %q; grant it as in "+
			"examples/rbac/read-namespaces.yaml, or add the namespace to spec.allowedNamespaces.names", name)
	}
	if err != nil {
		return nil, errors.Wrapf(notfound.Explain(err), "cannot get namespace %q", name)
	}
	r.known.Set(name, n.Labels, lifetime)
	return n.Labels, nil
}
