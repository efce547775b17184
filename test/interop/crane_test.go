// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// layered is a module that consists of a single artifact.
const layered = "name: " + greeter + "\nversion: " + version + "\ncharts: [{path: inner}]\n"

// TestCraneReadsOurs checks that crane reports the digest that we print, that a module that it copies stays the same, and that
// pushing our layout with crane has the same digest.
func TestCraneReadsOurs(t *testing.T) {
	r, other := startRegistry(t), startRegistry(t)
	private, public := keyFiles(t)
	path, digest := made(t, layered, "--key", private, "--cosign=false")
	if got := ok(t, "module", "push", path, r.Host()+"/m"); got != digest {
		t.Errorf("push: want %s, got %s", digest, got)
	}
	repository := "/component-descriptors/" + greeter
	reference := r.Host() + "/m" + repository + ":" + version
	if got := digestOf([]byte(run(t, tools.Crane, "manifest", reference))); got != digest {
		t.Errorf("crane manifest: want %s, got %s", digest, got)
	}
	if got := run(t, tools.Crane, "ls", r.Host()+"/m"+repository); strings.TrimSpace(got) != version {
		t.Errorf("crane ls: want %s, got %q", version, got)
	}
	if out, err := tool(t, tools.Crane, "validate", "--remote", reference); err != nil {
		t.Errorf("crane validate: %v:\n%s", err, out)
	}

	copied := other.Host() + "/x" + repository + ":" + version
	run(t, tools.Crane, "copy", reference, copied)
	if got := strings.TrimSpace(run(t, tools.Crane, "digest", copied)); got != digest {
		t.Errorf("crane copy: want %s, got %s", digest, got)
	}
	if got := ok(t, "module", "verify", copied, "--key", public); got != digest {
		t.Errorf("verify what crane copied: want %s, got %s", digest, got)
	}

	pushed := other.Host() + "/y" + repository + ":" + version
	run(t, tools.Crane, "push", path, pushed)
	if got := strings.TrimSpace(run(t, tools.Crane, "digest", pushed)); got != digest {
		t.Errorf("crane push of our layout: want %s, got %s", digest, got)
	}
	if _, said := kymactl(t, command.ExitOK, "module", "push", path, other.Host()+"/y"); !strings.Contains(said, "Unchanged") {
		t.Errorf("push after crane: want nothing to do, got %q", said)
	}

	pulled := filepath.Join(t.TempDir(), "pulled")
	run(t, tools.Crane, "pull", "--format", "oci", reference, pulled)
	if got := ok(t, "module", "verify", pulled, "--key", public); got != digest {
		t.Errorf("verify the layout of crane: want %s, got %s", digest, got)
	}
	if got := ok(t, "module", "push", pulled, other.Host()+"/z"); got != digest {
		t.Errorf("push the layout of crane: want %s, got %s", digest, got)
	}
	if got := objects(t, pulled); !strings.Contains(got, "of: inner") {
		t.Errorf("inspect the layout of crane: got %s", got)
	}
	bare := run(t, tools.Crane, "blob", reference[:strings.LastIndex(reference, ":")]+"@"+layerOf(t, reference, 0))
	if !strings.Contains(bare, greeter) {
		t.Errorf("crane blob: want the descriptor, got %q", bare)
	}
}

// TestCraneCopiesWhatBelongs checks that a repository that crane copies completely includes the cosign signature, and that
// charts next to the module are also found in the copy.
func TestCraneCopiesWhatBelongs(t *testing.T) {
	r, other := startRegistry(t), startRegistry(t)
	private, public := keyFiles(t)
	path, digest := made(t, moduleYAML, "--key", private)
	ok(t, "module", "push", path, r.Host()+"/m")
	repository := "/component-descriptors/" + greeter
	run(t, tools.Crane, "copy", "--all-tags", r.Host()+"/m"+repository, other.Host()+"/m"+repository)
	copied := other.Host() + "/m" + repository + ":" + version
	kymactl(t, command.ExitUnverified, "module", "verify", copied, "--key", public)
	run(t, tools.Crane, "copy", "--all-tags", r.Host()+"/m/charts/web", other.Host()+"/m/charts/web")
	if got := ok(t, "module", "verify", copied, "--key", public, "--cosign"); got != digest {
		t.Errorf("verify: want %s, got %s", digest, got)
	}
}

// TestOras checks that oras can copy modules between our layouts, its own layouts, and registries without changing a byte.
func TestOras(t *testing.T) {
	r, other := startRegistry(t), startRegistry(t)
	private, public := keyFiles(t)
	path, digest := made(t, moduleYAML, "--key", private)
	repository := "/m/component-descriptors/" + greeter
	reference := r.Host() + repository + ":" + version
	run(t, tools.Oras, "cp", "--from-oci-layout", path+":"+version, "--to-plain-http", reference)
	run(t, tools.Oras, "cp", "--from-oci-layout", path+":with-charts_web-0.1.0_b.1", "--to-plain-http", r.Host()+"/m/charts/web:0.1.0_b.1")
	if got := digestOf([]byte(run(t, tools.Oras, "manifest", "fetch", "--plain-http", reference))); got != digest {
		t.Errorf("oras manifest fetch: want %s, got %s", digest, got)
	}
	if got := ok(t, "module", "verify", reference, "--key", public); got != digest {
		t.Errorf("verify what oras pushed: want %s, got %s", digest, got)
	}
	if got := run(t, tools.Oras, "repo", "tags", "--plain-http", r.Host()+repository); strings.TrimSpace(got) != version {
		t.Errorf("oras repo tags: want %s, got %q", version, got)
	}

	layout := filepath.Join(t.TempDir(), "layout")
	run(t, tools.Oras, "cp", "--from-plain-http", reference, "--to-oci-layout", layout+":"+version)
	run(t, tools.Oras, "cp", "--from-plain-http", r.Host()+"/m/charts/web:0.1.0_b.1", "--to-oci-layout", layout+":web")
	for _, at := range []string{layout, layout + ":" + version, layout + "@" + digest} {
		if got := ok(t, "module", "verify", at, "--key", public); got != digest {
			t.Errorf("verify %s, the layout of oras: want %s, got %s", at, digest, got)
		}
	}
	if got := ok(t, "module", "push", layout, other.Host()+"/m"); got != digest {
		t.Errorf("push the layout of oras: want %s, got %s", digest, got)
	}
	if got := objects(t, other.Host()+repository+":"+version); !strings.Contains(got, "of: web") || !strings.Contains(got, "of: inner") {
		t.Errorf("inspect what came from oras: got %s", got)
	}
}
