// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// A Cluster is a running control plane. It is safe for concurrent use.
type Cluster struct {
	access
	crash

	options Options
	dir     string
	// temporary means that Stop removes dir.
	temporary bool
	// etcdURL is the URL of etcd, and port is the port of the API server.
	etcdURL string
	port    int

	// mu guards the processes. It is held while they start and stop.
	mu        sync.Mutex
	etcd      *process.Process
	apiserver *process.Process
	others    []*process.Process
	// restarted means that the API server ended unexpectedly and was restarted.
	restarted bool
}

// Start starts a cluster and returns when it is ready: the API server and, if requested, the default service account and
// the node. ctx applies only to the start. The error of a server contains the end of its log.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	o = o.withDefaults()
	c := &Cluster{options: o, crash: crash{cluster: o.Name, crashed: make(chan struct{})}}
	err := c.prepare()
	if err == nil {
		err = c.start(ctx)
	}
	if err != nil {
		c.Stop()
		return nil, errors.Wrapf(err, "cannot start cluster %q", o.Name)
	}
	return c, nil
}

// StartAll starts clusters concurrently and returns them in the same order. If one fails, it stops the others.
func StartAll(ctx context.Context, options ...Options) ([]*Cluster, error) {
	clusters := make([]*Cluster, len(options))
	g, ctx := errgroup.WithContext(ctx)
	for i, o := range options {
		g.Go(func() error {
			c, err := Start(ctx, o)
			clusters[i] = c
			return err
		})
	}
	err := g.Wait()
	if err != nil {
		for _, c := range clusters {
			c.Stop()
		}
		return nil, err
	}
	return clusters, nil
}

// prepare creates the data directory, and the files that the servers read.
func (c *Cluster) prepare() error {
	c.dir = c.options.Dir
	if c.dir == "" {
		dir, err := os.MkdirTemp("", "provider-kyma-"+c.options.Name+"-")
		if err != nil {
			return errors.Wrap(err, "cannot create a data directory")
		}
		c.dir, c.temporary = dir, true
	}
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return errors.Wrap(err, "cannot determine the data directory")
	}
	c.dir = dir
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return errors.Wrap(err, "cannot create the data directory")
	}
	ca, err := newAuthority(c.options.Name)
	if err != nil {
		return err
	}
	c.access = access{name: c.options.Name, ca: ca, file: filepath.Join(c.dir, "kubeconfig")}
	return writeKeys(c.dir, ca)
}

func (c *Cluster) start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	if c.etcd, c.etcdURL, err = startEtcd(ctx, c.dir); err != nil {
		return err
	}
	c.watch(c.etcd)
	err = process.RetryTaken(func() error {
		if c.port, err = process.FreePort(ctx); err != nil {
			return err
		}
		if err := c.reach("https://" + net.JoinHostPort(process.Loopback, strconv.Itoa(c.port))); err != nil {
			return err
		}
		return c.startAPIServer(ctx)
	})
	if err != nil {
		return err
	}
	if err := c.writeKubeconfig(); err != nil {
		return err
	}
	return c.startOthers(ctx)
}

func (c *Cluster) startAPIServer(ctx context.Context) error {
	p, err := startAPIServer(ctx, c.dir, apiServer(c.options, c.dir, c.etcdURL, c.port), c.admin)
	if err != nil {
		return err
	}
	c.apiserver = p
	c.keepAPIServer(p)
	return nil
}

// keepAPIServer restarts an API server after its first unexpected end, like the kubelet of a control plane. kube-apiserver v1.36.3 can
// panic while it merges the OpenAPI documents of CRDs, which no client can prevent. The second end counts as a crash, so that an API
// server that always ends is not hidden.
func (c *Cluster) keepAPIServer(p *process.Process) {
	go func() {
		<-p.Done()
		c.mu.Lock()
		defer c.mu.Unlock()
		ended := p.Err()
		if ended == nil { // It was stopped.
			return
		}
		if c.restarted {
			c.record(ended)
			return
		}
		c.restarted = true
		_, _ = fmt.Fprintf(os.Stderr, "cluster %q: restarting its API server: %v\n", c.options.Name, ended)
		if err := c.startAPIServer(context.Background()); err != nil {
			c.record(err)
		}
	}()
}

// startOthers starts the servers that are clients of the API server, and returns when they are ready.
func (c *Cluster) startOthers(ctx context.Context) error {
	others, err := clients(ctx, c.options, c.dir, c.file)
	if err != nil {
		return err
	}
	for _, s := range others {
		p, err := s.start(ctx, c.dir)
		if err != nil {
			return err
		}
		c.others = append(c.others, p)
		c.watch(p)
	}
	return c.unlessCrashed(ctx, func(ctx context.Context) error { return awaitUse(ctx, c.options, c.apiserver, c.admin) })
}

// Dir returns the directory with the data and the log of each server.
func (c *Cluster) Dir() string { return c.dir }

// Pause freezes the API server: it accepts connections, but does not respond. A request that is sent immediately afterwards can
// still be answered.
func (c *Cluster) Pause() { c.signal(syscall.SIGSTOP) }

// Resume ends a pause.
func (c *Cluster) Resume() { c.signal(syscall.SIGCONT) }

func (c *Cluster) signal(s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.apiserver != nil {
		c.apiserver.Signal(s)
	}
}

// StopAPIServer stops the API server: open connections break, and new ones are refused. The data stays.
func (c *Cluster) StopAPIServer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apiserver.Stop()
}

// StartAPIServer restarts a stopped API server with its data and its address, and returns when it is ready.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Wrapf(c.startAPIServer(ctx), "cannot restart the API server of cluster %q", c.options.Name)
}

// Stop stops all servers, waits until they have ended, and removes a temporary data directory. It can be called on a nil
// cluster, and more than once.
func (c *Cluster) Stop() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.others {
		p.Stop()
	}
	c.apiserver.Stop()
	c.etcd.Stop()
	if c.temporary {
		_ = os.RemoveAll(c.dir)
	}
}
