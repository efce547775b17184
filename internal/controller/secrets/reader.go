// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
)

// mostSecrets are kept in memory.
const mostSecrets = 20_000

// A Reader reads Secrets.
type Reader struct {
	metadata client.Reader
	content  client.Reader
	cached   *lru.Cache // types.NamespacedName to version.
}

// A version of a Secret's data.
type version struct {
	uid             types.UID
	resourceVersion string
	kind            corev1.SecretType
	data            map[string][]byte
}

// NewReader returns a Reader. The metadata comes from a cache that is kept by a watch, the content from the API server.
func NewReader(metadata, content client.Reader) *Reader {
	return &Reader{metadata: metadata, content: content, cached: lru.New(mostSecrets)}
}

// Get the data of a Secret. It must not be changed. The error for one that does not exist is a *config.MissingError.
func (r *Reader) Get(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	v, err := r.get(ctx, types.NamespacedName{Namespace: namespace, Name: name})
	return v.data, err
}

// GetTyped is Get with the type of the Secret.
func (r *Reader) GetTyped(ctx context.Context, namespace, name string) (corev1.SecretType, map[string][]byte, error) {
	v, err := r.get(ctx, types.NamespacedName{Namespace: namespace, Name: name})
	return v.kind, v.data, err
}

func (r *Reader) get(ctx context.Context, nn types.NamespacedName) (version, error) {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := r.metadata.Get(ctx, nn, m); err != nil {
		return version{}, explain(nn, err)
	}
	if c, ok := r.cached.Get(nn); ok {
		v := c.(version) //nolint:forcetypeassert // Only versions are put in.
		if v.uid == m.UID && v.resourceVersion == m.ResourceVersion {
			return v, nil
		}
	}
	s := &corev1.Secret{}
	if err := r.content.Get(ctx, nn, s); err != nil {
		return version{}, explain(nn, err)
	}
	v := version{uid: s.UID, resourceVersion: s.ResourceVersion, kind: s.Type, data: s.Data}
	r.cached.Add(nn, v)
	return v, nil
}

func explain(nn types.NamespacedName, err error) error {
	if kerrors.IsNotFound(err) {
		return &config.MissingError{Object: "Secret " + nn.String()}
	}
	return errors.Wrapf(err, "cannot get Secret %s", nn)
}
