// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	appsv1 "k8s.io/api/apps/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// A node plays what a cluster with nodes would do for packages: it runs the
// Deployments of providers, and the functions.
type node struct {
	x *Crossplane

	mu  sync.Mutex
	err error
	// pods are by the name of the Deployment.
	pods map[string]*pod
	// functions that run, and their addresses.
	functions map[tools.Tool]*endpoint
}

func newNode(x *Crossplane) *node {
	return &node{x: x, pods: map[string]*pod{}, functions: map[tools.Tool]*endpoint{}}
}

// run until ctx is done.
func (n *node) run(ctx context.Context) {
	for {
		err := n.runDeployments(ctx)
		if e := n.runFunctions(ctx); err == nil {
			err = e
		}
		if ctx.Err() != nil {
			return
		}
		n.mu.Lock()
		n.err = err
		n.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollInterval):
		}
	}
}

func (n *node) lastError() error {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.err
}

// stop all processes. run has returned.
func (n *node) stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		p.process.Stop()
	}
	for _, e := range n.functions {
		e.process.Stop()
	}
}

// runDeployments starts the processes of new and changed Deployments, and ends those
// of Deployments that are gone or scaled down.
func (n *node) runDeployments(ctx context.Context) error {
	found := &appsv1.DeploymentList{}
	if err := n.x.client.List(ctx, found, client.InNamespace(Namespace)); err != nil {
		return errors.Wrap(err, "cannot list Deployments")
	}
	var failed []error
	wanted := map[string]bool{}
	for i := range found.Items {
		d := &found.Items[i]
		if d.DeletionTimestamp != nil || (d.Spec.Replicas != nil && *d.Spec.Replicas == 0) {
			failed = append(failed, n.report(ctx, d, 0))
			continue
		}
		wanted[d.Name] = true
		failed = append(failed, errors.Wrapf(n.runDeployment(ctx, d), "cannot run Deployment %q", d.Name))
	}
	for name, p := range n.all() {
		if !wanted[name] {
			failed = append(failed, n.end(ctx, name, p))
		}
	}
	return errors.Join(failed...)
}

// all pods, which may change meanwhile.
func (n *node) all() map[string]*pod {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.pods)
}

// end a process as a kubelet does: it is asked, and has some time.
func (n *node) end(ctx context.Context, name string, p *pod) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err := p.process.Terminate(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.pods, name)
	return err
}

// runDeployment has one process run for a Deployment, whatever its number of
// replicas, and says so in its status.
func (n *node) runDeployment(ctx context.Context, d *appsv1.Deployment) error {
	template := d.Spec.Template.String()
	restarts := 0
	if p, ok := n.all()[d.Name]; ok {
		ended := p.ended()
		if p.template == template && !ended {
			return n.report(ctx, d, 1)
		}
		if ended {
			restarts = p.restarts + 1
		}
		if err := n.end(ctx, d.Name, p); err != nil {
			return err
		}
		if err := n.report(ctx, d, 0); err != nil {
			return err
		}
	}
	ready, err := n.mayStart(ctx, d)
	if err != nil || !ready {
		return err
	}
	p, err := n.x.startPod(ctx, d)
	if err != nil {
		return err
	}
	p.template, p.restarts = template, restarts
	n.mu.Lock()
	n.pods[d.Name] = p
	n.mu.Unlock()
	return n.report(ctx, d, 1)
}

// A Pod is a process that runs for the Deployment of a provider.
type Pod struct {
	// Deployment has the name of the package's revision.
	Deployment string
	Process    *process.Process
	// Restarts counts how often it ended without being asked to.
	Restarts int
	// Kubeconfig is the path of the one that the process has.
	Kubeconfig string
}

// Pods returns what runs now, sorted by Deployment.
func (x *Crossplane) Pods() []Pod {
	var out []Pod
	for name, p := range x.node.all() {
		out = append(out, Pod{Deployment: name, Process: p.process, Restarts: p.restarts, Kubeconfig: p.kubeconfig})
	}
	slices.SortFunc(out, func(a, b Pod) int { return strings.Compare(a.Deployment, b.Deployment) })
	return out
}

// AwaitPod waits until the current revision of the provider runs, and no other, and
// returns its process. A provider that is healthy need not run yet: without an active
// kind it has nothing to do.
func (x *Crossplane) AwaitPod(ctx context.Context) (Pod, error) {
	var found Pod
	err := x.await(ctx, "the provider runs", func(ctx context.Context) error {
		p := &pkgv1.Provider{}
		if err := x.client.Get(ctx, client.ObjectKey{Name: ObjectName(ProviderPackage)}, p); err != nil {
			return err //nolint:wrapcheck // It names the object.
		}
		pods := x.Pods()
		if len(pods) != 1 || pods[0].Deployment != p.Status.CurrentRevision {
			return errors.Errorf("revision %q is wanted, and what runs is %+v", p.Status.CurrentRevision, pods)
		}
		found = pods[0]
		return nil
	})
	return found, err
}

// runFunctions starts the functions of active revisions, and tells Crossplane where
// they are.
func (n *node) runFunctions(ctx context.Context) error {
	found := &pkgv1.FunctionRevisionList{}
	if err := n.x.client.List(ctx, found); err != nil {
		return errors.Wrap(err, "cannot list FunctionRevisions")
	}
	for i := range found.Items {
		r := &found.Items[i]
		if r.DeletionTimestamp != nil || r.Spec.DesiredState != pkgv1.PackageRevisionActive {
			continue
		}
		for _, f := range functions() {
			if !strings.Contains(r.Spec.Package, "/"+string(f.tool)) {
				continue
			}
			if err := n.runFunction(ctx, f, r); err != nil {
				return errors.Wrapf(err, "cannot run function %q", r.Name)
			}
		}
	}
	return nil
}

func (n *node) runFunction(ctx context.Context, f function, r *pkgv1.FunctionRevision) error {
	n.mu.Lock()
	e := n.functions[f.tool]
	n.mu.Unlock()
	if e == nil {
		started, err := n.x.startFunction(ctx, f.tool)
		if err != nil {
			return err
		}
		e = started
		n.mu.Lock()
		n.functions[f.tool] = e
		n.mu.Unlock()
	}
	if err := e.process.Err(); err != nil {
		return err
	}
	return errors.Wrap(n.announce(ctx, r, e), "cannot say where it listens")
}

// announce writes where a function listens into the status of its revision, which
// Crossplane writes too.
func (n *node) announce(ctx context.Context, r *pkgv1.FunctionRevision, e *endpoint) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { //nolint:wrapcheck // The caller says what it is.
		secret := r.GetObservedTLSServerSecretName()
		if r.Status.Endpoint == e.address && secret != nil && *secret == e.secret && r.GetCondition(pkgv1.TypeRuntimeHealthy).Status == "True" {
			return nil
		}
		r.Status.Endpoint = e.address
		r.SetObservedTLSServerSecretName(&e.secret)
		r.SetConditions(pkgv1.RuntimeHealthy())
		err := n.x.client.Status().Update(ctx, r)
		if !kerrors.IsConflict(err) {
			return err //nolint:wrapcheck // The caller says what it is.
		}
		// What is read here is written at the next try.
		return errors.Join(err, n.x.client.Get(ctx, client.ObjectKeyFromObject(r), r))
	})
}
