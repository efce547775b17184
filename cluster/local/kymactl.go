// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
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

// Directories of the demo. binaries has kymactl and nothing else, as people have it in
// their path. workshop is where modules are made.
func (e *environment) binaries() string { return filepath.Join(e.dir, "bin") }
func (e *environment) workshop() string { return filepath.Join(e.dir, "modules") }

// teamKubeconfig is the kubeconfig of the control plane in which the team works in
// its namespace.
func (e *environment) teamKubeconfig() string { return filepath.Join(e.dir, team+".kubeconfig") }

// equip builds kymactl, and makes what it works with.
func (e *environment) equip(ctx context.Context) error {
	for _, folder := range []string{e.binaries(), e.workshop()} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return errors.Wrap(err, "cannot make a folder for modules")
		}
	}
	_, err := controlplane.BuildKymactl(ctx, e.binaries())
	return err
}

func (e *environment) writeTeamKubeconfig() error {
	c, err := clientcmd.Load(e.control.Kubeconfig())
	if err != nil {
		return errors.Wrap(err, "cannot read the kubeconfig of the control plane")
	}
	c.Contexts[c.CurrentContext].Namespace = team
	return errors.Wrap(clientcmd.WriteToFile(*c, e.teamKubeconfig()), "cannot write a kubeconfig")
}

// kymactl runs kymactl as the team does, in the folder in which modules are made,
// and returns what it writes to stdout, also where it fails.
func (e *environment) kymactl(ctx context.Context, args ...string) (string, error) {
	return e.runTool(ctx, filepath.Join(e.binaries(), "kymactl"), args...)
}

func (e *environment) kubectl(ctx context.Context, args ...string) (string, error) {
	path, err := tools.Path(ctx, tools.Kubectl)
	if err != nil {
		return "", err
	}
	return e.runTool(ctx, path, args...)
}

func (e *environment) runTool(ctx context.Context, path string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = e.workshop(), &stdout, &stderr
	// Nothing of the person who runs the demo, such as credentials of registries.
	cmd.Env = []string{"HOME=" + e.workshop(), "TMPDIR=" + os.TempDir(), "KUBECONFIG=" + e.teamKubeconfig()}
	err := cmd.Run()
	return stdout.String(), errors.Wrapf(err, "%s %s: %s", filepath.Base(path), strings.Join(args, " "), strings.TrimSpace(stderr.String()))
}

// do says what is done, and does it with kymactl.
func (e *environment) do(ctx context.Context, args ...string) (string, error) {
	sayf("  kymactl %s", strings.Join(args, " "))
	return e.kymactl(ctx, args...)
}

// exitCode of a command that failed, 0 of one that did not, and else -1.
func exitCode(err error) int {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		return ended.ExitCode()
	}
	return -1
}

// checkListed checks that kymactl lists these versions of modules as those that
// are installed, and no other module.
func (e *environment) checkListed(ctx context.Context, versions map[string]string) error {
	out, err := e.kymactl(ctx, "module", "list", "--kyma", e.composite, "-o", "json")
	if err != nil {
		return err
	}
	var list struct {
		Modules []struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"modules"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return errors.Wrapf(err, "kymactl module list: %q", out)
	}
	ok := len(list.Modules) == len(versions)
	for _, m := range list.Modules {
		ok = ok && versions[m.Name] == m.Version
	}
	if !ok {
		return errors.Errorf("kymactl lists %v, and not the versions %v", list.Modules, versions)
	}
	return nil
}

// checkStatus checks the exit code of kymactl status, and that it says all of this.
func (e *environment) checkStatus(ctx context.Context, code int, words ...string) error {
	out, err := e.kymactl(ctx, "status", e.composite, "--exit-code")
	if got := exitCode(err); got != code {
		return errors.Errorf("kymactl status ends with exit code %d and not %d (%v), and says:\n%s", got, code, err, out)
	}
	for _, w := range words {
		if !strings.Contains(out, w) {
			return errors.Errorf("kymactl status does not say %q, but:\n%s", w, out)
		}
	}
	return nil
}

// checkReleases checks what kymactl says of the versions of the greeter in the
// registry: who signed it, what it consists of, and what differs.
func (e *environment) checkReleases(ctx context.Context) error {
	m := moduleNamed(greeter)
	old, next := e.references[m.name+"-"+m.versions[regular]], e.references[m.name+"-"+m.versions[fast]]
	if _, err := e.kymactl(ctx, "module", "keygen", "stranger"); err != nil {
		return err
	}
	for key, code := range map[string]int{signer: 0, "stranger": 4} {
		if out, err := e.kymactl(ctx, "module", "verify", next, "--key", key+".pub"); exitCode(err) != code {
			return errors.Errorf("kymactl module verify with the key %q: want exit code %d, got %v, and %s", key, code, err, out)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"module", "inspect", old}, "Deployment " + m.deployment.String()},
		{[]string{"module", "diff", old, next}, m.name + ":" + m.versions[regular] + " -> registry.example.org/" + m.name + ":" + m.versions[fast]},
	} {
		out, err := e.kymactl(ctx, c.args...)
		if err != nil {
			return err
		}
		if !strings.Contains(out, c.want) {
			return errors.Errorf("kymactl %s does not say %q, but:\n%s", strings.Join(c.args, " "), c.want, out)
		}
	}
	return nil
}

// checkClaimed checks that kymactl leaves a Kyma alone that a claim has become.
func (e *environment) checkClaimed(ctx context.Context) error {
	before, err := e.footprint(ctx)
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"module", "enable", greeter, "--channel", fast},
		{"module", "disable", greeter, templateOperator},
	} {
		if _, err := e.kymactl(ctx, args...); exitCode(err) != 1 || !strings.Contains(err.Error(), e.composite) {
			return errors.Errorf("kymactl %s: want a refusal that names the Kyma, got %v", strings.Join(args, " "), err)
		}
	}
	after, err := e.footprint(ctx)
	if err != nil {
		return err
	}
	if before != after {
		return errors.Errorf("something changed: it was %s, and is %s", before, after)
	}
	return e.checkListed(ctx, versionsIn(regular))
}
