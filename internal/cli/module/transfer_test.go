// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/summary"
	"github.com/crossplane-contrib/provider-kyma/internal/cosign"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// TestMain prevents the tests from using the credentials of the user.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kymactl-test-")
	if err != nil {
		panic(err)
	}
	if err := os.Setenv("DOCKER_CONFIG", dir); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func TestPush(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	layout, digest := sample{cosign: true}.layout(t)
	reference := r.Host() + "/modules/component-descriptors/" + greeter + ":1.0.0"

	got := kymactl(t, "module", "push", layout, r.Host()+"/modules").want(t, command.ExitOK, "Pushed: "+reference)
	if want := reference + "\n" + digest + "\n"; got.out != want {
		t.Errorf("push: want %q on stdout, got %q", want, got.out)
	}
	if writes(r) == 0 {
		t.Fatal("push: nothing was written, so the test below cannot fail")
	}

	r.Reset()
	again := kymactl(t, "module", "push", r.Host()+"/modules", layout).want(t, command.ExitOK, "Unchanged: "+reference)
	if again.out != got.out {
		t.Errorf("push again: want %q on stdout, got %q", got.out, again.out)
	}
	if n := writes(r); n != 0 {
		t.Errorf("push again: want no write, got %d in %v", n, r.Requests())
	}

	var s summary.Module
	full := kymactl(t, "module", "push", layout, "oci://"+reference, "-o", "json", "--quiet").want(t, command.ExitOK, "")
	if full.err != "" {
		t.Errorf("push --quiet: want nothing on stderr, got %q", full.err)
	}
	if err := json.Unmarshal([]byte(full.out), &s); err != nil {
		t.Fatal(err)
	}
	if s.Repository != strings.TrimSuffix(reference, ":1.0.0") || s.Tag != "1.0.0" || s.Digest != digest || len(s.Layers) != 2 ||
		s.Signatures == nil || s.Uploaded == nil || *s.Uploaded != 0 {
		t.Errorf("push -o json: got %s", full.out)
	}
	kymactl(t, "module", "pull", r.Host()+"/modules/component-descriptors/"+greeter+":"+cosignTag(digest), "-o", filepath.Join(t.TempDir(), "x")).
		want(t, command.ExitFailure, "container image")
}

func TestPushMapsNamesAndVersions(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	layout, digest := sample{version: "1.0.0-rc.1+build.5"}.layout(t)
	got := kymactl(t, "module", "push", layout, r.Host()+"/m", "--name-mapping", "sha256-digest").want(t, command.ExitOK, "Pushed")
	reference := r.Host() + "/m/" + strings.TrimPrefix(digestOf([]byte(greeter)), "sha256:") + ":1.0.0-rc.1.build-build.5"
	if want := reference + "\n" + digest + "\n"; got.out != want {
		t.Errorf("push: want %q, got %q", want, got.out)
	}
	t.Chdir(t.TempDir())
	pulled := kymactl(t, "module", "pull", reference).want(t, command.ExitOK, "Pulled: greeter-1.0.0-rc.1.build-build.5")
	if pulled.lastLine() != digest {
		t.Errorf("pull: want digest %s, got %q", digest, pulled.out)
	}
}

func TestPushOfOtherContent(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	one, digest := sample{text: "one"}.layout(t)
	two, other := sample{text: "two"}.layout(t)
	kymactl(t, "module", "push", one, r.Host()+"/m").want(t, command.ExitOK, "Pushed")
	r.Reset()
	kymactl(t, "module", "push", two, r.Host()+"/m").want(t, command.ExitExists, "exists with different content ("+digest)
	if n := writes(r); n != 0 {
		t.Errorf("push of other content: want no write, got %d", n)
	}
	got := kymactl(t, "module", "push", two, r.Host()+"/m", "--overwrite").want(t, command.ExitOK, "Pushed")
	if got.lastLine() != other {
		t.Errorf("push --overwrite: want digest %s, got %q", other, got.out)
	}
}

func TestPullAndCopyKeepEverything(t *testing.T) {
	a, b := startRegistry(t, controlplane.WebOptions{}), startRegistry(t, controlplane.WebOptions{})
	layout, digest := sample{layers: 2, library: true, cosign: true, key: key()}.layout(t)
	blobs := blobsOf(t, layout)
	kymactl(t, "module", "push", layout, a.Host()+"/a/b").want(t, command.ExitOK, "Pushed")
	reference := a.Host() + "/a/b//" + greeter + ":1.0.0"

	got := kymactl(t, "module", "copy", reference, b.Host()+"/c").want(t, command.ExitOK, "Copied: "+b.Host()+"/c/component-descriptors/"+greeter+":1.0.0")
	if got.lastLine() != digest {
		t.Errorf("copy: want digest %s, got %q", digest, got.out)
	}
	b.Reset()
	kymactl(t, "module", "copy", reference, b.Host()+"/c").want(t, command.ExitOK, "Unchanged")
	if n := writes(b); n != 0 {
		t.Errorf("copy again: want no write, got %d", n)
	}

	directory := filepath.Join(t.TempDir(), "out")
	kymactl(t, "module", "pull", b.Host()+"/c//"+greeter+":1.0.0", "-o", directory).want(t, command.ExitOK, "Pulled: "+directory)
	if diff := cmp.Diff(blobs, blobsOf(t, directory)); diff != "" {
		t.Errorf("pull: blobs: -pushed, +pulled:\n%s", diff)
	}
	b.Reset()
	kymactl(t, "module", "pull", b.Host()+"/c//"+greeter+"@"+digest, "-o", directory).want(t, command.ExitOK, "Unchanged")

	tar := filepath.Join(t.TempDir(), "out.tar")
	kymactl(t, "module", "copy", directory, tar).want(t, command.ExitOK, "Copied: "+tar)
	back := filepath.Join(t.TempDir(), "back")
	kymactl(t, "module", "copy", tar, back).want(t, command.ExitOK, "Copied: "+back)
	if diff := cmp.Diff(blobs, blobsOf(t, back)); diff != "" {
		t.Errorf("copy by way of a tar: blobs: -pushed, +copied:\n%s", diff)
	}
	c := startRegistry(t, controlplane.WebOptions{})
	got = kymactl(t, "module", "push", tar, c.Host()+"/d").want(t, command.ExitOK, "Pushed")
	if got.lastLine() != digest {
		t.Errorf("push of the pulled module: want digest %s, got %q", digest, got.out)
	}
	child := filepath.Join(t.TempDir(), "child")
	kymactl(t, "module", "pull", c.Host()+"/d//"+library+":0.1.0", "-o", child).want(t, command.ExitOK, "Pulled")
}

func TestPushWithoutReferenced(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	layout, _ := sample{library: true}.layout(t)
	index := filepath.Join(layout, "index.json")
	data, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	var parsed map[string]any
	if err := json.Unmarshal(data, &parsed); err != nil {
		t.Fatal(err)
	}
	parsed["manifests"] = parsed["manifests"].([]any)[:1]
	if data, err = json.Marshal(parsed); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(index, data, 0o600); err != nil {
		t.Fatal(err)
	}
	kymactl(t, "module", "push", layout, r.Host()+"/m").want(t, command.ExitOK,
		"Warning: the referenced component "+library+":0.1.0 is not in the layout: the registry must already have it")
}

// TestOverwriteKeepsSignatures checks that --overwrite drops no cosign signature of a module that did not change.
func TestOverwriteKeepsSignatures(t *testing.T) {
	keys := []*rsa.PrivateKey{key(), newKey(t), newKey(t)}
	cases := map[string]struct {
		reason string
		// ours and theirs are the keys that signed the module in the source and in the destination.
		ours, theirs []int
		say          string
	}{
		"Fewer": {reason: "The source lacks a signature.", ours: []int{0}, theirs: []int{0, 1}, say: "Unchanged"},
		"More":  {reason: "The destination lacks a signature.", ours: []int{0, 1}, theirs: []int{0}, say: "Pushed"},
		"Other": {reason: "Each lacks a signature of the other.", ours: []int{0, 1}, theirs: []int{1, 2}, say: "Pushed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := startRegistry(t, controlplane.WebOptions{})
			path, digest := sample{}.layout(t)
			kymactl(t, "module", "push", path, r.Host()+"/m").want(t, command.ExitOK, "Pushed")
			repository := r.Host() + "/m/component-descriptors/" + greeter
			there, err := remote.New(repository, nil)
			if err != nil {
				t.Fatal(err)
			}
			here, err := layout.Create(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer here.Close()
			sign := func(s store.Store, by []int) {
				for _, i := range by {
					if _, err := cosign.Sign(t.Context(), s, repository, digest, keys[i]); err != nil {
						t.Fatal(err)
					}
				}
			}
			sign(here, tc.ours)
			sign(there, tc.theirs)
			pulled := filepath.Join(t.TempDir(), "pulled")
			kymactl(t, "module", "copy", path, pulled).want(t, command.ExitOK, "Copied")
			kymactl(t, "module", "push", path, r.Host()+"/m", "--overwrite").want(t, command.ExitOK, tc.say)
			kymactl(t, "module", "push", path, r.Host()+"/m").want(t, command.ExitOK, "Unchanged")
			kymactl(t, "module", "pull", repository+":1.0.0", "-o", pulled, "--overwrite").want(t, command.ExitOK, "")
			back, err := layout.Open(pulled)
			if err != nil {
				t.Fatal(err)
			}
			defer back.Close()
			for _, i := range append(tc.ours, tc.theirs...) {
				for _, s := range []store.Reader{there, back} {
					if err := cosign.Verify(t.Context(), s, digest, keys[i].Public()); err != nil {
						t.Errorf("\n%s\nkey %d: %v", tc.reason, i, err)
					}
				}
			}
		})
	}
}

func newKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestPullIntoSomethingElse(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	layout, digest := sample{text: "one"}.layout(t)
	kymactl(t, "module", "push", layout, r.Host()+"/m").want(t, command.ExitOK, "")
	reference := r.Host() + "/m//" + greeter + ":1.0.0"

	for _, version := range []string{"1.0.0", "0.9.0", "2.0.0"} {
		have, other := sample{text: "two", version: version}.layout(t)
		kymactl(t, "module", "pull", reference, "-o", have).want(t, command.ExitExists, "exists with different content ("+other)
		got := kymactl(t, "module", "pull", reference, "-o", have, "--overwrite").want(t, command.ExitOK, "Pulled")
		if got.lastLine() != digest {
			t.Errorf("pull --overwrite over %s: want digest %s, got %q", version, digest, got.out)
		}
		if diff := cmp.Diff(blobsOf(t, layout), blobsOf(t, have)); diff != "" {
			t.Errorf("pull --overwrite over %s: blobs: -want, +got:\n%s", version, diff)
		}
	}

	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"--overwrite"}} {
		kymactl(t, append([]string{"module", "pull", reference, "-o", foreign}, args...)...).want(t, command.ExitExists, foreign)
	}
	entries, err := os.ReadDir(foreign)
	if err != nil || len(entries) != 1 {
		t.Errorf("pull into a directory with other files: want it unchanged, got %v (%v)", entries, err)
	}
}

func TestPullVerifies(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	signed, _ := sample{key: key()}.layout(t)
	unsigned, _ := sample{version: "1.0.1"}.layout(t)
	kymactl(t, "module", "push", signed, r.Host()+"/m").want(t, command.ExitOK, "")
	kymactl(t, "module", "push", unsigned, r.Host()+"/m").want(t, command.ExitOK, "")

	der, err := x509.MarshalPKIXPublicKey(key().Public())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	public := filepath.Join(dir, "pub.pem")
	if err := os.WriteFile(public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	reference, out := r.Host()+"/m//"+greeter+":", filepath.Join(dir, "out.tar")
	kymactl(t, "module", "pull", reference+"1.0.1", "-o", out, "--verify", "--key", public).want(t, command.ExitUnverified, "nothing was written")
	kymactl(t, "module", "pull", reference+"1.0.0", "-o", out, "--key", public, "--signature-name", "other").want(t, command.ExitUnverified, "nothing was written")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("pull that cannot be verified: want nothing written, got %v (%v)", entries, err)
	}
	kymactl(t, "module", "pull", reference+"1.0.0", "-o", out, "--verify", "--key", public).want(t, command.ExitOK, "Pulled")
	kymactl(t, "module", "pull", reference+"1.0.0", "-o", out, "--verify").want(t, command.ExitUsage, "--verify requires --key")
	kymactl(t, "module", "pull", reference+"1.0.0", "-o", out, "--key", out).want(t, command.ExitUsage, "--key "+out)
}

func TestTransferUsage(t *testing.T) {
	layout, _ := sample{}.layout(t)
	r := startRegistry(t, controlplane.WebOptions{})
	cases := map[string]struct {
		reason string
		args   []string
		code   command.ExitCode
		want   string
	}{
		"PushNoLayout":    {"The message names the missing layout.", []string{"push", "nowhere/at/all", r.Host() + "/m"}, command.ExitNotFound, `neither "nowhere/at/all" nor `},
		"PushTwoPaths":    {"One argument must be a registry.", []string{"push", layout, "./x"}, command.ExitUsage, "is a path in a registry"},
		"PullStdout":      {"A layout cannot be a stream.", []string{"pull", "registry.example.org/a//example.org/m/x:1.0.0", "-o", "-"}, command.ExitUsage, "written to stdout"},
		"CopyStdout":      {"A layout cannot be a stream.", []string{"copy", layout, "-"}, command.ExitUsage, "written to stdout"},
		"PushMapping":     {"There are two mappings.", []string{"push", layout, r.Host() + "/m", "--name-mapping", "x"}, command.ExitUsage, "use urlPath or sha256-digest"},
		"PushFormat":      {"An unknown format is refused.", []string{"push", layout, r.Host() + "/m", "-o", "xml"}, command.ExitUsage, `unknown output format "xml"`},
		"PushOther":       {"A complete reference must match the module.", []string{"push", layout, r.Host() + "/m/component-descriptors/" + greeter + ":2.0.0"}, command.ExitUsage, "2.0.0"},
		"PushOne":         {"Two arguments are needed.", []string{"push", layout}, command.ExitUsage, "expected 2 arguments (LAYOUT REF), got 1"},
		"PullMissing":     {"A missing module has its own exit code.", []string{"pull", r.Host() + "/m//" + greeter + ":1.0.0"}, command.ExitNotFound, "has no"},
		"PullNoVersion":   {"A version is needed.", []string{"pull", r.Host() + "/m//" + greeter}, command.ExitUsage, "no version"},
		"CopyMissing":     {"A missing layout has its own exit code.", []string{"copy", "./nowhere", r.Host() + "/m"}, command.ExitNotFound, "nowhere"},
		"CopyCredentials": {"A password must come from stdin.", []string{"copy", layout, r.Host() + "/m", "--username", "u"}, command.ExitUsage, "--password-stdin"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			got := kymactl(t, append([]string{"module"}, tc.args...)...).want(t, tc.code, tc.want)
			if got.out != "" {
				t.Errorf("\n%s\nwant nothing on stdout, got %q", tc.reason, got.out)
			}
			if n := strings.Count(got.err, "Error: "); n != 1 {
				t.Errorf("\n%s\nwant one error, got %q", tc.reason, got.err)
			}
		})
	}
}
