// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// exitCode returns the exit code of a command from its error: 0 if it succeeded, and -1 if it did not run.
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

// checkListed checks that kymactl lists exactly these modules and versions as installed.
func checkListed(ctx context.Context, e *environment, versions map[string]string) error {
	out, err := e.workshop.kymactl(ctx, "module", "list", "--kyma", e.claim.composite, "-o", "json")
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
		return errors.Wrapf(err, "cannot parse the output of kymactl module list: %q", out)
	}
	ok := len(list.Modules) == len(versions)
	for _, m := range list.Modules {
		ok = ok && versions[m.Name] == m.Version
	}
	if !ok {
		return errors.Errorf("kymactl module list: got %v, want the versions %v", list.Modules, versions)
	}
	return nil
}

// checkStatus checks the exit code of kymactl status, and that its output contains all the words.
func checkStatus(ctx context.Context, e *environment, code int, words ...string) error {
	out, err := e.workshop.kymactl(ctx, "status", e.claim.composite, "--exit-code")
	if got := exitCode(err); got != code {
		return errors.Errorf("kymactl status: got exit code %d, want %d (%v); output:\n%s", got, code, err, out)
	}
	for _, w := range words {
		if !strings.Contains(out, w) {
			return errors.Errorf("kymactl status: the output doesn't contain %q:\n%s", w, out)
		}
	}
	return nil
}

// checkReleases checks what kymactl prints about the versions of the greeter in the registry: the signature, the
// contents, and the differences.
func checkReleases(ctx context.Context, e *environment) error {
	m := moduleNamed(greeter)
	old, next := e.references[m.name+"-"+m.versions[regular]], e.references[m.name+"-"+m.versions[fast]]
	if _, err := e.workshop.kymactl(ctx, "module", "keygen", "other"); err != nil {
		return err
	}
	for key, code := range map[string]int{signer: 0, "other": 4} {
		if out, err := e.workshop.kymactl(ctx, "module", "verify", next, "--key", key+".pub"); exitCode(err) != code {
			return errors.Errorf("kymactl module verify with the key %q: got %v, want exit code %d; output:\n%s", key, err, code, out)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"module", "inspect", old}, "Deployment " + m.deployment.String()},
		{[]string{"module", "diff", old, next}, m.name + ":" + m.versions[regular] + " -> registry.example.org/" + m.name + ":" + m.versions[fast]},
	} {
		out, err := e.workshop.kymactl(ctx, c.args...)
		if err != nil {
			return err
		}
		if !strings.Contains(out, c.want) {
			return errors.Errorf("kymactl %s: the output doesn't contain %q:\n%s", strings.Join(c.args, " "), c.want, out)
		}
	}
	return nil
}

// checkClaimed checks that kymactl does not change a Kyma that a claim created.
func checkClaimed(ctx context.Context, e *environment) error {
	before, err := footprint(ctx, e)
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"module", "enable", greeter, "--channel", fast},
		{"module", "disable", greeter, templateOperator},
	} {
		if _, err := e.workshop.kymactl(ctx, args...); exitCode(err) != 1 || !strings.Contains(err.Error(), e.claim.composite) {
			return errors.Errorf("kymactl %s: got %v, want an error that names the Kyma", strings.Join(args, " "), err)
		}
	}
	after, err := footprint(ctx, e)
	if err != nil {
		return err
	}
	if before != after {
		return errors.Errorf("unexpected change from %s to %s", before, after)
	}
	return checkListed(ctx, e, versionsIn(regular))
}
