// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// inventoryKey is the key of the parent Secret's data, inventoryLimit what it may hold unpacked.
const (
	inventoryKey   = "inventory.json.gz"
	inventoryLimit = 32 << 20
)

// An inventory is what the cluster keeps of a set: its members, and what was applied last. It is stored in the parent
// of the ApplySet.
type inventory struct {
	// Parts that were applied, by name.
	Parts map[string]partRecord `json:"parts,omitempty"`
	// Objects that exist, or are about to.
	Objects []entry `json:"objects,omitempty"`

	// Tests that were asked for last; nil for none. It is replaced, and never changed.
	Tests *testRecord `json:"tests,omitempty"`

	// Good is what Set.Good was when the set was Ready last. It is stored beside the inventory.
	Good []byte `json:"-"`
}

// A partRecord is what is known of a part.
type partRecord struct {
	// Digest of the inputs that were applied completely; empty until then.
	Digest string `json:"digest,omitempty"`
	// Namespace of the release, empty where there is none, and its name where it is not that of the part. Former are those
	// that it moved from, as long as its records there are not deleted.
	Namespace     string `json:"namespace,omitempty"`
	Release       string `json:"release,omitempty"`
	Former        string `json:"former,omitempty"`
	FormerRelease string `json:"formerRelease,omitempty"`
	// Chart and Version of the chart.
	Chart   string `json:"chart,omitempty"`
	Version string `json:"version,omitempty"`
	// Revision of the Helm release; 0 where there is none.
	Revision int `json:"revision,omitempty"`
	// Origin is how many revisions failed before the first one was deployed.
	Origin int `json:"origin,omitempty"`
	// Run of the hooks that run, or of which one failed; nil for none.
	Run *hookRun `json:"run,omitempty"`
	// DeleteHooks and TestHooks say that the chart has such hooks. They are in the record of the release. HookTimeout is
	// that of each hook, and of an upgrade that is atomic, in seconds; 0 for Helm's default.
	DeleteHooks bool  `json:"deleteHooks,omitempty"`
	TestHooks   bool  `json:"testHooks,omitempty"`
	HookTimeout int64 `json:"hookTimeout,omitempty"`
	// Wait, Atomic and Own say what the config asked for: to hold back what comes after it until it is ready, to roll back
	// what fails, to take over what exists.
	Wait   bool `json:"wait,omitempty"`
	Atomic bool `json:"atomic,omitempty"`
	Own    bool `json:"own,omitempty"`
	// Shared are the names of definitions that this part has too, and that belong to a part before it.
	Shared []string `json:"shared,omitempty"`
}

// An entry is one object.
type entry struct {
	Group     string `json:"g,omitempty"`
	Version   string `json:"v"`
	Kind      string `json:"k"`
	Namespace string `json:"ns,omitempty"`
	Name      string `json:"n"`
	// Part that the object belongs to, and its stage.
	Part  string       `json:"p"`
	Stage object.Stage `json:"s"`
	// Pruned says that the object is no longer wanted, and was asked to go.
	Pruned bool `json:"d,omitempty"`
	// UID, Intent and Owned as of the last time it was applied; empty until then.
	UID    string `json:"u,omitempty"`
	Intent string `json:"i,omitempty"`
	Owned  string `json:"o,omitempty"`
	// Keep says that the object stays where it is no longer wanted, as its annotation helm.sh/resource-policy asks for.
	Keep bool `json:"kp,omitempty"`
	// Yields are fields that are left to others, which set them legitimately or again and again.
	Yields []ownership.Ceded `json:"y,omitempty"`
}

func (e *entry) key() cluster.ObjectRef {
	return cluster.ObjectRef{Group: e.Group, Kind: e.Kind, Namespace: e.Namespace, Name: e.Name}
}

func (e *entry) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: e.Group, Version: e.Version, Kind: e.Kind}
}

func entryOf(o *object.Desired) entry {
	return entry{
		Group: o.Ref.Group, Version: o.Version, Kind: o.Ref.Kind, Namespace: o.Ref.Namespace, Name: o.Ref.Name,
		Part: o.Part, Stage: o.Stage, Keep: o.Keep,
	}
}

// clone the inventory, so that the one in the cache stays as it is in the cluster.
func (i *inventory) clone() *inventory {
	c := &inventory{Parts: make(map[string]partRecord, len(i.Parts)), Objects: slices.Clone(i.Objects), Good: i.Good}
	maps.Copy(c.Parts, i.Parts)
	c.Tests = i.Tests
	return c
}

// find the entry of an object.
func (i *inventory) find(k cluster.ObjectRef) *entry {
	for n := range i.Objects {
		if i.Objects[n].key() == k {
			return &i.Objects[n]
		}
	}
	return nil
}

// index of the entries by key.
func (i *inventory) index() map[cluster.ObjectRef]*entry {
	m := make(map[cluster.ObjectRef]*entry, len(i.Objects))
	for n := range i.Objects {
		m[i.Objects[n].key()] = &i.Objects[n]
	}
	return m
}

// drop the entries that a function says are gone.
func (i *inventory) drop(gone func(e *entry) bool) {
	i.Objects = slices.DeleteFunc(i.Objects, func(e entry) bool { return gone(&e) })
}

// kinds of all entries.
func (i *inventory) kinds() []schema.GroupVersionKind {
	seen := map[schema.GroupVersionKind]bool{}
	var out []schema.GroupVersionKind
	for n := range i.Objects {
		gvk := i.Objects[n].gvk()
		if !seen[gvk] {
			seen[gvk] = true
			out = append(out, gvk)
		}
	}
	return out
}

// sort the entries, so that equal inventories are equal byte for byte.
func (i *inventory) sort() {
	sort.Slice(i.Objects, func(a, b int) bool {
		x, y := &i.Objects[a], &i.Objects[b]
		if x.Stage != y.Stage {
			return x.Stage < y.Stage
		}
		return strings.Join([]string{x.Group, x.Kind, x.Namespace, x.Name}, "/") <
			strings.Join([]string{y.Group, y.Kind, y.Namespace, y.Name}, "/")
	})
}

// marshal the inventory into the form in which it is stored.
func (i *inventory) marshal() ([]byte, error) {
	i.sort()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(i); err != nil {
		return nil, errors.Wrap(err, "cannot encode inventory")
	}
	if err := z.Close(); err != nil {
		return nil, errors.Wrap(err, "cannot compress inventory")
	}
	return b.Bytes(), nil
}

// unmarshal what marshal made. The content is foreign: whoever may write Secrets in the cluster may have changed it.
func unmarshal(data []byte) (*inventory, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, errors.Wrap(err, "inventory is not compressed")
	}
	b, err := io.ReadAll(io.LimitReader(z, inventoryLimit+1))
	if err != nil {
		return nil, errors.Wrap(err, "inventory is truncated")
	}
	if len(b) > inventoryLimit {
		return nil, errors.Errorf("inventory is larger than %d bytes", inventoryLimit)
	}
	i := &inventory{}
	if err := json.Unmarshal(b, i); err != nil {
		return nil, errors.Wrap(err, "inventory is no JSON")
	}
	if i.Parts == nil {
		i.Parts = map[string]partRecord{}
	}
	for n := range i.Objects {
		if e := &i.Objects[n]; e.Kind == "" || e.Name == "" || e.Version == "" {
			return nil, errors.Errorf("inventory has an object without kind, name or version at index %d", n)
		}
	}
	return i, i.checkRuns()
}

// checkRuns of hooks, which say where in the list of hooks they are.
func (i *inventory) checkRuns() error {
	runs := make([]*hookRun, 0, len(i.Parts)+1)
	for _, p := range i.Parts {
		runs = append(runs, p.Run)
	}
	if i.Tests != nil {
		runs = append(runs, i.Tests.Run)
	}
	for _, r := range runs {
		if r != nil && r.Index < 0 {
			return errors.Errorf("inventory has a run of hooks with index %d", r.Index)
		}
	}
	return nil
}
