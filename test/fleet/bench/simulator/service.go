// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/rpc"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/record"
)

const (
	// serviceName is the name of the service in calls.
	serviceName = "Simulator"
	// pollEvery is the shortest interval between two reads of an object in Await, and pollTarget that with a real API server. In between, the
	// interval is the time that has passed divided by precision. slowest is the longest interval.
	pollEvery, pollTarget = 5 * time.Millisecond, 50 * time.Millisecond
	slowest, precision    = time.Second, 50
)

// Serve runs a simulator that is controlled through a Unix socket at path, until ctx is done. If kubeconfig is not empty, it is a file, and
// the clusters are views of its API server.
func Serve(ctx context.Context, path, kubeconfig string) error {
	server, err := apiserver.Start(ctx, apiserver.Options{})
	if err != nil {
		return err
	}
	defer server.Stop()
	service := &Service{server: server}
	if kubeconfig != "" {
		if service.target, err = targetOf(ctx, kubeconfig); err != nil {
			return err
		}
	}
	s := rpc.NewServer()
	if err := s.RegisterName(serviceName, service); err != nil {
		return errors.Wrap(err, "cannot register the service")
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return errors.Wrap(err, "cannot listen")
	}
	context.AfterFunc(ctx, func() { _ = l.Close() })
	for {
		c, err := l.Accept()
		if err != nil {
			return nil
		}
		go s.ServeConn(c)
	}
}

// A Service has the calls of a simulator. Its methods have the form that net/rpc requires.
type Service struct {
	server   *apiserver.Server
	observed observed
	// target is the real API server whose views are the clusters, or nil.
	target *target
}

// A Fault is a fault of some clusters.
type Fault struct {
	Clusters []string
	Fault    apiserver.Fault
}

// A Field is a field of an object in some clusters, with a string as value.
type Field struct {
	Clusters  []string
	Resource  schema.GroupVersionResource
	Namespace string
	// Names are the names of the objects in each cluster.
	Names []string
	// Path is the path of the field.
	Path  []string
	Value string
	// Absent means that the objects must not exist, instead.
	Absent bool
	// Timeout limits the wait for the value.
	Timeout time.Duration
}

// Add adds a cluster, and returns its kubeconfig.
func (s *Service) Add(name string, kubeconfig *[]byte) error {
	add := s.server.AddCluster
	if s.target != nil {
		add = func(name string) error { return s.server.AddView(name, s.target.backend) }
	}
	if err := add(name); err != nil {
		return err
	}
	*kubeconfig = s.server.Kubeconfig(name)
	return nil
}

// Remove removes a cluster.
func (s *Service) Remove(name string, _ *struct{}) error {
	s.server.RemoveCluster(name)
	return nil
}

// Rotate replaces the token of a cluster, and returns its kubeconfig.
func (s *Service) Rotate(name string, kubeconfig *[]byte) error {
	if err := s.server.RotateToken(name); err != nil {
		return err
	}
	*kubeconfig = s.server.Kubeconfig(name)
	return nil
}

// SetFault makes clusters fail, or work again.
func (s *Service) SetFault(f Fault, _ *struct{}) error {
	for _, c := range f.Clusters {
		if err := s.server.SetFault(c, f.Fault); err != nil {
			return err
		}
	}
	return nil
}

// Created returns the objects that were created in some clusters while they were replaced by others, by the name of the cluster.
func (s *Service) Created(clusters []string, created *map[string][]string) error {
	*created = map[string][]string{}
	for _, c := range clusters {
		if objects := s.server.CreatedInReplacement(c); len(objects) > 0 {
			(*created)[c] = objects
		}
	}
	return nil
}

// Count returns the counters of all clusters together.
func (s *Service) Count(_ struct{}, count *apiserver.Count) error {
	*count = s.server.Count("")
	return nil
}

// CountOf returns the number of requests to some clusters.
func (s *Service) CountOf(clusters []string, requests *int) error {
	for _, c := range clusters {
		if s.server.Cluster(c) == nil {
			return errors.Errorf("there is no cluster %q", c)
		}
		for _, n := range s.server.Count(c).Requests {
			*requests += n
		}
	}
	return nil
}

// Unknown returns the calls that the simulator does not implement.
func (s *Service) Unknown(_ struct{}, calls *[]string) error {
	*calls = s.server.Unknown()
	return nil
}

// Await waits until a field has a value in all objects, and returns the number of objects in which it never had it. The longer it waits,
// the less often it reads, because many calls at the same time would use the CPU time of the simulator.
func (s *Service) Await(f Field, missing *int) error {
	begin, every := time.Now(), pollEvery
	if s.target != nil {
		every = pollTarget
	}
	for _, c := range f.Clusters {
		for _, name := range f.Names {
			for !s.has(c, name, f) {
				waited := time.Since(begin)
				if waited > f.Timeout {
					*missing++
					break
				}
				time.Sleep(min(max(every, waited/precision), slowest))
			}
		}
	}
	return nil
}

// Observe begins to record in which clusters objects have the value of a field, now or at any time from now on. It forgets what was
// recorded before.
func (s *Service) Observe(f Field, _ *struct{}) error {
	s.observed.forget()
	for _, name := range f.Clusters {
		c := s.server.Cluster(name)
		if c == nil {
			return errors.Errorf("there is no cluster %q", name)
		}
		c.Observe(func(k record.Key, object map[string]any) {
			if k.GroupResource == f.Resource.GroupResource() && k.Namespace == f.Namespace && slices.Contains(f.Names, k.Name) && f.in(object) {
				s.observed.add(k.Name, name)
			}
		})
	}
	return nil
}

// Observed returns the clusters that have been recorded since Observe, by the name of the object.
func (s *Service) Observed(_ struct{}, clusters *map[string][]string) error {
	*clusters = s.observed.list()
	return nil
}

// An observed contains the clusters in which an object had a value, by the name of the object.
type observed struct {
	mu       sync.Mutex
	clusters map[string]map[string]bool
}

func (o *observed) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clusters = map[string]map[string]bool{}
}

func (o *observed) add(object, cluster string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.clusters[object] == nil {
		o.clusters[object] = map[string]bool{}
	}
	o.clusters[object][cluster] = true
}

func (o *observed) list() map[string][]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := map[string][]string{}
	for object, clusters := range o.clusters {
		out[object] = slices.Sorted(maps.Keys(clusters))
	}
	return out
}

// has reports whether an object has the value of a field.
func (s *Service) has(clusterName, name string, f Field) bool {
	if s.target != nil {
		return s.target.has(context.Background(), clusterName, name, f)
	}
	c := s.server.Cluster(clusterName)
	if c == nil {
		return false
	}
	kind := c.Kinds().Of(f.Resource.GroupResource())
	if kind == nil {
		return false
	}
	object, err := c.Get(cluster.Target{Kind: kind, Namespace: f.Namespace, Name: name})
	if f.Absent {
		return kerrors.IsNotFound(err)
	}
	return err == nil && f.in(object)
}

// in reports whether an object has the value.
func (f Field) in(object map[string]any) bool {
	value, found, err := unstructured.NestedString(object, f.Path...)
	return err == nil && found && value == f.Value
}

// String describes the field for errors.
func (f Field) String() string {
	return fmt.Sprintf("%s of %s %s/%v", f.Path, f.Resource.Resource, f.Namespace, f.Names)
}
