// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"golang.org/x/mod/semver"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// assetsVariable is the environment variable with the directory where other projects keep etcd, kube-apiserver and
// kubectl for tests.
const assetsVariable = "KUBEBUILDER_ASSETS"

// versionPattern matches the version in the output of a server, such as "Kubernetes v1.36.3" or "etcd Version: 3.6.16".
var versionPattern = regexp.MustCompile(`v?(\d+\.\d+\.\d+)`)

// find reports whether the cache contains the binary. If a binary of the right version is installed on this machine, find
// creates a link to it in the cache.
func (b build) find(ctx context.Context) (bool, error) {
	target, err := os.Readlink(b.path())
	linked := err == nil
	if linked && sameMinor(ctx, b.tool, target) {
		return true, nil
	}
	if linked {
		if err := os.Remove(b.path()); err != nil {
			return false, errors.Wrapf(err, "cannot remove the link to %q, which is missing or has a different version", target)
		}
	}
	if b.exists() {
		return true, nil
	}
	installed := installed(ctx, b.tool)
	if installed == "" {
		return false, nil
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil { //nolint:gosec // A cache directory holds no secrets.
		return false, errors.Wrap(err, "cannot create the cache directory")
	}
	err = os.Symlink(installed, b.path())
	if errors.Is(err, os.ErrExist) {
		// Another process created the link first.
		err = nil
	}
	return err == nil, errors.Wrapf(err, "cannot link to %q", installed)
}

// installed returns the path of a server of the right version in $KUBEBUILDER_ASSETS or on PATH, or an empty string.
func installed(ctx context.Context, t Tool) string {
	if _, ok := serverVersions()[t]; !ok {
		return ""
	}
	var candidates []string
	if dir := os.Getenv(assetsVariable); dir != "" {
		candidates = append(candidates, filepath.Join(dir, string(t)))
	}
	if path, err := exec.LookPath(string(t)); err == nil {
		candidates = append(candidates, path)
	}
	for _, path := range candidates {
		if abs, err := filepath.Abs(path); err == nil && sameMinor(ctx, t, abs) {
			return abs
		}
	}
	return ""
}

// serverVersions returns the versions of the servers that need not be built here. Another patch release of the same minor
// version is accepted.
func serverVersions() map[Tool]string {
	return map[Tool]string{
		Etcd: EtcdVersion, KubeAPIServer: KubernetesVersion, KubeControllerManager: KubernetesVersion,
		KubeScheduler: KubernetesVersion, Kubectl: KubernetesVersion,
	}
}

// sameMinor reports whether a program prints a version of the same minor release as the tool that would be built.
func sameMinor(ctx context.Context, t Tool, path string) bool {
	args := []string{"--version"}
	if t == Kubectl {
		args = []string{"version", "--client"}
	}
	out, err := exec.CommandContext(ctx, path, args...).Output() //nolint:gosec // The user says where the servers are.
	if err != nil {
		return false
	}
	found := versionPattern.FindSubmatch(out)
	return found != nil && semver.MajorMinor("v"+string(found[1])) == semver.MajorMinor(serverVersions()[t])
}
