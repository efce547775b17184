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

	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

const (
	loopback = "127.0.0.1"
	// serviceAccount is the one that core would run under in a pod.
	serviceAccount = "crossplane"

	secretCA     = "crossplane-root-ca"
	secretServer = "crossplane-tls-server"
	secretClient = "crossplane-tls-client"

	initAttempts = 5
	// rbacAddress cannot be moved: the RBAC manager has no flag for it.
	rbacAddress = ":8080"
)

// environment is that of core's commands. The caller's is not handed on, so that
// proxies and credentials have no influence.
func (x *Crossplane) environment(source string, more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + x.dir,
		"KUBECONFIG=" + x.options.Cluster.KubeconfigFile(),
		"POD_NAMESPACE=" + Namespace, "POD_SERVICE_ACCOUNT=" + serviceAccount,
		// The API server could not reach them by the name of a service.
		"ENABLE_WEBHOOKS=false",
		"CRDS_PATH=" + filepath.Join(source, "cluster", "crds"),
		"WEBHOOK_CONFIGS_PATH=" + filepath.Join(source, "cluster", "webhookconfigurations"),
		"TLS_CA_SECRET_NAME=" + secretCA, "TLS_SERVER_SECRET_NAME=" + secretServer, "TLS_CLIENT_SECRET_NAME=" + secretClient,
	}, more...)
}

// install makes the namespace and runs Crossplane's initializer.
func (x *Crossplane) install(ctx context.Context) error {
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: serviceAccount}},
	} {
		if err := x.client.Create(ctx, o); err != nil && !kerrors.IsAlreadyExists(err) {
			return errors.Wrapf(err, "cannot create %T %q", o, o.GetName())
		}
	}
	binary, source, err := core(ctx)
	if err != nil {
		return err
	}
	args := []string{"core", "init"}
	for _, pattern := range x.options.Activate {
		args = append(args, "--activation", pattern)
	}
	var said []byte
	// It uses its own kinds before the API server serves all of them.
	for range initAttempts {
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Env, cmd.Dir = x.environment(source), x.dir
		if said, err = cmd.CombinedOutput(); err == nil {
			return nil
		}
	}
	return errors.Wrapf(err, "cannot initialize: %s", strings.TrimSpace(string(said)))
}

func core(ctx context.Context) (binary, source string, err error) {
	if binary, err = tools.Path(ctx, tools.Crossplane); err != nil {
		return "", "", err
	}
	source, err = tools.ModuleDir(ctx, tools.Crossplane, "github.com/crossplane/crossplane/v2")
	return binary, source, err
}

// startServers starts core and the RBAC manager, and returns once core is ready.
func (x *Crossplane) startServers(ctx context.Context) error {
	binary, source, err := core(ctx)
	if err != nil {
		return err
	}
	if err := x.dump(ctx, secretClient, x.path("tls")); err != nil {
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
	args, env, err := x.protect(ctx)
	if err != nil {
		return err
	}
	env = x.environment(source, append(env, "TLS_CLIENT_CERTS_DIR="+x.path("tls"), "XPKG_CACHE_DIR="+x.path("xpkg"), "XFN_CACHE_DIR="+x.path("xfn"),
		"METRICS_PORT="+ports[0], "HEALTH_PROBE_PORT="+ports[1], "WEBHOOK_PORT="+ports[2])...)
	x.core, err = process.Start(x.dir, "core", binary, env,
		slices.Concat([]string{"core", "start", "--debug", "--package-runtime=Provider=Deployment;Function=External"}, args, x.options.CoreArgs)...)
	if err != nil {
		return err
	}
	// Another test may be at it.
	if err := x.await(ctx, "the RBAC manager's port is free", func(ctx context.Context) error { return free(ctx, rbacAddress) }); err != nil {
		return err
	}
	if x.rbac, err = process.Start(x.dir, "rbac", binary, x.environment(source), "rbac", "start", "--debug"); err != nil {
		return err
	}
	err = x.await(ctx, "core is ready", func(ctx context.Context) error {
		return get(ctx, "http://"+net.JoinHostPort(loopback, ports[1])+"/readyz")
	})
	if err != nil {
		return err
	}
	return x.registerWebhook(ctx, ports[2])
}

// free fails when somebody listens on an address.
func free(ctx context.Context, address string) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return errors.Wrapf(err, "the RBAC manager listens on %s, and nobody else may", address)
	}
	return errors.Wrap(l.Close(), "cannot free a port")
}

func get(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return errors.Wrap(err, "cannot make a request")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err //nolint:wrapcheck // It names the request.
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return errors.Errorf("GET %s: %s", url, res.Status)
	}
	return nil
}

func (x *Crossplane) path(elem ...string) string {
	return filepath.Join(append([]string{x.dir}, elem...)...)
}

// dump writes each key of a Secret of Crossplane's namespace to a file.
func (x *Crossplane) dump(ctx context.Context, name, dir string) error {
	s := &corev1.Secret{}
	if err := x.client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: name}, s); err != nil {
		return errors.Wrapf(err, "cannot get Secret %q", name)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return errors.Wrapf(err, "cannot make a folder for Secret %q", name)
	}
	for key, data := range s.Data {
		if err := os.WriteFile(filepath.Join(dir, key), data, 0o600); err != nil {
			return errors.Wrapf(err, "cannot write key %q of Secret %q", key, name)
		}
	}
	return nil
}

// mirror leads the names of packages to the registry of the test.
func (x *Crossplane) mirror(ctx context.Context) error {
	config := &pkgv1beta1.ImageConfig{ObjectMeta: metav1.ObjectMeta{Name: "mirror"}}
	config.Spec.MatchImages = []pkgv1beta1.ImageMatch{{Type: pkgv1beta1.Prefix, Prefix: Host}}
	config.Spec.RewriteImage = &pkgv1beta1.ImageRewrite{Prefix: x.options.Registry.Host()}
	return x.await(ctx, "ImageConfigs are served", func(ctx context.Context) error {
		if err := x.client.Create(ctx, config); !kerrors.IsAlreadyExists(err) {
			return err //nolint:wrapcheck // It names the object.
		}
		return nil
	})
}
