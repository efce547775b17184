// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// ProviderOptions are the options of a provider process.
type ProviderOptions struct {
	// Kubeconfig is the path of the kubeconfig of the control plane.
	Kubeconfig string
	// Dir is the directory for the log, and for the provider's cache unless Args contains another one. It is created if
	// it does not exist.
	Dir string
	// Binary is the path of the provider's binary, for example from BuildProvider.
	Binary string
	// Args are flags in the form --name=value, except for the address of the probes. They replace the flags that
	// StartProvider sets. Env is added to the environment.
	Args, Env []string
}

// BuildProvider builds the provider from this repository into a directory, and
// returns the path of the binary.
func BuildProvider(ctx context.Context, dir string) (string, error) {
	return build(ctx, dir, "provider")
}

// BuildKymactl builds kymactl into a directory, and returns the path of the binary.
func BuildKymactl(ctx context.Context, dir string) (string, error) {
	return build(ctx, dir, "kymactl")
}

func build(ctx context.Context, dir, command string) (string, error) {
	root, err := tools.Root()
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(filepath.Join(dir, command))
	if err != nil {
		return "", errors.Wrap(err, "cannot determine the build directory")
	}
	return path, tools.Compile(ctx, tools.Program{Dir: root, Package: "./cmd/" + command, Output: path})
}

// StartProvider starts the provider as a separate process, and returns when it is ready. The process does not inherit the
// environment of the caller, except for PATH.
func StartProvider(ctx context.Context, o ProviderOptions) (*process.Process, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, errors.Wrap(err, "cannot create the directory of the provider")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, errors.Wrap(err, "cannot determine the directory of the provider")
	}
	env := append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "KUBECONFIG=" + o.Kubeconfig}, o.Env...)
	var started *process.Process
	err = process.RetryTaken(func() error {
		port, err := process.FreePort(ctx)
		if err != nil {
			return err
		}
		health := net.JoinHostPort(process.Loopback, strconv.Itoa(port))
		args := withDefaults(o.Args, map[string]string{
			"--metrics-bind-address":   process.Loopback + ":0",
			"--health-probe-bind-addr": health,
			"--cache-dir":              filepath.Join(dir, "cache"),
		})
		p, err := process.Start(dir, "provider", o.Binary, env, append(args, LocalFlags()...)...)
		if err != nil {
			return err
		}
		err = p.Await(ctx, "ready", func(ctx context.Context) error {
			return process.CheckURL(ctx, http.DefaultClient, "http://"+health+"/readyz")
		})
		if err != nil {
			p.Stop()
			return err
		}
		started = p
		return nil
	})
	return started, errors.Wrap(err, "cannot start the provider")
}

// LocalFlags returns the flags that let tenants use clusters and registries on this machine.
func LocalFlags() []string {
	return []string{"--allow-target-cidr=127.0.0.0/8", "--allow-target-cidr=::1", "--allow-plain-http-host=" + process.Loopback}
}

// withDefaults adds the default flags that args does not contain, because the provider rejects duplicate flags.
func withDefaults(args []string, defaults map[string]string) []string {
	out := slices.Clone(args)
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		given := slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, name+"=") })
		if !given {
			out = append(out, name+"="+defaults[name])
		}
	}
	return out
}
