// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
)

// A Cluster is a running control plane. Its methods may be called at any time,
// from any goroutine.
type Cluster struct {
	options Options
	dir     string
	// temporary says that dir goes with the cluster.
	temporary bool
	ca        *authority
	admin     *rest.Config
	// kubeconfig is that of admin.
	kubeconfig []byte
	etcdPort   int
	port       int

	// mu guards the processes, and is held while they start and stop.
	mu        sync.Mutex
	etcd      *Process
	apiserver *Process
	others    []*Process

	crashOnce sync.Once
	crashed   chan struct{}
	err       error // written before crashed is closed
}

// Start starts a cluster and returns once it serves: the API is ready, and so
// are the default service account and the node when they were asked for. ctx
// bounds the start only. An error of a server carries the end of its log.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	c := &Cluster{options: o.withDefaults(), crashed: make(chan struct{})}
	err := c.prepare()
	if err == nil {
		err = c.start(ctx)
	}
	if err != nil {
		c.Stop()
		return nil, errors.Wrapf(err, "cannot start cluster %q", c.options.Name)
	}
	return c, nil
}

// StartAll starts clusters side by side and returns them in the same order.
// When one fails, the others are stopped.
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

func (c *Cluster) prepare() error {
	c.dir = c.options.Dir
	if c.dir == "" {
		dir, err := os.MkdirTemp("", "provider-kyma-"+c.options.Name+"-")
		if err != nil {
			return errors.Wrap(err, "cannot make a data folder")
		}
		c.dir, c.temporary = dir, true
	}
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return errors.Wrap(err, "cannot find the data folder")
	}
	c.dir = dir
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return errors.Wrap(err, "cannot make the data folder")
	}
	ca, err := newAuthority(c.options.Name)
	if err != nil {
		return err
	}
	c.ca = ca
	return c.writeKeys()
}

// writeKeys puts what the servers read from files into the data folder.
func (c *Cluster) writeKeys() error {
	serving, err := c.ca.server()
	if err != nil {
		return err
	}
	signing, err := signingKey()
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"ca.crt": c.ca.pem, "tls.crt": serving.certificate, "tls.key": serving.key, "sa.key": signing,
	} {
		if err := os.WriteFile(c.path(name), data, 0o600); err != nil {
			return errors.Wrapf(err, "cannot write %s", name)
		}
	}
	return nil
}

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *Cluster) start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	if err := c.startAPIServer(ctx); err != nil {
		return err
	}
	if err := c.writeKubeconfig(); err != nil {
		return err
	}
	return c.startOthers(ctx)
}

// Name returns the name of the cluster.
func (c *Cluster) Name() string { return c.options.Name }

// Dir returns the folder with the data and the log of each server.
func (c *Cluster) Dir() string { return c.dir }

// URL returns the address of the API server. It stays the same when the server
// is stopped and started.
func (c *Cluster) URL() string {
	return "https://" + net.JoinHostPort(loopback, strconv.Itoa(c.port))
}

// Crashed is closed when a server ends that was not asked to.
func (c *Cluster) Crashed() <-chan struct{} { return c.crashed }

// Err says which server ended that was not asked to, with the end of its log.
// It is nil as long as all is well.
func (c *Cluster) Err() error {
	select {
	case <-c.crashed:
		return c.err
	default:
		return nil
	}
}

// watch reports the end of a process, unless it was asked for.
func (c *Cluster) watch(p *Process) {
	go func() {
		<-p.done
		err := p.Err()
		if err == nil {
			return
		}
		c.crashOnce.Do(func() {
			c.err = errors.Wrapf(err, "cluster %q", c.options.Name)
			close(c.crashed)
		})
	}()
}

// Pause freezes the API server: connections are accepted, and nobody answers.
func (c *Cluster) Pause() { c.signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (c *Cluster) Resume() { c.signal(syscall.SIGCONT) }

func (c *Cluster) signal(s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.apiserver != nil {
		c.apiserver.Signal(s)
	}
}

// StopAPIServer ends the API server: connections break, new ones are refused.
// The data stays.
func (c *Cluster) StopAPIServer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apiserver.Stop()
}

// StartAPIServer starts a stopped API server again, with its data, under the
// same address, and returns once it is ready.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Wrapf(c.runAPIServer(ctx), "cannot start the API server of cluster %q again", c.options.Name)
}

// Stop ends all servers, waits until they are gone, and removes a temporary data
// folder. It may be called on a nil cluster, and more than once.
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
