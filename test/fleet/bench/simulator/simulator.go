// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"net"
	"net/rpc"
	"os"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
)

const (
	// Argument is the flag of the calling program, without hyphen, that makes it call Serve with the value of the flag.
	Argument = "simulator"
	// TargetArgument is the flag whose value is the kubeconfig for Serve.
	TargetArgument = "simulator-target"
)

// ErrTimeout means that the wait for a field has ended without success.
var ErrTimeout = errors.New("timeout")

// A Simulator is a running simulator. It is safe for concurrent use.
type Simulator struct {
	*process.Process

	client *rpc.Client
}

// Start starts a simulator whose socket and log are in dir. If target is not empty, it is the kubeconfig of a real API server, and the
// clusters are views of it.
func Start(ctx context.Context, dir, target string) (*Simulator, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, errors.Wrap(err, "cannot find this program")
	}
	socket := filepath.Join(dir, "simulator.sock")
	// It shares the cores of the machine with the provider.
	env := []string{"HOME=" + dir, "GOGC=400", "GOMEMLIMIT=6GiB"}
	p, err := process.Start(dir, "simulator", program, env, "-"+Argument+"="+socket, "-"+TargetArgument+"="+target)
	if err != nil {
		return nil, err
	}
	s := &Simulator{Process: p}
	err = p.Await(ctx, "ready", func(ctx context.Context) error {
		s.client, err = dial(ctx, socket)
		return err
	})
	if err != nil {
		p.Stop()
		return nil, err
	}
	return s, nil
}

func dial(ctx context.Context, socket string) (*rpc.Client, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, errors.Wrap(err, "cannot connect to the simulator")
	}
	return rpc.NewClient(c), nil
}

// Add adds a cluster, and returns its kubeconfig.
func (s *Simulator) Add(name string) ([]byte, error) { return call[[]byte](s, "Add", name) }

// Rotate replaces the token of a cluster, and returns its kubeconfig. The previous token is not valid anymore.
func (s *Simulator) Rotate(name string) ([]byte, error) { return call[[]byte](s, "Rotate", name) }

// Remove removes a cluster.
func (s *Simulator) Remove(name string) error {
	_, err := call[struct{}](s, "Remove", name)
	return err
}

// SetFault makes clusters fail, or work again.
func (s *Simulator) SetFault(clusters []string, f apiserver.Fault) error {
	_, err := call[struct{}](s, "SetFault", Fault{Clusters: clusters, Fault: f})
	return err
}

// Created returns the objects that were created in some clusters while they were replaced by others, by the name of the cluster.
func (s *Simulator) Created(clusters []string) (map[string][]string, error) {
	return call[map[string][]string](s, "Created", clusters)
}

// Count returns the counters of all clusters together.
func (s *Simulator) Count() (apiserver.Count, error) {
	return call[apiserver.Count](s, "Count", struct{}{})
}

// CountOf returns the number of requests to some clusters.
func (s *Simulator) CountOf(clusters []string) (int, error) { return call[int](s, "CountOf", clusters) }

// Unknown returns the calls that the simulator does not implement.
func (s *Simulator) Unknown() ([]string, error) { return call[[]string](s, "Unknown", struct{}{}) }

// Observe begins to record in which clusters objects have the value of a field, now or at any time from now on. It forgets what was
// recorded before.
func (s *Simulator) Observe(f Field) error {
	_, err := call[struct{}](s, "Observe", f)
	return err
}

// Observed returns the clusters that have been recorded since Observe, by the name of the object.
func (s *Simulator) Observed() (map[string][]string, error) {
	return call[map[string][]string](s, "Observed", struct{}{})
}

// Await waits until a field has its value in all objects. It returns the time of the wait, and ErrTimeout if an object does not get it
// in time. If ctx is done first, it returns the cause, but the simulator continues to wait.
func (s *Simulator) Await(ctx context.Context, f Field) (time.Duration, error) {
	begin, missing := time.Now(), 0
	wait := s.client.Go(serviceName+".Await", f, &missing, make(chan *rpc.Call, 1))
	select {
	case <-wait.Done:
	case <-ctx.Done():
		return time.Since(begin), errors.Wrapf(context.Cause(ctx), "waiting for the value %q of %s", f.Value, f)
	}
	err := errors.Wrap(wait.Error, "simulator: Await")
	if err == nil && missing > 0 {
		err = errors.Wrapf(ErrTimeout, "%d objects do not have the value %q of %s within %s", missing, f.Value, f, f.Timeout)
	}
	return time.Since(begin), err
}

// call calls a method of the service.
func call[T any](s *Simulator, method string, argument any) (T, error) {
	var out T
	err := s.client.Call(serviceName+"."+method, argument, &out)
	return out, errors.Wrapf(err, "simulator: %s", method)
}
