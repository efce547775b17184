// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/compress"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

const (
	// Key is the data key of the parent Secret that holds the inventory.
	Key = "inventory.json.gz"
	// Limit is the maximum size of an uncompressed inventory in bytes.
	Limit = 32 << 20
	// maxItems is the maximum number of items of an inventory, in the sense of yamlsize.CheckItems. An Entry has 208 bytes, so the entries
	// take at most 20 MiB. An entry whose object is applied has at least 45 bytes when compressed, because its UID and its hashes are
	// random, and 2 items. Therefore, the largest inventory that fits into its parent has 42,000 items, and 2 more for each ceded field.
	maxItems = 100_000
	// IntentUnknown is the Intent of an entry whose object is being applied in another form: the cluster has the old or the new one. It is not
	// the hash of any object.
	IntentUnknown = "?"
)

// An Inventory holds the members of a bundle and the records of its applied parts. It is stored in the parent of the ApplySet.
type Inventory struct {
	// Parts holds the records of the applied parts, by ID.
	Parts map[object.PartID]Part `json:"parts,omitempty"`
	// Objects lists the members: objects that exist, or that the engine is about to create.
	Objects []Entry `json:"objects,omitempty"`

	// Tests is the progress of the tests that were requested last, or nil. The value is replaced, never changed.
	Tests *Tests `json:"tests,omitempty"`

	// Last holds the reasons why the last step stopped, or is nil. The value is replaced, never changed.
	Last *Reasons `json:"last,omitempty"`

	// Cluster is the UID of the cluster that contains the members, or empty if it was unknown.
	Cluster string `json:"cluster,omitempty"`

	// Checkpoint is the encoded last known good revision, or empty. It is stored under its own key.
	Checkpoint []byte `json:"-"`
}

// An Entry is one member of a bundle.
type Entry struct {
	Group     string `json:"g,omitempty"`
	Version   string `json:"v"`
	Kind      string `json:"k"`
	Namespace string `json:"ns,omitempty"`
	Name      string `json:"n"`
	// Part is the ID of the part that contains the object.
	Part  object.PartID `json:"p"`
	Stage object.Stage  `json:"s"`
	// Pruned is true once the bundle no longer contains the object and the engine is deleting it.
	Pruned bool `json:"d,omitempty"`
	// UID is the UID of the object, Intent the hash of the applied object, and Owned the hash of the fields that the engine owned
	// after applying it. All are empty until the object is applied. While it is being applied in another form, Intent is IntentUnknown.
	UID    string `json:"u,omitempty"`
	Intent string `json:"i,omitempty"`
	Owned  string `json:"o,omitempty"`
	// Keep is true if the object stays in the cluster when the bundle no longer contains it.
	Keep bool `json:"kp,omitempty"`
	// Expires is true for a Job that is deleted some time after it has finished. Older versions did not store it.
	Expires bool `json:"e,omitempty"`
	// FailedUID is the UID of the Job if it was seen to have failed. It is only set if Expires is true. A Job that is created again has
	// another UID.
	FailedUID string `json:"f,omitempty"`
	// Adopted is true if the object existed before the bundle, or might have existed, and cannot be replaced. Like a kept
	// object, it stays in the cluster, because other clients might depend on it.
	Adopted bool `json:"a,omitempty"`
	// Ceded lists the fields that the engine cedes to other managers.
	Ceded []ownership.Ceded `json:"y,omitempty"`
	// Restores counts the recent restorations of the object, or is nil. The value is replaced, never changed.
	Restores *ownership.Restores `json:"r,omitempty"`
	// Use is set if the object is a CRD of another owner, which the bundle uses as it is: it neither changes nor deletes the CRD. UID is
	// that of the CRD then, and Owned is empty. The value is replaced, never changed.
	Use *Use `json:"us,omitempty"`
}

// Rebuilt describes an inventory that was rebuilt from the objects in the cluster, because it was lost.
type Rebuilt struct {
	// Objects is the number of objects that were found.
	Objects int
	// Unsearched lists the kinds that the credentials may not list. Objects of these kinds can be missing.
	Unsearched []string
}

// mostKinds is the maximum number of kinds that the text of Rebuilt names.
const mostKinds = 5

// String returns the description for users. It names the first kinds that were not searched.
func (r *Rebuilt) String() string {
	out := fmt.Sprintf("The inventory was missing, and was rebuilt from %d objects in the cluster", r.Objects)
	if r.Objects == 1 {
		out = "The inventory was missing, and was rebuilt from 1 object in the cluster"
	}
	if len(r.Unsearched) == 0 {
		return out
	}
	named := r.Unsearched[:min(len(r.Unsearched), mostKinds)]
	return out + "; objects of these kinds may be missing, because the credentials have no permission to list them: " +
		text.Some(named, int64(len(r.Unsearched)))
}

// Ref returns the reference to the object.
func (e *Entry) Ref() cluster.ObjectRef {
	return cluster.ObjectRef{Group: e.Group, Kind: e.Kind, Namespace: e.Namespace, Name: e.Name}
}

// GVK returns the group, version and kind in which the object was applied.
func (e *Entry) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: e.Group, Version: e.Version, Kind: e.Kind}
}

// IsDismissed reports whether the object is the custom resource of the bundle and its users deleted it. The engine creates the
// custom resource once, and does not recreate it when the inputs change. Exists reports whether the object is in the cluster.
func (e *Entry) IsDismissed(exists bool) bool {
	return e.Stage == object.StageResource && e.UID != "" && !exists
}

// IsExpired reports whether the object is a Job that was applied and that, as far as is known, was deleted because it has succeeded. The
// engine creates it again only if its content changes. Exists reports whether the object is in the cluster.
func (e *Entry) IsExpired(exists bool) bool {
	return e.Expires && e.UID != "" && !e.HasFailed() && !exists
}

// HasFailed reports whether the object is a Job that was seen to fail, and was not created again.
func (e *Entry) HasFailed() bool { return e.FailedUID != "" && e.FailedUID == e.UID }

// IsNewlyFailed reports whether the object is a Job that has failed and will be deleted, and the inventory does not say yet that it failed.
func (e *Entry) IsNewlyFailed(state cluster.ObjectState) bool {
	return e.Expires && e.UID != "" && !e.HasFailed() && e.UID == state.UID && state.Outcome == cluster.OutcomeFailed
}

// HasRelease reports whether a part for which a function returns true has a release. The inventory can be nil.
func (i *Inventory) HasRelease(r Release, of func(object.PartID) bool) bool {
	if i == nil || r.IsZero() {
		return false
	}
	for name, p := range i.Parts {
		if p.ReleaseOf(name) == r && of(name) {
			return true
		}
	}
	return false
}

// IsTakenOver reports whether another part has the release of a part, in a later revision, because an install was renamed.
func (i *Inventory) IsTakenOver(part object.PartID) bool {
	rec := i.Parts[part]
	return i.HasRelease(rec.ReleaseOf(part), func(other object.PartID) bool { return i.Parts[other].Revision > rec.Revision })
}

// EntryOf returns the entry of an object that has not been applied yet.
func EntryOf(o *object.Desired) Entry {
	return Entry{
		Group: o.Ref.Group, Version: o.Version, Kind: o.Ref.Kind, Namespace: o.Ref.Namespace, Name: o.Ref.Name,
		Part: o.Part, Stage: o.Stage, Keep: o.Keep, Expires: o.Expires,
		// Only the response of the API server shows whether the object existed. Until then, it counts as adopted.
		Adopted: o.Adoption != object.AdoptNone && !object.IsReplaceable(o.Ref.GroupKind()),
	}
}

// Clone returns a copy whose parts and entries the caller may change. The copy shares the values that they point to: runs, tests,
// reasons, ceded fields and the last known good revision. Replace these values instead of changing them.
func (i *Inventory) Clone() *Inventory {
	c := &Inventory{Parts: make(map[object.PartID]Part, len(i.Parts)), Objects: slices.Clone(i.Objects), Checkpoint: i.Checkpoint}
	maps.Copy(c.Parts, i.Parts)
	c.Tests, c.Last, c.Cluster = i.Tests, i.Last, i.Cluster
	return c
}

// With returns the inventory with the objects and the releases of another one that it lacks, and reports whether there are any. Both
// inventories may be nil, and neither is changed.
func (i *Inventory) With(found *Inventory) (out *Inventory, added bool) {
	if i == nil || found == nil {
		return cmp.Or(i, found), i == nil && found != nil
	}
	out = i.Clone()
	known := out.Index()
	for n := range found.Objects {
		if en := &found.Objects[n]; known[en.Ref()] == nil {
			out.Objects, added = append(out.Objects, *en), true
		}
	}
	for part, rec := range found.Parts {
		if _, has := i.Parts[part]; !has && !i.hasRelease(rec.ReleaseOf(part)) {
			out.Parts[part], added = rec, true
		}
	}
	if !added {
		return i, false
	}
	out.Sort()
	return out, true
}

// hasRelease reports whether a part has a release, or had it before it moved.
func (i *Inventory) hasRelease(r Release) bool {
	for part, rec := range i.Parts {
		if rec.ReleaseOf(part) == r || rec.FormerReleaseOf(part) == r {
			return true
		}
	}
	return false
}

// In returns a copy of the inventory with the UID of the cluster that contains its members, or the same inventory if nothing
// changes. For a nil inventory, it returns nil.
func (i *Inventory) In(cluster string) *Inventory {
	if i == nil || cluster == "" || i.Cluster == cluster {
		return i
	}
	out := i.Clone()
	out.Cluster = cluster
	return out
}

// Equal reports whether two inventories have the same stored form. Either may be nil.
func (i *Inventory) Equal(o *Inventory) bool {
	if i == nil || o == nil {
		return i == o
	}
	return equality.Semantic.DeepEqual(i, o)
}

// Find returns the entry of an object, or nil. It takes linear time; for many objects, use Index. The pointer is valid until the
// next call of Drop or Sort.
func (i *Inventory) Find(k cluster.ObjectRef) *Entry {
	for n := range i.Objects {
		if i.Objects[n].Ref() == k {
			return &i.Objects[n]
		}
	}
	return nil
}

// Index returns the entries by reference. The pointers are valid until the next call of Drop or Sort.
func (i *Inventory) Index() map[cluster.ObjectRef]*Entry {
	m := make(map[cluster.ObjectRef]*Entry, len(i.Objects))
	for n := range i.Objects {
		m[i.Objects[n].Ref()] = &i.Objects[n]
	}
	return m
}

// FindPaused returns the objects that were restored so often that the next restoration must wait.
func (i *Inventory) FindPaused(now time.Time) map[cluster.ObjectRef]bool {
	out := map[cluster.ObjectRef]bool{}
	for n := range i.Objects {
		if en := &i.Objects[n]; en.Restores.Pause(now) {
			out[en.Ref()] = true
		}
	}
	return out
}

// Drop removes the entries for which gone returns true. It invalidates pointers to entries.
func (i *Inventory) Drop(gone func(e *Entry) bool) {
	i.Objects = slices.DeleteFunc(i.Objects, func(e Entry) bool { return gone(&e) })
}

// Kinds returns the distinct kinds of all entries.
func (i *Inventory) Kinds() []schema.GroupVersionKind {
	seen := map[schema.GroupVersionKind]bool{}
	var out []schema.GroupVersionKind
	for n := range i.Objects {
		gvk := i.Objects[n].GVK()
		if !seen[gvk] {
			seen[gvk] = true
			out = append(out, gvk)
		}
	}
	return out
}

// Sort sorts the entries by stage, kind and name, so that equal inventories have equal bytes. It invalidates pointers to entries.
func (i *Inventory) Sort() {
	sort.Slice(i.Objects, func(a, b int) bool {
		x, y := &i.Objects[a], &i.Objects[b]
		if x.Stage != y.Stage {
			return x.Stage < y.Stage
		}
		return strings.Join([]string{x.Group, x.Kind, x.Namespace, x.Name}, "/") <
			strings.Join([]string{y.Group, y.Kind, y.Namespace, y.Name}, "/")
	})
}

// Marshal returns the stored form of the inventory: compressed JSON with sorted entries, without Checkpoint.
func (i *Inventory) Marshal() ([]byte, error) {
	i = &Inventory{Parts: i.Parts, Objects: slices.Clone(i.Objects), Tests: i.Tests, Last: i.Last, Cluster: i.Cluster}
	i.Sort()
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(i); err != nil {
		return nil, errors.Wrap(err, "cannot encode inventory")
	}
	if err := yamlsize.CheckItems(b.Bytes(), maxItems); err != nil {
		return nil, errors.Wrap(err, "the inventory could not be read again")
	}
	data, err := compress.Gzip(b.Bytes(), gzip.DefaultCompression)
	return data, errors.Wrap(err, "cannot compress inventory")
}

// Unmarshal decodes the result of Marshal. The data is not trusted: anyone who can write Secrets in the cluster can change it.
func Unmarshal(data []byte) (*Inventory, error) {
	b, err := compress.Gunzip(data, Limit)
	if err != nil {
		return nil, errors.Wrap(err, "cannot decompress inventory")
	}
	if err := yamlsize.CheckItems(b, maxItems); err != nil {
		return nil, errors.Wrap(err, "inventory")
	}
	i := &Inventory{}
	if err := json.Unmarshal(b, i); err != nil {
		return nil, errors.Wrap(err, "inventory is not valid JSON")
	}
	if i.Parts == nil {
		i.Parts = map[object.PartID]Part{}
	}
	for n := range i.Objects {
		if e := &i.Objects[n]; e.Kind == "" || e.Name == "" || e.Version == "" {
			return nil, errors.Errorf("inventory: object at index %d has no kind, name or version", n)
		}
	}
	return i, i.checkRuns()
}

// checkRuns returns an error if a run of hooks has an invalid index.
func (i *Inventory) checkRuns() error {
	runs := make([]*Run, 0, len(i.Parts)+1)
	for _, p := range i.Parts {
		runs = append(runs, p.Run)
	}
	if i.Tests != nil {
		runs = append(runs, i.Tests.Run)
	}
	for _, r := range runs {
		if r != nil && r.Index < 0 {
			return errors.Errorf("inventory: hook run has invalid index %d", r.Index)
		}
	}
	return nil
}
