// SPDX-License-Identifier: Apache-2.0

package record

import (
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

var (
	first = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	last  = first.Add(time.Hour)
)

const (
	objectText = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
	hookText   = "apiVersion: v1\nkind: Pod\nmetadata: {name: h, annotations: {helm.sh/hook: test}}\n"
)

// releaseOf returns a release of a chart with additional files.
func releaseOf(more ...*chart.File) *release.Release {
	return &release.Release{
		Name: "rel", Namespace: "ns", Config: map[string]any{"own": "x"}, Manifest: "---\n# Source: app/templates/a.yaml\n" + objectText,
		Info: &release.Info{Notes: "note"},
		Hooks: []*release.Hook{{
			Name: "h", Kind: "Pod", Path: "app/templates/h.yaml", Manifest: hookText, Weight: 3,
			Events: []release.HookEvent{release.HookTest}, DeletePolicies: []release.HookDeletePolicy{release.HookSucceeded},
		}},
		Chart: &chart.Chart{
			Metadata:  &chart.Metadata{APIVersion: "v2", Name: "app", Version: "1.2.3", AppVersion: "v9"},
			Values:    map[string]any{"a": 1.0},
			Schema:    []byte(`{"type":"object"}`),
			Templates: []*chart.File{{Name: "templates/a.yaml", Data: []byte(objectText)}, {Name: "templates/h.yaml", Data: []byte(hookText)}},
			Files:     more,
		},
	}
}

func TestRoundTrip(t *testing.T) {
	d := NewDraft(releaseOf())
	o := Options{Revision: 3, Status: "deployed", Description: "d", FirstDeployed: first, LastDeployed: last}
	s, err := d.Encode(o)
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Encode(o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, again); diff != "" {
		t.Errorf("two records of the same must be equal:\n%s", diff)
	}

	i, err := Decode(s.Data["release"])
	if err != nil {
		t.Fatal(err)
	}
	want := Info{
		Name: "rel", Namespace: "ns", Revision: 3, Status: "deployed", Description: "d", ChartName: "app", ChartVersion: "1.2.3", AppVersion: "v9",
		Manifest: d.Manifest(), FirstDeployed: first, LastDeployed: last, release: i.release,
	}
	if diff := cmp.Diff(want, *i, cmp.AllowUnexported(Info{}), cmp.Comparer(func(a, b *release.Release) bool { return a == b })); diff != "" {
		t.Errorf("Decode(...): -want, +got:\n%s", diff)
	}
	hooks := []Hook{{Name: "h", Kind: "Pod", Path: "app/templates/h.yaml", Manifest: hookText, Events: []string{"test"}, Weight: 3, DeletePolicies: []string{"hook-succeeded"}}}
	for name, got := range map[string][]Hook{"drafted": d.Hooks(), "decoded": i.Hooks()} {
		if diff := cmp.Diff(hooks, got); diff != "" {
			t.Errorf("%s hooks: -want, +got:\n%s", name, diff)
		}
	}

	i.Labels = map[string]string{"mine": "x", "status": "deployed", "owner": "helm"}
	old, err := i.WithStatus("superseded")
	if err != nil {
		t.Fatal(err)
	}
	if old.Labels["status"] != "superseded" || old.Labels["mine"] != "x" || old.Name != s.Name {
		t.Errorf("WithStatus: got %s with labels %v", old.Name, old.Labels)
	}
	o.Status, o.Labels = "superseded", map[string]string{"mine": "x"}
	same, err := d.Encode(o)
	if diff := cmp.Diff(same, old); diff != "" || err != nil {
		t.Errorf("WithStatus must give what Encode gives: %v\n%s", err, diff)
	}
	if i.Status != "deployed" {
		t.Error("WithStatus must not change the Info")
	}
}

func TestErrors(t *testing.T) {
	_, err := NewDraft(releaseOf()).Encode(Options{Labels: map[string]string{"owner": "me"}})
	if got := text(err); !strings.HasPrefix(got, "a release record must not have any of the labels") {
		t.Errorf("labels: got %q", got)
	}

	for name, data := range map[string]string{"Empty": "", "NotBase64": "%%%", "NotJSON": "YWJj", "NotGzip": "H4sIAAAA", "NoName": "e30="} {
		if _, err := Decode([]byte(data)); err == nil || !strings.HasPrefix(err.Error(), "cannot read release record: ") {
			t.Errorf("%s: Decode(...): got %v", name, err)
		}
	}
	bomb, err := pack(make([]byte, maxUnpacked+1), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(bomb); !strings.Contains(text(err), "bytes when decompressed") {
		t.Errorf("bomb: Decode(...): got %v", err)
	}
}

// TestBombs checks that a record of a few kilobytes does not become gigabytes of hooks or values.
func TestDecodeBombs(t *testing.T) {
	hooks := func(value string, n int) string {
		return `{"name":"a","hooks":[` + strings.Repeat(value+",", n/(len(value)+1)) + value + `]}`
	}
	const tooMany = "cannot read release record: JSON contains too many values: more than 50000 lists, objects and elements"
	const large = maxUnpacked - 1<<10
	var members strings.Builder
	for n := range 13 {
		fmt.Fprintf(&members, `"%d":"%d",`, n, n)
	}
	full := "{" + strings.TrimSuffix(members.String(), ",") + "}"
	cases := map[string]struct {
		reason, text, want string
		// most is the maximum size of everything that is allocated, including what is freed.
		most int
	}{
		"Objects":    {reason: "An empty object becomes a whole hook.", text: hooks(`{}`, large), want: tooMany, most: maxUnpacked + 2<<20},
		"Lists":      {reason: "So does a value of the wrong type.", text: hooks(`[]`, large), want: tooMany, most: maxUnpacked + 2<<20},
		"Texts":      {reason: "So does a text.", text: hooks(`""`, large), want: tooMany, most: maxUnpacked + 2<<20},
		"Numbers":    {reason: "So does a number, which is the shortest value.", text: hooks(`0`, large), want: tooMany, most: maxUnpacked + 2<<20},
		"Values":     {reason: "Values count.", text: `{"config":{"a":[` + strings.Repeat("{},", large/3) + `0]}}`, want: tooMany, most: maxUnpacked + 2<<20},
		"Deep":       {reason: "Nested values count.", text: `{"config":` + strings.Repeat(`{"":`, large/4), want: tooMany, most: maxUnpacked + 4<<20},
		"Fits":       {reason: "As many hooks as possible take a moderate amount of memory.", text: hooks(`0`, 2*maxItems-100), want: "cannot unmarshal number", most: 24 << 20},
		"FitsValues": {reason: "As many values as possible take a moderate amount of memory.", text: `{"config":{"a":[` + strings.Repeat(full+",", maxItems/2-10) + `0]}}`, want: "name, info or chart is missing", most: 48 << 20},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data, err := pack([]byte(tc.text), gzip.DefaultCompression)
			if err != nil {
				t.Fatal(err)
			}
			defer fuzztest.Within(t, fuzztest.Limits{Base: tc.most}, len(data))()
			if _, err := Decode(data); !strings.Contains(text(err), tc.want) {
				t.Errorf("\n%s\nDecode(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
	if _, err := Decode([]byte(base64.StdEncoding.EncodeToString([]byte(hooks(`0`, 2*maxItems))))); text(err) != tooMany {
		t.Errorf("a record that is not compressed: want error %q, got %v", tooMany, err)
	}
	rel := releaseOf()
	rel.Config["list"] = make([]int, maxItems)
	if _, err := NewDraft(rel).Encode(Options{}); !strings.Contains(text(err), "the record could not be read again: JSON contains too many values") {
		t.Errorf("a record that cannot be read is not written: got %v", err)
	}
}

// FuzzDecode checks that a decoded record can be encoded and decoded again.
func FuzzDecode(f *testing.F) {
	s, err := NewDraft(releaseOf()).Encode(Options{Revision: 1, Status: "deployed"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s.Data["release"])
	f.Add([]byte("e30="))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(data))()
		i, err := Decode(data)
		if err != nil {
			return
		}
		s, err := i.WithStatus("superseded")
		if err != nil {
			return // A record that cannot be encoded again results in an error.
		}
		again, err := Decode(s.Data["release"])
		if err != nil || again.Name != i.Name || again.Status != "superseded" {
			t.Errorf("got %+v, %v", again, err)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	d := NewDraft(releaseOf(&chart.File{Name: "README.md", Data: []byte(noise(8 << 10))}))
	b.ReportAllocs()
	for b.Loop() {
		s, err := d.Encode(Options{Revision: 1, Status: "deployed"})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(s.Data["release"])), "bytes/record")
	}
}

// text returns the text of an error, or "".
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
