// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// mostSecrets are kept in memory.
const mostSecrets = 20_000

// A Reader reads Secrets and ConfigMaps.
type Reader struct {
	metadata client.Reader
	content  client.Reader
	cached   *lru.Cache // types.NamespacedName to version, and configMap to version.
}

// A configMap is the name of one, which is told from that of a Secret.
type configMap types.NamespacedName

// A version of the data of a Secret or a ConfigMap.
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

// Values are the data of a Secret or a ConfigMap, and what tells this version of it from all others. The data must not be
// changed. The error for one that does not exist is a *config.MissingError.
func (r *Reader) Values(ctx context.Context, kind, namespace, name string) (data map[string][]byte, id string, err error) {
	nn := types.NamespacedName{Namespace: namespace, Name: name}
	v := version{}
	switch kind {
	case kindSecret:
		v, err = r.get(ctx, nn)
	case kindConfigMap:
		v, err = r.getConfigMap(ctx, nn)
	default:
		err = errors.Errorf("kind %q is neither Secret nor ConfigMap", kind)
	}
	return v.data, string(v.uid) + "/" + v.resourceVersion, err
}

const (
	kindSecret    = "Secret"
	kindConfigMap = "ConfigMap"
)

func (r *Reader) get(ctx context.Context, nn types.NamespacedName) (version, error) {
	have, ok, err := r.known(ctx, kindSecret, nn, nn)
	if err != nil || ok {
		return have, err
	}
	s := &corev1.Secret{}
	if err := r.content.Get(ctx, nn, s); err != nil {
		return version{}, explain(kindSecret, nn, err)
	}
	v := version{uid: s.UID, resourceVersion: s.ResourceVersion, kind: s.Type, data: s.Data}
	r.cached.Add(nn, v)
	return v, nil
}

func (r *Reader) getConfigMap(ctx context.Context, nn types.NamespacedName) (version, error) {
	have, ok, err := r.known(ctx, kindConfigMap, nn, configMap(nn))
	if err != nil || ok {
		return have, err
	}
	c := &corev1.ConfigMap{}
	if err := r.content.Get(ctx, nn, c); err != nil {
		return version{}, explain(kindConfigMap, nn, err)
	}
	v := version{uid: c.UID, resourceVersion: c.ResourceVersion, data: make(map[string][]byte, len(c.Data)+len(c.BinaryData))}
	for k, text := range c.Data {
		v.data[k] = []byte(text)
	}
	maps.Copy(v.data, c.BinaryData)
	r.cached.Add(configMap(nn), v)
	return v, nil
}

// known says whether the present version of an object is in memory.
func (r *Reader) known(ctx context.Context, kind string, nn types.NamespacedName, key lru.Key) (version, bool, error) {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	if err := r.metadata.Get(ctx, nn, m); err != nil {
		return version{}, false, explain(kind, nn, err)
	}
	c, ok := r.cached.Get(key)
	if !ok {
		return version{}, false, nil
	}
	v := c.(version) //nolint:forcetypeassert // Only versions are put in.
	return v, v.uid == m.UID && v.resourceVersion == m.ResourceVersion, nil
}

func explain(kind string, nn types.NamespacedName, err error) error {
	if notfound.Is(err) {
		return &config.MissingError{Object: kind + " " + nn.String()}
	}
	return errors.Wrapf(notfound.Explain(err), "cannot get %s %s", kind, nn)
}
