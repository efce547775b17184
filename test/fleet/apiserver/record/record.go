// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"maps"
	"strconv"
	"time"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Key identifies an object in a cluster.
type Key struct {
	schema.GroupResource

	Namespace, Name string
}

// Interned returns the same key with strings that all clusters share.
func (k Key) Interned() Key {
	share := func(s string) string { return unique.Make(s).Value() }
	return Key{
		GroupResource: schema.GroupResource{Group: share(k.Group), Resource: share(k.Resource)},
		Namespace:     share(k.Namespace), Name: share(k.Name),
	}
}

// A Record is an immutable object. The zero value is not valid; use New.
type Record struct {
	uid        string
	version    uint64
	generation int64
	// created is in seconds since the epoch.
	created int64
	// metadata is the JSON of all other metadata except managedFields, and content that of all other fields.
	metadata, content unique.Handle[string]
	managed           []entry
}

// An entry is an entry of managedFields without its time, which is in seconds since the epoch, or 0.
type entry struct {
	time   int64
	fields unique.Handle[string]
}

// New returns the record of an object. It does not keep or change the object.
func New(object map[string]any) (*Record, error) {
	metadata, _ := object["metadata"].(map[string]any)
	r := &Record{}
	var err error
	if r.content, err = share(without(object, "metadata")); err != nil {
		return nil, err
	}
	if r.metadata, err = share(without(metadata, "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")); err != nil {
		return nil, err
	}
	r.uid, _ = metadata["uid"].(string)
	r.generation, _ = metadata["generation"].(int64)
	r.created = seconds(metadata["creationTimestamp"])
	version, _ := metadata["resourceVersion"].(string)
	if version != "" {
		if r.version, err = strconv.ParseUint(version, 10, 64); err != nil {
			return nil, errors.Wrap(err, "metadata.resourceVersion")
		}
	}
	managed, _ := metadata["managedFields"].([]any)
	for _, m := range managed {
		fields, _ := m.(map[string]any)
		h, err := share(without(fields, "time"))
		if err != nil {
			return nil, err
		}
		r.managed = append(r.managed, entry{time: seconds(fields["time"]), fields: h})
	}
	return r, nil
}

// Version returns the resource version.
func (r *Record) Version() uint64 { return r.version }

// UID returns the UID.
func (r *Record) UID() string { return r.uid }

// Object returns a new copy of the object.
func (r *Record) Object() map[string]any {
	out := decode(r.content)
	out["metadata"] = r.Metadata()
	return out
}

// Metadata returns a new copy of the metadata.
func (r *Record) Metadata() map[string]any {
	out := decode(r.metadata)
	out["uid"] = r.uid
	out["resourceVersion"] = strconv.FormatUint(r.version, 10)
	if r.generation != 0 {
		out["generation"] = r.generation
	}
	if r.created != 0 {
		out["creationTimestamp"] = timestamp(r.created)
	}
	if len(r.managed) == 0 {
		return out
	}
	managed := make([]any, 0, len(r.managed))
	for _, e := range r.managed {
		m := decode(e.fields)
		if e.time != 0 {
			m["time"] = timestamp(e.time)
		}
		managed = append(managed, m)
	}
	out["managedFields"] = managed
	return out
}

// Labels returns the labels.
func (r *Record) Labels() map[string]string {
	m := &metav1.ObjectMeta{}
	if err := json.Unmarshal([]byte(r.metadata.Value()), m); err != nil {
		panic(err) // New encoded it.
	}
	return m.Labels
}

func without(m map[string]any, names ...string) map[string]any {
	out := make(map[string]any, len(m))
	maps.Copy(out, m)
	for _, n := range names {
		delete(out, n)
	}
	return out
}

// share returns the JSON of a map, which is stored once in the process.
func share(m map[string]any) (unique.Handle[string], error) {
	b, err := json.Marshal(m)
	return unique.Make(string(b)), errors.Wrap(err, "cannot encode")
}

func decode(h unique.Handle[string]) map[string]any {
	out := map[string]any{}
	if err := utiljson.Unmarshal([]byte(h.Value()), &out); err != nil {
		panic(err) // New encoded it.
	}
	return out
}

func seconds(v any) int64 {
	s, _ := v.(string)
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0
	}
	return t.Unix()
}

func timestamp(s int64) string { return time.Unix(s, 0).UTC().Format(time.RFC3339) }
