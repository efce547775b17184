// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// TestInterruptedOverwrite checks that a layout keeps its module if the module that replaces it cannot be read completely, and that the
// next try replaces it without leftovers.
func TestInterruptedOverwrite(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	source, digest := sample{text: "one", library: true, cosign: true}.layout(t)
	kymactl(t, "module", "push", source, r.Host()+"/m").want(t, command.ExitOK, "Pushed")
	reference := r.Host() + "/m//" + greeter + ":1.0.0"
	cases := map[string]struct {
		reason  string
		version string // Of the module in the layout.
		to      string
		noTag   bool
	}{
		"Directory": {reason: "The previous module has the same tag.", version: "1.0.0", to: "have"},
		"Lower":     {reason: "The tag of the previous module comes first.", version: "0.9.0", to: "have"},
		"Higher":    {reason: "The tag of the previous module comes last.", version: "2.0.0", to: "have"},
		"NoTag":     {reason: "The previous module has no tag, as with layouts of other tools.", version: "1.0.0", to: "have", noTag: true},
		"Tar":       {reason: "A tar does not change at all.", version: "1.0.0", to: "have.tar"},
		"TarLower":  {reason: "A tar with another version does not change at all.", version: "0.9.0", to: "have.tar"},
		"Gzip":      {reason: "A compressed tar does not change at all.", version: "1.0.0", to: "have.tgz"},
	}
	for name, tc := range cases {
		for verb, args := range map[string][]string{"Pull": {"module", "pull", reference, "--overwrite", "-o"}, "Copy": {"module", "copy", reference, "--overwrite"}} {
			t.Run(name+verb, func(t *testing.T) {
				dir := t.TempDir()
				to := filepath.Join(dir, tc.to)
				args := append(args[:len(args):len(args)], to)
				previous, have := sample{text: "two", version: tc.version, layers: 1}.layout(t)
				for i := 0; tc.noTag && have < digest; i++ {
					// The first digest is the root of a layout without tags.
					previous, have = sample{text: fmt.Sprint("two", i), version: tc.version, layers: 1}.layout(t)
				}
				kymactl(t, "module", "copy", previous, to).want(t, command.ExitOK, "Copied")
				if tc.noTag {
					removeTags(t, to)
				}
				before := filesIn(t, dir)

				r.SetFault(func(w http.ResponseWriter, q *http.Request) bool {
					return strings.HasSuffix(q.URL.Path, "/blobs/"+digestOf([]byte(libraryContent))) && fails(http.StatusForbidden)(w, q)
				})
				defer r.SetFault(nil)
				kymactl(t, args...).want(t, command.ExitFailure, "403")
				after := filesIn(t, dir)
				if filepath.Ext(to) == "" {
					// Blobs for the next try, and a signature in the index, can be added to a directory.
					for name := range after {
						if _, ok := before[name]; !ok || filepath.Base(name) == "index.json" {
							delete(after, name)
						}
					}
					delete(before, filepath.Join(tc.to, "index.json"))
				}
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("\n%s\nfiles: -before, +after:\n%s", tc.reason, diff)
				}
				if got := kymactl(t, "module", "inspect", to, "-o", "jsonpath={.digest}").want(t, command.ExitOK, ""); got.lastLine() != have {
					t.Errorf("\n%s\nwant the previous module, %s, got %s", tc.reason, have, got.out)
				}

				r.SetFault(nil)
				if got := kymactl(t, args...).want(t, command.ExitOK, ""); got.lastLine() != digest {
					t.Errorf("\n%s\nthe next try: want digest %s, got %q", tc.reason, digest, got.out)
				}
				if filepath.Ext(to) != "" {
					from := to
					to = filepath.Join(dir, "copied")
					kymactl(t, "module", "copy", from, to).want(t, command.ExitOK, "Copied")
				}
				if diff := cmp.Diff(blobsOf(t, source), blobsOf(t, to)); diff != "" {
					t.Errorf("\n%s\nthe next try: blobs: -want, +got:\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// TestOverwriteWithItsUser replaces a component in a layout with a module that refers to it.
func TestOverwriteWithItsUser(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	source, digest := sample{version: "2.0.0", library: true, cosign: true}.layout(t)
	kymactl(t, "module", "push", source, r.Host()+"/m").want(t, command.ExitOK, "Pushed")
	to := filepath.Join(t.TempDir(), "have")
	kymactl(t, "module", "pull", r.Host()+"/m//"+library+":0.1.0", "-o", to).want(t, command.ExitOK, "Pulled")
	kymactl(t, "module", "pull", r.Host()+"/m//"+greeter+":2.0.0", "-o", to, "--overwrite").want(t, command.ExitOK, "Pulled")
	if got := kymactl(t, "module", "inspect", to, "-o", "jsonpath={.digest}").want(t, command.ExitOK, ""); got.lastLine() != digest {
		t.Errorf("want the module %s, got %s", digest, got.out)
	}
	if diff := cmp.Diff(blobsOf(t, source), blobsOf(t, to)); diff != "" {
		t.Errorf("blobs: -want, +got:\n%s", diff)
	}
}

// TestOverwriteRepairs checks that a blob that the layout has, but that is damaged, is read from the source again.
func TestOverwriteRepairs(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	source, digest := sample{text: "new", library: true}.layout(t)
	kymactl(t, "module", "push", source, r.Host()+"/m").want(t, command.ExitOK, "Pushed")
	previous, _ := sample{text: "old", library: true}.layout(t)
	to := filepath.Join(t.TempDir(), "have")
	kymactl(t, "module", "copy", previous, to).want(t, command.ExitOK, "Copied")
	damaged := filepath.Join(to, "blobs", "sha256", strings.TrimPrefix(digestOf([]byte(libraryContent)), "sha256:"))
	if err := os.Remove(damaged); err != nil {
		t.Fatal(err)
	}
	kymactl(t, "module", "pull", r.Host()+"/m//"+greeter+":1.0.0", "-o", to, "--overwrite").want(t, command.ExitOK, "Pulled")
	if got := kymactl(t, "module", "inspect", to, "-o", "jsonpath={.digest}").want(t, command.ExitOK, ""); got.lastLine() != digest {
		t.Errorf("want the module %s, got %s", digest, got.out)
	}
	if diff := cmp.Diff(blobsOf(t, source), blobsOf(t, to)); diff != "" {
		t.Errorf("blobs: -want, +got:\n%s", diff)
	}
}

// removeTags removes all tags of a layout in a directory.
func removeTags(t *testing.T, path string) {
	t.Helper()
	path = filepath.Join(path, "index.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var index v1.Index
	if err := json.Unmarshal(data, &index); err != nil {
		t.Fatal(err)
	}
	for i := range index.Manifests {
		index.Manifests[i].Annotations = nil
	}
	if data, err = json.Marshal(index); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
