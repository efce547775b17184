// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	"k8s.io/client-go/kubernetes/fake"
)

// noise returns n bytes of text that compresses to about half its size. It is the same each time.
func noise(n int) string {
	b := make([]byte, n/2)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return hex.EncodeToString(b)
}

func TestSize(t *testing.T) {
	file := func(name, text string) *chart.File { return &chart.File{Name: name, Data: []byte(text)} }
	cases := map[string]struct {
		reason string
		file   *chart.File // bytes in the chart, in addition to the usual files
		object string      // bytes in the manifest, in addition to the usual objects
		lean   bool
		err    string
	}{
		"Small":    {reason: "Most records hold all.", file: file("README.md", "hello")},
		"Squeezed": {reason: "Text that compresses well fits, however much it is.", file: file("big.txt", strings.Repeat("all the same ", 300_000))},
		"Files":    {reason: "A record that is too large leaves out the files of the chart.", file: file("big.txt", noise(4<<20)), lean: true},
		"CRDs":     {reason: "The CRDs of the chart are among the files.", file: file("crds/a.yaml", "# "+noise(2<<20)), lean: true},
		"Manifest": {
			reason: "The record must contain the installed objects.", file: file("README.md", "hello"), object: noise(2 << 20),
			err: "even without the templates and files of the chart, but a Secret can store at most 1048576; split the chart into smaller ones, " +
				"or install its objects as raw or kustomize, which have no record",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			drafted := releaseOf(tc.file)
			drafted.Manifest += tc.object
			d := NewDraft(drafted)
			o := Options{Revision: 1, Status: "deployed", Description: "Install complete", FirstDeployed: first, LastDeployed: first}
			unchecked, err := d.Encode(o)
			if checked := d.Check(""); text(checked) == "" != (text(err) == "") {
				t.Errorf("\n%s\nEncode: %v, Check: %v", tc.reason, err, checked)
			}
			if tc.err != "" {
				if got := text(err); !strings.HasPrefix(got, `release record of chart "app": the record has `) || !strings.HasSuffix(got, tc.err) {
					t.Errorf("\n%s\ngot %q", tc.reason, got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.Encode(o)
			if diff := cmp.Diff(unchecked, s); diff != "" || err != nil {
				t.Errorf("\n%s\na check must not change the record: %v\n%s", tc.reason, err, diff)
			}

			store := storage.Init(driver.NewSecrets(fake.NewClientset(s).CoreV1().Secrets("ns")))
			rel, err := store.Deployed("rel")
			if err != nil {
				t.Fatal(err)
			}
			want := "Install complete"
			if tc.lean {
				want += leanNote
			}
			if rel.Info.Description != want || (len(rel.Chart.Templates) == 0) != tc.lean {
				t.Errorf("\n%s\ndescription %q with %d templates", tc.reason, rel.Info.Description, len(rel.Chart.Templates))
			}
			all, err := chartutil.CoalesceValues(rel.Chart, rel.Config)
			if diff := cmp.Diff(chartutil.Values{"a": 1.0, "own": "x"}, all); diff != "" || err != nil {
				t.Errorf("\n%s\nhelm get values --all: %v, -want, +got:\n%s", tc.reason, err, diff)
			}
			if rel.Manifest != d.Manifest() || len(rel.Hooks) != 1 || rel.Info.Notes != "note" || rel.Chart.Metadata.AppVersion != "v9" {
				t.Errorf("\n%s\nmanifest, hooks, notes and metadata must be kept", tc.reason)
			}

			i, err := Decode(s.Data["release"])
			if err != nil {
				t.Fatal(err)
			}
			if old, err := i.WithStatus("superseded"); err != nil || len(old.Data["release"]) > maxSecretSize {
				t.Errorf("\n%s\nit must fit when its status changes: %v", tc.reason, err)
			}
		})
	}
}

// TestCheckSmall checks that checking a typical release allocates no memory.
func TestCheckSmall(t *testing.T) {
	d := NewDraft(releaseOf())
	if n := testing.AllocsPerRun(10, func() {
		if err := d.Check(""); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("got %v allocations", n)
	}
}
