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

// waitTimeout is the timeout of kymactl wait, which must suffice on slow machines.
const waitTimeout = "15m"

// A workshop is the directory of a demo, with the tools and files of the team.
type workshop string

// binaries returns the directory with the binaries of kymactl and, without Crossplane, the provider.
func (w workshop) binaries() string { return filepath.Join(string(w), "bin") }

// modules returns the directory where modules are created.
func (w workshop) modules() string { return filepath.Join(string(w), "modules") }

// packages returns the directory with the packages of this repository.
func (w workshop) packages() string { return filepath.Join(string(w), "packages") }

// kubeconfig returns the path of the team's kubeconfig, whose context selects the team's namespace in the control plane.
func (w workshop) kubeconfig() string { return filepath.Join(string(w), team+".kubeconfig") }

// equip creates the directories of the team and builds kymactl.
func (w workshop) equip(ctx context.Context) error {
	for _, dir := range []string{w.binaries(), w.modules()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return errors.Wrap(err, "cannot create a directory for modules")
		}
	}
	_, err := controlplane.BuildKymactl(ctx, w.binaries())
	return err
}

// writeKubeconfig writes the team's kubeconfig, based on that of an administrator.
func (w workshop) writeKubeconfig(admin []byte) error {
	c, err := clientcmd.Load(admin)
	if err != nil {
		return errors.Wrap(err, "cannot read the kubeconfig of the control plane")
	}
	c.Contexts[c.CurrentContext].Namespace = team
	return errors.Wrap(clientcmd.WriteToFile(*c, w.kubeconfig()), "cannot write a kubeconfig")
}

// kymactl runs kymactl as the team does, in the directory of the modules. It returns the contents of stdout, even after
// an error.
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
	// The command does not inherit the user's environment, which may contain registry credentials.
	cmd.Env = []string{"HOME=" + w.modules(), "TMPDIR=" + os.TempDir(), "KUBECONFIG=" + w.kubeconfig()}
	err := cmd.Run()
	return stdout.String(), errors.Wrapf(err, "%s %s: %s", filepath.Base(path), strings.Join(args, " "), strings.TrimSpace(stderr.String()))
}

// do prints a kymactl command and runs it.
func (w workshop) do(ctx context.Context, args ...string) (string, error) {
	sayf("  kymactl %s", strings.Join(args, " "))
	return w.kymactl(ctx, args...)
}
