// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

const (
	// serviceAccount is the service account that core would use in a pod.
	serviceAccount = "crossplane"

	secretCA     = "crossplane-root-ca"
	secretServer = "crossplane-tls-server"
	secretClient = "crossplane-tls-client"

	initAttempts = 5
	// rbacAddress is the fixed address of the RBAC manager, which has no flag to change it.
	rbacAddress = ":8080"
)

// A program is the binary of Crossplane with the directory of its source, whose files it reads.
type program struct{ path, source string }

// findProgram finds an older minor version of Crossplane, or tools.CrossplaneVersion if version is empty.
func findProgram(ctx context.Context, version string) (program, error) {
	tool := tools.Crossplane
	if version != "" {
		tool = tools.Older(tool, version)
	}
	path, err := tools.Path(ctx, tool)
	if err != nil {
		return program{}, err
	}
	source, err := tools.ModuleDir(ctx, tool, "github.com/crossplane/crossplane/v2")
	return program{path: path, source: source}, err
}

// environment returns the environment of the program's commands. It excludes that of the caller, so that proxies and
// credentials have no effect.
func (p program) environment(s host, more ...string) []string {
	return slices.Concat(tools.CollectLess(), []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir,
		"KUBECONFIG=" + s.cluster.KubeconfigFile(),
		"POD_NAMESPACE=" + Namespace, "POD_SERVICE_ACCOUNT=" + serviceAccount,
		// The API server cannot reach webhooks by the name of a service.
		"ENABLE_WEBHOOKS=false",
		"CRDS_PATH=" + filepath.Join(p.source, "cluster", "crds"),
		"WEBHOOK_CONFIGS_PATH=" + filepath.Join(p.source, "cluster", "webhookconfigurations"),
		"TLS_CA_SECRET_NAME=" + secretCA, "TLS_SERVER_SECRET_NAME=" + secretServer, "TLS_CLIENT_SECRET_NAME=" + secretClient,
	}, more)
}

// initialize creates the namespace and the service account, and runs Crossplane's initializer.
func (p program) initialize(ctx context.Context, s host, activate []string) error {
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: serviceAccount}},
	} {
		if err := s.client.Create(ctx, o); err != nil && !kerrors.IsAlreadyExists(err) {
			return errors.Wrapf(err, "cannot create %T %q", o, o.GetName())
		}
	}
	args := []string{"core", "init"}
	for _, pattern := range activate {
		args = append(args, "--activation", pattern)
	}
	var said []byte
	var err error
	// The initializer uses its own kinds before the API server serves all of them.
	for range initAttempts {
		cmd := exec.CommandContext(ctx, p.path, args...)
		cmd.Env, cmd.Dir = p.environment(s), s.dir
		if said, err = cmd.CombinedOutput(); err == nil {
			return nil
		}
	}
	return errors.Wrapf(err, "cannot initialize Crossplane: %s", strings.TrimSpace(string(said)))
}

// servers contains the processes of Crossplane.
type servers struct {
	core, rbac *process.Process
	// dir is the directory of their logs.
	dir string
}

// start starts core and the RBAC manager, and returns when core is ready. After an error, the caller must stop the
// servers that were started.
func (v *servers) start(ctx context.Context, s host, p program, o Options) error {
	v.dir = s.dir
	for _, cache := range []string{"xpkg", "xfn"} {
		if err := os.MkdirAll(s.path(cache), 0o700); err != nil {
			return errors.Wrap(err, "cannot create a cache directory")
		}
	}
	if err := s.writeSecret(ctx, secretClient, s.path("tls")); err != nil {
		return err
	}
	ports := make([]string, 3)
	for i := range ports {
		port, err := process.FreePort(ctx)
		if err != nil {
			return err
		}
		ports[i] = strconv.Itoa(port)
	}
	env := []string{
		"TLS_CLIENT_CERTS_DIR=" + s.path("tls"), "XPKG_CACHE_DIR=" + s.path("xpkg"), "XFN_CACHE_DIR=" + s.path("xfn"),
		"METRICS_PORT=" + ports[0], "HEALTH_PROBE_PORT=" + ports[1], "WEBHOOK_PORT=" + ports[2],
	}
	args := slices.Concat([]string{"core", "start", "--debug", "--package-runtime=Provider=Deployment;Function=External"}, o.CoreArgs)
	if o.ProtectProviders {
		url := "https://" + net.JoinHostPort("localhost", ports[2]) + webhookPath
		dir, err := protect(ctx, s, url)
		if err != nil {
			return err
		}
		args = append(args, "--enable-provider-deletion-protection")
		env = append(env, "ENABLE_WEBHOOKS=true", "TLS_SERVER_CERTS_DIR="+dir)
	}
	var err error
	if v.core, err = process.Start(s.dir, "core", p.path, p.environment(s, env...), args...); err != nil {
		return err
	}
	// Another test may use the port.
	if err := v.await(ctx, "the RBAC manager's port is free", func(ctx context.Context) error { return free(ctx, rbacAddress) }); err != nil {
		return err
	}
	if v.rbac, err = process.Start(s.dir, "rbac", p.path, p.environment(s), "rbac", "start", "--debug"); err != nil {
		return err
	}
	return v.await(ctx, "Crossplane is ready", func(ctx context.Context) error {
		return process.CheckURL(ctx, http.DefaultClient, "http://"+net.JoinHostPort(process.Loopback, ports[1])+"/readyz")
	})
}

// broken returns the error of a server that ended unexpectedly, or nil.
func (v *servers) broken() error {
	for _, p := range []*process.Process{v.core, v.rbac} {
		if p != nil && p.Err() != nil {
			return p.Err()
		}
	}
	return nil
}

// wait returns a Wait that fails when a server of Crossplane ends.
func (v *servers) wait(what string, onChange func(string)) process.Wait {
	return process.Wait{What: what, Every: pollInterval, OnChange: onChange, Broken: v.broken}
}

// await calls check until it returns nil, a server ends, or the error of check has not changed for some time.
func (v *servers) await(ctx context.Context, what string, check func(context.Context) error) error {
	err := v.wait(what, nil).Until(ctx, func(ctx context.Context) (bool, string, error) {
		err := check(ctx)
		return err == nil, "", err
	})
	return errors.Wrapf(err, "for details, see the logs in %s", v.dir)
}

func (v *servers) stop() {
	v.rbac.Stop()
	v.core.Stop()
}

// free returns an error if another process listens on an address.
func free(ctx context.Context, address string) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return errors.Wrapf(err, "%s is in use, but the RBAC manager requires it", address)
	}
	return errors.Wrap(l.Close(), "cannot release a port")
}
