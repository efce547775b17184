// SPDX-License-Identifier: Apache-2.0

package object

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
)

// A Desired is an object that is ready to be applied.
type Desired struct {
	Ref cluster.ObjectRef
	// Version is the API version in which the object is applied.
	Version string
	// Part is the part of the bundle that contains the object.
	Part  PartID
	Stage Stage
	// KeepNamespaces is true if a missing namespace of the object must not be created.
	KeepNamespaces bool
	// OwnNamespace is true if the bundle also contains the namespace of the object. It is then created only as that object.
	OwnNamespace bool
	// Keep is true if the object stays in the cluster when the bundle no longer contains it. Recreate is true if the engine may
	// delete and recreate the object to change an immutable field.
	Keep, Recreate bool
	// Expires is true for a Job that is deleted some time after it has finished, because it sets ttlSecondsAfterFinished.
	Expires bool
	// Adoption determines whether the engine adopts an existing object.
	Adoption Adoption
	// CRD is the name of the CRD of the kind, or empty for built-in kinds.
	CRD string
	// Metadata is the JSON of the metadata. Rest is the JSON of all other fields. They are separate so that a patch can prepend a
	// precondition to the metadata without encoding the object again.
	Metadata, Rest []byte
	// Hash is the hash of the metadata and of all other fields as rendered. It does not change if stringData of a Secret is
	// merged into data, or with Without.
	Hash string
}

// GVK returns the group, version and kind of the object.
func (o *Desired) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: o.Ref.Group, Version: o.Version, Kind: o.Ref.Kind}
}

// New returns an object of a part in the form in which it is applied: without its status and without the metadata that only an
// API server sets. It takes ownership of u.
func New(u *unstructured.Unstructured, part PartID, s Stage) (Desired, error) {
	gvk := u.GroupVersionKind()
	o := Desired{
		Ref:     cluster.ObjectRef{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()},
		Version: gvk.Version,
		Part:    part,
		Stage:   s,
		Keep:    Keeps(u.GetAnnotations()),
		Expires: expires(u),
	}
	m, _ := u.Object["metadata"].(map[string]any)
	// An API server refuses or ignores these fields in an apply patch.
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
	if o.Metadata, err = Encode(m); err != nil {
		return Desired{}, errors.Wrapf(err, "%s: cannot encode metadata", o.Ref)
	}
	if o.Rest, err = Encode(rest); err != nil {
		return Desired{}, errors.Wrapf(err, "%s: cannot encode", o.Ref)
	}
	h := sha256.New()
	h.Write(o.Metadata)
	h.Write(o.Rest)
	o.Hash = hex.EncodeToString(h.Sum(nil)[:8])
	if o.Ref.GroupKind() == secretKind && mergeStringData(rest) {
		if o.Rest, err = Encode(rest); err != nil {
			return Desired{}, errors.Wrapf(err, "%s: cannot encode", o.Ref)
		}
	}
	return o, nil
}

// mergeStringData moves the texts in stringData of a Secret to data, and reports whether it did. An API server does the same, but records
// that the field manager owns stringData, which no object has: nothing would show that other clients change the data, and keys that a
// new version lacks would stay. If a field has another type, mergeStringData leaves all of them to the API server, which reports it.
func mergeStringData(secret map[string]any) bool {
	texts, ok := secret["stringData"].(map[string]any)
	if !ok {
		return false
	}
	data, ok := secret["data"].(map[string]any)
	if !ok && secret["data"] != nil {
		return false
	}
	data = maps.Clone(data)
	if data == nil {
		data = make(map[string]any, len(texts))
	}
	for k, v := range texts {
		text, ok := v.(string)
		if !ok {
			return false
		}
		data[k] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	delete(secret, "stringData")
	secret["data"] = data
	return true
}

// secretKind is the kind of Secrets.
var secretKind = schema.GroupKind{Kind: "Secret"} //nolint:gochecknoglobals // A constant.

// expires reports whether an object is a Job that is deleted some time after it has finished.
func expires(u *unstructured.Unstructured) bool {
	if u.GroupVersionKind().GroupKind() != (schema.GroupKind{Group: "batch", Kind: "Job"}) {
		return false
	}
	spec, ok := u.Object["spec"].(map[string]any)
	return ok && spec["ttlSecondsAfterFinished"] != nil
}

// Encode returns v as JSON on one line, without HTML escaping.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// noResourceVersion is a resource version that no stored object has. etcd counts the revisions of the whole store, and the API
// server uses the first ones before a user can create an object.
const noResourceVersion = `"resourceVersion":"1",`

// ApplyPatch returns the patch that applies the object, whether or not it exists.
func (o *Desired) ApplyPatch() []byte { return o.patch("") }

// CreatePatch returns the patch that creates the object. The patch contains a resource version that no object has, so the API
// server returns a conflict if the object exists.
func (o *Desired) CreatePatch() []byte { return o.patch(noResourceVersion) }

// PatchTo returns a patch that applies the object only if it has this UID. Otherwise, even if the object does not exist, the
// API server rejects the patch. If the UID is empty, PatchTo is the same as ApplyPatch.
func (o *Desired) PatchTo(uid string) []byte {
	if uid == "" {
		return o.ApplyPatch()
	}
	return o.patch(`"uid":` + strconv.Quote(uid) + `,`)
}

// PatchAt returns the patch that applies the object if it has this UID and resource version. Otherwise, the API server returns a
// conflict, even if the object does not exist.
func (o *Desired) PatchAt(uid, resourceVersion string) []byte {
	return o.patch(`"uid":` + strconv.Quote(uid) + `,"resourceVersion":` + strconv.Quote(resourceVersion) + `,`)
}

// patch returns the object as JSON, with additional fields at the start of its metadata.
func (o *Desired) patch(first string) []byte {
	b := make([]byte, 0, len(o.Metadata)+len(o.Rest)+64)
	b = append(b, `{"metadata":{`...)
	b = append(b, first...)
	b = append(b, o.Metadata[1:]...)
	b = append(b, ',')
	return append(b, o.Rest[1:]...)
}

// Annotations returns the annotations of the object, or nil.
func (o *Desired) Annotations() map[string]string {
	m := struct {
		Annotations map[string]string `json:"annotations"`
	}{}
	if json.Unmarshal(o.Metadata, &m) != nil {
		return nil
	}
	return m.Annotations
}

// IsAnnotated reports whether the object has an annotation with the value "true".
func (o *Desired) IsAnnotated(name string) bool {
	return o.Annotations()[name] == "true"
}

// Content returns the fields that ApplyPatch sends, or nil if they cannot be decoded.
func (o *Desired) Content() map[string]any {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(o.ApplyPatch()); err != nil {
		return nil
	}
	return u.Object
}

// irreplaceable contains the kinds that must not be deleted and recreated, because that would also delete data or other objects.
var irreplaceable = map[schema.GroupKind]bool{ //nolint:gochecknoglobals // A constant table.
	{Kind: "Namespace"}:             true,
	{Kind: "PersistentVolume"}:      true,
	{Kind: "PersistentVolumeClaim"}: true,
	CRDKind:                         true,
}

// IsReplaceable reports whether objects of a kind may be deleted and recreated.
func IsReplaceable(gk schema.GroupKind) bool { return !irreplaceable[gk] }

// Replaceable reports whether the object may be deleted and recreated. The custom resource of a bundle may not: it belongs to the
// users of the module, and deleting it would delete the resources that it represents.
func (o *Desired) Replaceable() bool {
	return o.Stage != StageResource && IsReplaceable(o.Ref.GroupKind())
}

// Without returns the object without the given fields. The hash remains the hash of the complete object.
func (o *Desired) Without(fields *fieldpath.Set) (*Desired, error) {
	if fields.Empty() {
		return o, nil
	}
	out := *o
	for _, part := range []struct {
		name string
		json *[]byte
	}{{name: "metadata", json: &out.Metadata}, {json: &out.Rest}} {
		s := fields
		if part.name != "" {
			s = fields.WithPrefix(fieldpath.PathElement{FieldName: &part.name})
		}
		var v any
		// Unlike encoding/json, this decodes integers as int64.
		if err := utiljson.Unmarshal(*part.json, &v); err != nil {
			return nil, errors.Wrap(err, "cannot decode")
		}
		b, err := Encode(fieldset.Without(v, s))
		if err != nil {
			return nil, errors.Wrap(err, "cannot encode")
		}
		*part.json = b
	}
	return &out, nil
}

// RefOf returns the reference to an object.
func RefOf(u *unstructured.Unstructured) cluster.ObjectRef {
	gk := u.GroupVersionKind().GroupKind()
	return cluster.ObjectRef{Group: gk.Group, Kind: gk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
}
