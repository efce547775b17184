// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// waitTimeout is what kymactl wait is given on machines of all speeds.
const waitTimeout = "15m"

// A workshop is the directory of a demo, with what the team works with.
type workshop string

// binaries is the directory with kymactl and nothing else, as people have it in their path.
func (w workshop) binaries() string { return filepath.Join(string(w), "bin") }

// modules is the directory where modules are made.
func (w workshop) modules() string { return filepath.Join(string(w), "modules") }

// packages is the directory with the packages of this repository.
func (w workshop) packages() string { return filepath.Join(string(w), "packages") }

// kubeconfig is that of the control plane in which the team works in its namespace.
func (w workshop) kubeconfig() string { return filepath.Join(string(w), team+".kubeconfig") }

// equip builds kymactl, and makes what it works with.
func (w workshop) equip(ctx context.Context) error {
	for _, folder := range []string{w.binaries(), w.modules()} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return errors.Wrap(err, "cannot make a directory for modules")
		}
	}
	_, err := controlplane.BuildKymactl(ctx, w.binaries())
	return err
}

// writeKubeconfig from that of an administrator.
func (w workshop) writeKubeconfig(admin []byte) error {
	c, err := clientcmd.Load(admin)
	if err != nil {
		return errors.Wrap(err, "cannot read the kubeconfig of the control plane")
	}
	c.Contexts[c.CurrentContext].Namespace = team
	return errors.Wrap(clientcmd.WriteToFile(*c, w.kubeconfig()), "cannot write a kubeconfig")
}

// kymactl runs kymactl as the team does, in the directory in which modules are made,
// and returns what it writes to stdout, also where it fails.
func (w workshop) kymactl(ctx context.Context, args ...string) (string, error) {
	return w.run(ctx, filepath.Join(w.binaries(), "kymactl"), args...)
}

func (w workshop) kubectl(ctx context.Context, args ...string) (string, error) {
	path, err := tools.Path(ctx, tools.Kubectl)
	if err != nil {
		return "", err
	}
	return w.run(ctx, path, args...)
}

func (w workshop) run(ctx context.Context, path string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.modules(), &stdout, &stderr
	// Nothing of the person who runs the demo, such as credentials of registries.
	cmd.Env = []string{"HOME=" + w.modules(), "TMPDIR=" + os.TempDir(), "KUBECONFIG=" + w.kubeconfig()}
	err := cmd.Run()
	return stdout.String(), errors.Wrapf(err, "%s %s: %s", filepath.Base(path), strings.Join(args, " "), strings.TrimSpace(stderr.String()))
}

// do says what is done, and does it with kymactl.
func (w workshop) do(ctx context.Context, args ...string) (string, error) {
	sayf("  kymactl %s", strings.Join(args, " "))
	return w.kymactl(ctx, args...)
}
