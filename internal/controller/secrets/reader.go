// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// maxBytes is the maximum size of the cache, which is enough for 10,000 kubeconfigs of 5 KiB.
const maxBytes = 64 << 20

// A Reader reads Secrets and ConfigMaps.
type Reader struct {
	metadata client.Reader
	content  client.Reader
	versions *bytelru.Cache[objectKey, version]
}

// An objectKey identifies an object by its kind and name.
type objectKey struct {
	kind string
	name types.NamespacedName
}

// A version contains the data of one version of a Secret or a ConfigMap.
type version struct {
	uid             types.UID
	resourceVersion string
	kind            corev1.SecretType
	data            map[string][]byte
}

// NewReader returns a Reader that reads metadata from a cache with a watch, and content from the API server.
func NewReader(metadata, content client.Reader) *Reader {
	return &Reader{metadata: metadata, content: content, versions: bytelru.New[objectKey, version]("secrets", bytelru.Scaled(maxBytes))}
}

// Watch begins to remove deleted objects from memory.
func (r *Reader) Watch(ctx context.Context, informers cache.Informers) error {
	for _, kind := range []string{kindSecret, kindConfigMap} {
		i, err := informers.GetInformer(ctx, metadataOf(kind), cache.BlockUntilSynced(false))
		if err != nil {
			return errors.Wrapf(err, "cannot watch kind %s", kind)
		}
		if _, err := i.AddEventHandler(toolscache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) { r.forget(kind, obj) }}); err != nil {
			return errors.Wrapf(err, "cannot watch kind %s", kind)
		}
	}
	return nil
}

// forget removes a deleted object from memory.
func (r *Reader) forget(kind string, obj any) {
	if last, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = last.Obj
	}
	if o, ok := obj.(client.Object); ok {
		r.versions.Remove(objectKey{kind, client.ObjectKeyFromObject(o)})
	}
}

// Get returns the data of a Secret, which the caller must not change. If the Secret does not exist, the error is a
// *config.MissingError.
func (r *Reader) Get(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	v, err := r.getSecret(ctx, types.NamespacedName{Namespace: namespace, Name: name})
	return v.data, err
}

// GetTyped returns the type of a Secret, and the same data and error as Get.
func (r *Reader) GetTyped(ctx context.Context, namespace, name string) (corev1.SecretType, map[string][]byte, error) {
	v, err := r.getSecret(ctx, types.NamespacedName{Namespace: namespace, Name: name})
	return v.kind, v.data, err
}

// Values returns the data of a Secret or a ConfigMap, which the caller must not change, and an ID of its version. If the
// object does not exist, the error is a *config.MissingError.
func (r *Reader) Values(ctx context.Context, kind, namespace, name string) (data map[string][]byte, id string, err error) {
	nn := types.NamespacedName{Namespace: namespace, Name: name}
	v := version{}
	switch kind {
	case kindSecret:
		v, err = r.getSecret(ctx, nn)
	case kindConfigMap:
		v, err = r.getConfigMap(ctx, nn)
	default:
		err = errors.Errorf("kind: invalid value %q: must be Secret or ConfigMap", kind)
	}
	return v.data, string(v.uid) + "/" + v.resourceVersion, err
}

const (
	kindSecret    = "Secret"
	kindConfigMap = "ConfigMap"
)

func (r *Reader) getSecret(ctx context.Context, nn types.NamespacedName) (version, error) {
	cached, ok, err := r.cachedVersion(ctx, kindSecret, nn)
	if err != nil || ok {
		return cached, err
	}
	s := &corev1.Secret{}
	if err := r.content.Get(ctx, nn, s); err != nil {
		return version{}, explain(kindSecret, nn, err)
	}
	v := version{uid: s.UID, resourceVersion: s.ResourceVersion, kind: s.Type, data: s.Data}
	r.keep(ctx, objectKey{kindSecret, nn}, v)
	return v, nil
}

func (r *Reader) getConfigMap(ctx context.Context, nn types.NamespacedName) (version, error) {
	cached, ok, err := r.cachedVersion(ctx, kindConfigMap, nn)
	if err != nil || ok {
		return cached, err
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
	r.keep(ctx, objectKey{kindConfigMap, nn}, v)
	return v, nil
}

// cachedVersion returns the cached version of an object, and whether it is the current one.
func (r *Reader) cachedVersion(ctx context.Context, kind string, nn types.NamespacedName) (version, bool, error) {
	m := metadataOf(kind)
	if err := r.metadata.Get(ctx, nn, m); err != nil {
		if notfound.Is(err) {
			r.versions.Remove(objectKey{kind, nn})
		}
		return version{}, false, explain(kind, nn, err)
	}
	v, ok := r.versions.Get(objectKey{kind, nn})
	return v, ok && v.uid == m.UID && v.resourceVersion == m.ResourceVersion, nil
}

// keep keeps a version, unless the object was deleted while it was read: nothing would remove it then.
func (r *Reader) keep(ctx context.Context, k objectKey, v version) {
	r.versions.Add(k, v)
	if err := r.metadata.Get(ctx, k.name, metadataOf(k.kind)); notfound.Is(err) {
		r.versions.Remove(k)
	}
}

// metadataOf returns an object for the metadata of a kind.
func metadataOf(kind string) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	return m
}

func explain(kind string, nn types.NamespacedName, err error) error {
	if notfound.Is(err) {
		return &config.MissingError{Object: kind + " " + nn.String()}
	}
	return errors.Wrapf(notfound.Explain(err), "cannot get %s %s", kind, nn)
}
