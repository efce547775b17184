// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A stage is a group of objects that is applied after the groups before it, and removed before them.
type stage int

// The stages. Only after custom resource definitions is there a wait, until they are established.
const (
	stageNamespaces stage = iota
	stageDefinitions
	stageConfiguration
	stageWorkloads
	stageHooks
	stageResource
)

var stages = []stage{stageNamespaces, stageDefinitions, stageConfiguration, stageWorkloads, stageHooks, stageResource} //nolint:gochecknoglobals // Constant.

// Kinds whose stage is not that of workloads and custom resources.
var stageOfKind = map[schema.GroupKind]stage{ //nolint:gochecknoglobals // A constant table.
	{Kind: "Namespace"}: stageNamespaces,
	crdGroupKind:        stageDefinitions,

	{Kind: "ConfigMap"}:             stageConfiguration,
	{Kind: "Secret"}:                stageConfiguration,
	{Kind: "ServiceAccount"}:        stageConfiguration,
	{Kind: "Service"}:               stageConfiguration,
	{Kind: "PersistentVolume"}:      stageConfiguration,
	{Kind: "PersistentVolumeClaim"}: stageConfiguration,
	{Kind: "LimitRange"}:            stageConfiguration,
	{Kind: "ResourceQuota"}:         stageConfiguration,

	{Group: "rbac.authorization.k8s.io", Kind: "Role"}:               stageConfiguration,
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        stageConfiguration,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:        stageConfiguration,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: stageConfiguration,
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:              stageConfiguration,
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:              stageConfiguration,
	{Group: "storage.k8s.io", Kind: "StorageClass"}:                  stageConfiguration,

	// What the API server itself calls comes after the workloads that answer.
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}: stageHooks,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:   stageHooks,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:                           stageHooks,
}

var crdGroupKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"} //nolint:gochecknoglobals // Constant.

func stageOf(gk schema.GroupKind) stage {
	if s, ok := stageOfKind[gk]; ok {
		return s
	}
	return stageWorkloads
}

// An object is ready to be sent.
type object struct {
	key     cluster.ObjectRef
	version string
	part    string
	stage   stage
	// keepNamespaces says that its namespace is not created where it is missing.
	keepNamespaces bool
	// polite says that it is not applied where others have a field with another value: the error is then a conflict.
	polite bool
	// keep says that it stays where it is no longer wanted, and force that it is created anew where it cannot be changed.
	keep, force bool
	// definition is the name of the custom resource definition of its kind, if that is no built-in one.
	definition string
	// meta and rest are the JSON of metadata and of all other fields. They are kept apart so that a resource version can
	// be put in front without encoding again.
	meta, rest []byte
	// intent is a hash of both.
	intent string
}

func (o *object) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: o.key.Group, Version: o.version, Kind: o.key.Kind}
}

// newObject of a part. It takes ownership of u.
func newObject(u *unstructured.Unstructured, partName string, s stage) (object, error) {
	gvk := u.GroupVersionKind()
	o := object{
		key:     cluster.ObjectRef{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()},
		version: gvk.Version,
		part:    partName,
		stage:   s,
		keep:    keeps(u.GetAnnotations()),
	}
	m, _ := u.Object["metadata"].(map[string]any)
	// A server refuses or ignores these in what is applied.
	for _, field := range []string{"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "selfLink"} {
		delete(m, field)
	}
	rest := make(map[string]any, len(u.Object))
	for k, v := range u.Object {
		if k != "metadata" && k != "status" {
			rest[k] = v
		}
	}
	var err error
	if o.meta, err = encode(m); err != nil {
		return object{}, errors.Wrapf(err, "%s: cannot encode metadata", o.key)
	}
	if o.rest, err = encode(rest); err != nil {
		return object{}, errors.Wrapf(err, "%s: cannot encode", o.key)
	}
	h := sha256.New()
	h.Write(o.meta)
	h.Write(o.rest)
	o.intent = hex.EncodeToString(h.Sum(nil)[:8])
	return o, nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// noResourceVersion is a resource version that no stored object has, as etcd counts the versions of the whole store and
// the first are used up before any object of a user exists.
const noResourceVersion = `"resourceVersion":"1",`

// body of the object. With create it carries a resource version that no object has: the API server then creates the
// object, or answers with a conflict where there is one.
func (o *object) body(create bool) []byte {
	b := make([]byte, 0, len(o.meta)+len(o.rest)+64)
	b = append(b, `{"metadata":{`...)
	if create {
		b = append(b, noResourceVersion...)
	}
	b = append(b, o.meta[1:]...)
	b = append(b, ',')
	return append(b, o.rest[1:]...)
}

// decorate puts the labels of the set on an object.
func decorate(u *unstructured.Unstructured, labels map[string]string) {
	l := u.GetLabels()
	if l == nil {
		l = make(map[string]string, len(labels))
	}
	maps.Copy(l, labels)
	u.SetLabels(l)
}

// Annotations and the label by which Helm knows what belongs to a release.
const (
	helmReleaseName      = "meta.helm.sh/release-name"
	helmReleaseNamespace = "meta.helm.sh/release-namespace"
	helmManagedBy        = "app.kubernetes.io/managed-by"
)

// decorateRelease makes Helm recognise an object as part of its release, as `helm install` does.
func decorateRelease(u *unstructured.Unstructured, h home) {
	a := u.GetAnnotations()
	if a == nil {
		a = make(map[string]string, 2)
	}
	a[helmReleaseName], a[helmReleaseNamespace] = h.name, h.namespace
	u.SetAnnotations(a)
	decorate(u, map[string]string{helmManagedBy: "Helm"})
}
