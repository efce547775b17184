// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

func sample() *Inventory {
	return &Inventory{
		Parts: map[object.PartID]Part{
			"web":       {Digest: "d", Namespace: "apps", Former: "old", Chart: "web", Version: "1", Revision: 3, DeleteHooks: true, Run: &Run{Event: "pre-install", Index: 1, UID: "u", Started: 5}, Shared: []string{"x"}},
			"resource:": {},
		},
		Objects: []Entry{
			{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "apps", Name: "b", Part: "web", Stage: object.StageWorkloads, UID: "1", Intent: "2", Owned: "3"},
			{Version: "v1", Kind: "ConfigMap", Namespace: "kyma-system", Name: "a", Part: "web", Stage: object.StageConfiguration, Pruned: true},
			{Version: "v1", Kind: "Namespace", Name: "z", Part: "web"},
		},
	}
}

func TestInventoryRoundTrip(t *testing.T) {
	b, err := sample().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Unmarshal(b)
	if err != nil {
		t.Fatal(err)
	}
	want := sample()
	want.Sort()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if want.Objects[0].Name != "z" || want.Objects[2].Name != "b" {
		t.Errorf("the order is that of the stages: %+v", want.Objects)
	}
	other := sample()
	other.Objects[0], other.Objects[2] = other.Objects[2], other.Objects[0]
	if again, err := other.Marshal(); err != nil || !bytes.Equal(b, again) {
		t.Errorf("equal inventories must be equal byte for byte: %v", err)
	}
	c := want.Clone()
	c.Objects[0].UID, c.Parts["web"] = "9", Part{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a clone must be its own: -want, +got:\n%s", diff)
	}
}

func TestInventoryAnnotations(t *testing.T) {
	if got := GroupKinds(sample()); got != "ConfigMap,Deployment.apps,Namespace" {
		t.Errorf("group kinds: %q", got)
	}
	if got := Namespaces(sample(), "kyma-system"); got != "apps" {
		t.Errorf("namespaces other than that of the parent: %q", got)
	}
	if got := GroupKinds(&Inventory{}) + Namespaces(&Inventory{}, ""); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

func packed(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestUnmarshalRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		data   []byte
		want   string
	}{
		"Empty":     {reason: "A Secret without the key is damaged.", want: "cannot decompress inventory: EOF"},
		"Truncated": {reason: "A truncated inventory is not used.", data: packed(`{"objects":[]}`)[:20], want: "cannot decompress inventory: unexpected EOF"},
		"NoJSON":    {reason: "The inventory must be JSON.", data: packed("x"), want: "inventory is not valid JSON: invalid character 'x' looking for beginning of value"},
		"NoName":    {reason: "An object without a name would address a collection.", data: packed(`{"objects":[{"k":"Pod","v":"v1"}]}`), want: "inventory: object at index 0 has no kind, name or version"},
		"Bomb":      {reason: "An inventory that is larger than the limit when uncompressed is refused.", data: packed(string(make([]byte, Limit+1))), want: "cannot decompress inventory: larger than 33554432 bytes when decompressed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Unmarshal(tc.data)
			if err == nil || err.Error() != tc.want {
				t.Errorf("\n%s\nwant %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// repeated returns a text of n bytes with many copies of a JSON value.
func repeated(prefix, value string, n int, suffix string) string {
	return prefix + strings.Repeat(value+",", (n-len(prefix)-len(suffix))/(len(value)+1)-1) + value + suffix
}

// TestUnmarshalBombs checks that an inventory of a few kilobytes does not become gigabytes of entries.
func TestUnmarshalBombs(t *testing.T) {
	var parts strings.Builder
	for n := range 2 * maxItems {
		fmt.Fprintf(&parts, `"%d":0,`, n)
	}
	const tooMany = "inventory: JSON contains too many values: more than 100000 lists, objects and elements"
	cases := map[string]struct {
		reason, text, want string
		// most is the maximum size of everything that is allocated, including what is freed.
		most int
	}{
		"Objects":  {reason: "An empty object becomes a whole entry.", text: repeated(`{"objects":[`, `{}`, Limit, `]}`), want: tooMany, most: Limit + 1<<20},
		"Lists":    {reason: "An element of the wrong type becomes an entry, too.", text: repeated(`{"objects":[`, `[]`, Limit, `]}`), want: tooMany, most: Limit + 1<<20},
		"Texts":    {reason: "So does a text.", text: repeated(`{"objects":[`, `""`, Limit, `]}`), want: tooMany, most: Limit + 1<<20},
		"Escaped":  {reason: "A quote can be part of a text.", text: repeated(`{"objects":[`, `"\\\""`, Limit, `]}`), want: tooMany, most: Limit + 1<<20},
		"Numbers":  {reason: "So does a number, which is the shortest value.", text: repeated(`{"objects":[`, `0`, Limit, `]}`), want: tooMany, most: Limit + 1<<20},
		"Nulls":    {reason: "So does null.", text: repeated(`{"objects":[`, `null`, Limit, `]}`), want: tooMany, most: Limit + 1<<20},
		"Spaces":   {reason: "White space changes nothing.", text: repeated(`{"objects" : [`, " {\t}\n", Limit, ` ] }`), want: tooMany, most: Limit + 1<<20},
		"Nested":   {reason: "Values within an entry count.", text: repeated(`{"objects":[{"y":[`, `{}`, Limit, `]}]}`), want: tooMany, most: Limit + 1<<20},
		"Deep":     {reason: "Open lists count.", text: strings.Repeat("[", Limit), want: tooMany, most: Limit + 4<<20},
		"Parts":    {reason: "Members of a map count.", text: `{"parts":{` + parts.String() + `"":0}}`, want: tooMany, most: 4 << 20},
		"Fits":     {reason: "As many elements as possible take a moderate amount of memory.", text: repeated(`{"objects":[`, `0`, 2*maxItems, `]}`), want: "inventory is not valid JSON", most: 144 << 20},
		"FitsToo":  {reason: "As many parts as possible take a moderate amount of memory.", text: `{"parts":{` + parts.String()[:maxItems*8] + `"":0}}`, want: "inventory is not valid JSON", most: 80 << 20},
		"Pointers": {reason: "Nothing in an entry is much larger than the entry.", text: repeated(`{"objects":[`, `{"r":{},"us":{},"y":[{}]}`, maxItems*4, `]}`), want: "has no kind, name or version", most: 40 << 20},
		"NoJSON":   {reason: "Invalid JSON is not decoded.", text: repeated(`]{"objects":]`, `0`, Limit, ``), want: "inventory is not valid JSON", most: Limit + 1<<20},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data := packed(tc.text)
			defer fuzztest.Within(t, fuzztest.Limits{Base: tc.most}, len(data))()
			if _, err := Unmarshal(data); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nwant %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestManyItems checks that the largest inventory that fits into its parent can be read, and that an inventory that cannot be read is not
// written.
func TestManyItems(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	inv := &Inventory{}
	for n := range 20_000 {
		u := fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64())
		inv.Objects = append(inv.Objects, Entry{
			Version: "v1", Kind: "ConfigMap", Namespace: "web", Name: fmt.Sprintf("config-%d", n), Part: "web",
			UID:    strings.Join([]string{u[:8], u[8:12], u[12:16], u[16:20], u[20:]}, "-"),
			Intent: fmt.Sprintf("%016x", random.Uint64()), Owned: fmt.Sprintf("%016x", random.Uint64()),
			Ceded: []ownership.Ceded{{Path: "f:spec/f:replicas", Manager: "autoscaler"}},
		})
	}
	data, err := inv.Marshal()
	if err != nil || len(data) > MaxData || len(data) < MaxData*9/10 {
		t.Fatalf("%d objects have %d bytes, and the parent can store %d: %v", len(inv.Objects), len(data), MaxData, err)
	}
	if _, err := Unmarshal(data); err != nil {
		t.Errorf("%d objects: %v", len(inv.Objects), err)
	}
	inv.Objects = append(inv.Objects, make([]Entry, maxItems/2)...)
	if _, err := inv.Marshal(); err == nil || !strings.Contains(err.Error(), "the inventory could not be read again: JSON contains too many values") {
		t.Errorf("%d objects: %v", len(inv.Objects), err)
	}
}

// Anyone who can write Secrets in the cluster can change the inventory. It must not crash the process.
func TestUnmarshalRefusesHookRuns(t *testing.T) {
	for _, text := range []string{
		`{"parts":{"web":{"run":{"event":"pre-install","index":-1}}}}`,
		`{"tests":{"token":"t","part":"web","run":{"event":"test","index":-1}}}`,
	} {
		if _, err := Unmarshal(packed(text)); err == nil || !strings.Contains(err.Error(), "inventory: hook run has invalid index -1") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	b, err := sample().Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, []byte(`{}`))
	f.Add([]byte{}, []byte(`{"parts":{"a":{"revision":-1}},"objects":[{"k":"a","n":"b","v":"c","s":-7}]}`))
	f.Fuzz(func(t *testing.T, raw, text []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(raw)+len(text))()
		if _, err := Unmarshal(raw); err != nil && err.Error() == "" {
			t.Error("an error must say something")
		}
		i, err := Unmarshal(packed(string(text)))
		if err != nil {
			return
		}
		b, err := i.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Unmarshal(b)
		if err != nil {
			t.Fatalf("what was read cannot be written and read: %v", err)
		}
		if diff := cmp.Diff(i, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
	})
}

func TestIsDismissed(t *testing.T) {
	cases := map[string]struct {
		reason string
		entry  Entry
		exists bool
		want   bool
	}{
		"Deleted": {reason: "A custom resource that was applied no longer exists.", entry: Entry{Stage: object.StageResource, UID: "1"}, want: true},
		"Exists":  {reason: "The custom resource exists.", entry: Entry{Stage: object.StageResource, UID: "1"}, exists: true},
		"New":     {reason: "A custom resource that was never applied is about to be created.", entry: Entry{Stage: object.StageResource}},
		"Other":   {reason: "Any other object is recreated.", entry: Entry{Stage: object.StageWorkloads, UID: "1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.entry.IsDismissed(tc.exists); got != tc.want {
				t.Errorf("\n%s\nIsDismissed(%t): %t", tc.reason, tc.exists, got)
			}
		})
	}
}

func TestWith(t *testing.T) {
	of := func(parts map[object.PartID]Part, names ...string) *Inventory {
		out := &Inventory{Parts: parts}
		for _, n := range names {
			out.Objects = append(out.Objects, Entry{Kind: "ConfigMap", Name: n, UID: n})
		}
		return out
	}
	renamed := Entry{Kind: "ConfigMap", Name: "a", UID: "known"}
	known := &Inventory{Objects: []Entry{renamed}, Parts: map[object.PartID]Part{"web": {Namespace: "apps", Former: "old"}}}
	type want struct {
		Inventory *Inventory
		Added     bool
	}
	cases := map[string]struct {
		reason   string
		inv, add *Inventory
		want     want
	}{
		"None":  {reason: "There is none, and nothing was found."},
		"Found": {reason: "There is none.", add: of(nil, "a"), want: want{Inventory: of(nil, "a"), Added: true}},
		"Known": {reason: "Nothing was found.", inv: known, want: want{Inventory: known}},
		"Same": {
			reason: "Entries and parts that it has stay. A release of one of its parts is not one of another part.",
			inv:    known, add: of(map[object.PartID]Part{"web": {Revision: 1}, "old/web": {Namespace: "old", Release: "web"}}, "a"), want: want{Inventory: known},
		},
		"Object": {
			reason: "An object is added, in order.", inv: of(nil, "b"), add: of(nil, "b", "a"),
			want: want{Inventory: of(map[object.PartID]Part{}, "a", "b"), Added: true},
		},
		"Release": {
			reason: "A release is added.", inv: known, add: of(map[object.PartID]Part{"gone": {Namespace: "apps"}}),
			want: want{Inventory: &Inventory{Objects: []Entry{renamed}, Parts: map[object.PartID]Part{"web": known.Parts["web"], "gone": {Namespace: "apps"}}}, Added: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inv, added := tc.inv.With(tc.add)
			if diff := cmp.Diff(tc.want, want{Inventory: inv, Added: added}); diff != "" {
				t.Errorf("\n%s\nWith(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
