// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// portAttempts is how often a start is tried when another process is quicker to
// take a port.
const portAttempts = 5

// retryTaken tries again while somebody else holds a port that was just free.
func retryTaken(start func() error) error {
	var err error
	for range portAttempts {
		if err = start(); err == nil || !strings.Contains(err.Error(), "address already in use") {
			return err
		}
	}
	return err
}

// launch starts a server of the cluster. The environment is not handed on, so
// that proxies and credentials of the caller have no influence.
func (c *Cluster) launch(ctx context.Context, t tools.Tool, args ...string) (*Process, error) {
	path, err := tools.Path(ctx, t)
	if err != nil {
		return nil, err
	}
	return StartProcess(c.dir, string(t), path, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir}, args...)
}

func (c *Cluster) startEtcd(ctx context.Context) error {
	return retryTaken(func() error {
		port, err := FreePort(ctx)
		if err != nil {
			return err
		}
		peerPort, err := FreePort(ctx)
		if err != nil {
			return err
		}
		url := "http://" + net.JoinHostPort(loopback, strconv.Itoa(port))
		peer := "http://" + net.JoinHostPort(loopback, strconv.Itoa(peerPort))
		p, err := c.launch(ctx, tools.Etcd,
			"--data-dir="+c.path("etcd"),
			"--listen-client-urls="+url, "--advertise-client-urls="+url,
			"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer,
			"--initial-cluster=default="+peer,
			"--unsafe-no-fsync", "--log-level=warn",
			"--auto-compaction-mode=revision", "--auto-compaction-retention=10000",
		)
		if err != nil {
			return err
		}
		c.etcd, c.etcdPort = p, port
		err = p.await(ctx, "healthy", func(ctx context.Context) error { return get(ctx, http.DefaultClient, url+"/readyz") })
		if err != nil {
			p.Stop()
			return err
		}
		c.watch(p)
		return nil
	})
}

func (c *Cluster) startAPIServer(ctx context.Context) error {
	identity, err := c.ca.client("admin", "system:masters")
	if err != nil {
		return err
	}
	return retryTaken(func() error {
		port, err := FreePort(ctx)
		if err != nil {
			return err
		}
		c.port = port
		c.admin = c.config(identity)
		return c.runAPIServer(ctx)
	})
}

func (c *Cluster) runAPIServer(ctx context.Context) error {
	p, err := c.launch(ctx, tools.KubeAPIServer, c.apiServerArgs()...)
	if err != nil {
		return err
	}
	c.apiserver = p
	client, err := rest.HTTPClientFor(c.admin)
	if err != nil {
		return errors.Wrap(err, "cannot make a client")
	}
	defer client.CloseIdleConnections()
	err = p.await(ctx, "ready", func(ctx context.Context) error {
		if err := get(ctx, client, c.URL()+"/readyz"); err != nil {
			return err
		}
		return get(ctx, client, c.URL()+"/api/v1/namespaces/default")
	})
	if err != nil {
		p.Stop()
		return err
	}
	c.watch(p)
	return nil
}

func (c *Cluster) apiServerArgs() []string {
	args := []string{
		"--etcd-servers=http://" + net.JoinHostPort(loopback, strconv.Itoa(c.etcdPort)),
		"--bind-address=" + loopback, "--advertise-address=" + loopback, "--secure-port=" + strconv.Itoa(c.port),
		// There is no address for it that Endpoints would accept.
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + c.path("tls.crt"), "--tls-private-key-file=" + c.path("tls.key"),
		"--client-ca-file=" + c.path("ca.crt"),
		"--service-account-key-file=" + c.path("sa.key"), "--service-account-signing-key-file=" + c.path("sa.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-cluster-ip-range=10.0.0.0/16",
		"--authorization-mode=RBAC", "--allow-privileged=true", "--profiling=false",
	}
	if len(c.options.EnableAdmission) > 0 {
		args = append(args, "--enable-admission-plugins="+strings.Join(c.options.EnableAdmission, ","))
	}
	if len(c.options.DisableAdmission) > 0 {
		args = append(args, "--disable-admission-plugins="+strings.Join(c.options.DisableAdmission, ","))
	}
	return append(args, c.options.APIServerArgs...)
}

// startOthers starts the servers that are clients of the API server. All of them
// are administrators, whose rights nobody tests.
func (c *Cluster) startOthers(ctx context.Context) error {
	if c.options.ControllerManager {
		if err := c.startOther(ctx, tools.KubeControllerManager, c.controllerManagerArgs()); err != nil {
			return err
		}
	}
	if c.options.Scheduler {
		err := c.startOther(ctx, tools.KubeScheduler, []string{
			"--kubeconfig=" + c.KubeconfigFile(), "--leader-elect=false", "--secure-port=0",
			"--kube-api-qps=1000", "--kube-api-burst=2000",
		})
		if err != nil {
			return err
		}
	}
	if c.options.Kwok {
		args, err := c.kwokArgs(ctx)
		if err != nil {
			return err
		}
		if err := c.startOther(ctx, tools.Kwok, args); err != nil {
			return err
		}
	}
	return c.awaitOthers(ctx)
}

func (c *Cluster) startOther(ctx context.Context, t tools.Tool, args []string) error {
	p, err := c.launch(ctx, t, args...)
	if err != nil {
		return err
	}
	c.others = append(c.others, p)
	c.watch(p)
	return nil
}

func (c *Cluster) controllerManagerArgs() []string {
	args := []string{
		"--kubeconfig=" + c.KubeconfigFile(), "--leader-elect=false", "--secure-port=0",
		"--service-account-private-key-file=" + c.path("sa.key"), "--root-ca-file=" + c.path("ca.crt"),
		"--kube-api-qps=1000", "--kube-api-burst=2000", "--profiling=false",
	}
	if len(c.options.Controllers) > 0 {
		args = append(args, "--controllers="+strings.Join(c.options.Controllers, ","))
	}
	return append(args, c.options.ControllerManagerArgs...)
}

// kwokArgs names the stages, without which kwok does nothing.
func (c *Cluster) kwokArgs(ctx context.Context) ([]string, error) {
	dir, err := tools.ModuleDir(ctx, tools.Kwok, "sigs.k8s.io/kwok")
	if err != nil {
		return nil, err
	}
	args := []string{"--kubeconfig=" + c.KubeconfigFile(), "--manage-all-nodes=true", "--node-ip=" + loopback}
	for _, stage := range c.options.KwokStages {
		files, err := filepath.Glob(filepath.Join(dir, "kustomize", "stage", stage, "*.yaml"))
		if err != nil || len(files) == 0 {
			return nil, errors.Errorf("kwok has no stage %q: %v", stage, err)
		}
		for _, f := range files {
			if filepath.Base(f) != "kustomization.yaml" {
				args = append(args, "--config="+f)
			}
		}
	}
	return args, nil
}

// get fails unless the answer is 200.
func get(ctx context.Context, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return errors.Wrap(err, "cannot make a request")
	}
	res, err := client.Do(req)
	if err != nil {
		return err //nolint:wrapcheck // It names the request.
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, res.Status)
	}
	return nil
}
