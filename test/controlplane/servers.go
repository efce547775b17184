// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// A server is a program with its arguments, and the environment that differs from that of other servers.
type server struct {
	tool tools.Tool
	args []string
	env  []string
}

// start starts the server in a data directory. The server does not inherit the environment of the caller, except for
// PATH, so that proxies and credentials have no effect. It collects garbage less often, because several servers share the cores of
// the machine.
func (s server) start(ctx context.Context, dir string) (*process.Process, error) {
	path, err := tools.Path(ctx, s.tool)
	if err != nil {
		return nil, err
	}
	env := slices.Concat(tools.CollectLess(), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, s.env)
	return process.Start(dir, string(s.tool), path, env, s.args...)
}

// startEtcd starts etcd, and returns its process and its URL when it is healthy.
func startEtcd(ctx context.Context, dir string) (p *process.Process, url string, err error) {
	err = process.RetryTaken(func() error {
		port, err := process.FreePort(ctx)
		if err != nil {
			return err
		}
		peerPort, err := process.FreePort(ctx)
		if err != nil {
			return err
		}
		url = "http://" + net.JoinHostPort(process.Loopback, strconv.Itoa(port))
		if p, err = etcd(dir, url, "http://"+net.JoinHostPort(process.Loopback, strconv.Itoa(peerPort))).start(ctx, dir); err != nil {
			return err
		}
		err = p.Await(ctx, "healthy", func(ctx context.Context) error { return process.CheckURL(ctx, http.DefaultClient, url+"/readyz") })
		if err != nil {
			p.Stop()
		}
		return err
	})
	return p, url, err
}

func etcd(dir, url, peer string) server {
	return server{tool: tools.Etcd, args: []string{
		"--data-dir=" + filepath.Join(dir, "etcd"),
		"--listen-client-urls=" + url, "--advertise-client-urls=" + url,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
		"--unsafe-no-fsync", "--log-level=warn",
		"--auto-compaction-mode=revision", "--auto-compaction-retention=10000",
	}}
}

// startAPIServer starts an API server, and returns its process when it is ready for an administrator.
func startAPIServer(ctx context.Context, dir string, s server, admin *rest.Config) (*process.Process, error) {
	client, err := rest.HTTPClientFor(admin)
	if err != nil {
		return nil, errors.Wrap(err, "cannot create a client")
	}
	defer client.CloseIdleConnections()
	p, err := s.start(ctx, dir)
	if err != nil {
		return nil, err
	}
	err = p.Await(ctx, "ready", func(ctx context.Context) error {
		if err := process.CheckURL(ctx, client, admin.Host+"/readyz"); err != nil {
			return err
		}
		return process.CheckURL(ctx, client, admin.Host+"/api/v1/namespaces/default")
	})
	if err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

func apiServer(o Options, dir, etcdURL string, port int) server {
	in := func(name string) string { return filepath.Join(dir, name) }
	args := []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=" + process.Loopback, "--advertise-address=" + process.Loopback, "--secure-port=" + strconv.Itoa(port),
		// The loopback address is not valid in Endpoints.
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + in("tls.crt"), "--tls-private-key-file=" + in("tls.key"),
		"--client-ca-file=" + in("ca.crt"),
		"--service-account-key-file=" + in("sa.key"), "--service-account-signing-key-file=" + in("sa.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-cluster-ip-range=10.0.0.0/16",
		"--authorization-mode=RBAC", "--allow-privileged=true", "--profiling=false",
	}
	if len(o.EnableAdmission) > 0 {
		args = append(args, "--enable-admission-plugins="+strings.Join(o.EnableAdmission, ","))
	}
	if len(o.DisableAdmission) > 0 {
		args = append(args, "--disable-admission-plugins="+strings.Join(o.DisableAdmission, ","))
	}
	return server{tool: o.server(tools.KubeAPIServer), args: append(args, o.APIServerArgs...), env: o.APIServerEnv}
}

// clients returns the servers that are clients of the API server. All of them are administrators, because no test depends
// on their permissions.
func clients(ctx context.Context, o Options, dir, kubeconfig string) ([]server, error) {
	var out []server
	if o.ControllerManager {
		out = append(out, controllerManager(o, dir, kubeconfig))
	}
	if o.Scheduler {
		out = append(out, server{tool: o.server(tools.KubeScheduler), args: []string{
			"--kubeconfig=" + kubeconfig, "--leader-elect=false", "--secure-port=0",
			"--kube-api-qps=1000", "--kube-api-burst=2000",
		}})
	}
	if !o.Kwok {
		return out, nil
	}
	player, err := kwok(ctx, o.KwokStages, kubeconfig)
	return append(out, player), err
}

func controllerManager(o Options, dir, kubeconfig string) server {
	args := []string{
		"--kubeconfig=" + kubeconfig, "--leader-elect=false", "--secure-port=0",
		"--service-account-private-key-file=" + filepath.Join(dir, "sa.key"), "--root-ca-file=" + filepath.Join(dir, "ca.crt"),
		"--kube-api-qps=1000", "--kube-api-burst=2000", "--profiling=false",
		// On a busy machine, kwok can renew the lease of its node too late. The pods would then not be ready anymore, and kwok, unlike a kubelet, does
		// not correct that.
		"--node-monitor-grace-period=24h",
	}
	if len(o.Controllers) > 0 {
		args = append(args, "--controllers="+strings.Join(o.Controllers, ","))
	}
	return server{tool: o.server(tools.KubeControllerManager), args: append(args, o.ControllerManagerArgs...)}
}

// kwok returns a kwok server with stages, which it requires to do anything.
func kwok(ctx context.Context, stages []string, kubeconfig string) (server, error) {
	dir, err := tools.ModuleDir(ctx, tools.Kwok, "sigs.k8s.io/kwok")
	if err != nil {
		return server{}, err
	}
	args := []string{"--kubeconfig=" + kubeconfig, "--manage-all-nodes=true", "--node-ip=" + process.Loopback}
	for _, stage := range stages {
		files, err := filepath.Glob(filepath.Join(dir, "kustomize", "stage", stage, "*.yaml"))
		if err != nil || len(files) == 0 {
			return server{}, errors.Errorf("kwok has no stage %q: %v", stage, err)
		}
		for _, f := range files {
			if filepath.Base(f) != "kustomization.yaml" {
				args = append(args, "--config="+f)
			}
		}
	}
	return server{tool: tools.Kwok, args: args}, nil
}
