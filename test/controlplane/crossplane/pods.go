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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// A Pod is a running process of the Deployment of a provider.
type Pod struct {
	// Deployment is the name of the Deployment, which is that of the package revision.
	Deployment string
	Process    *process.Process
	// Restarts is the number of restarts after an unexpected end.
	Restarts int
	// Kubeconfig is the path of the kubeconfig of the process.
	Kubeconfig string
}

// pods contains the processes of Deployments, by the name of the Deployment.
type pods struct {
	mu      sync.Mutex
	running map[string]*pod
}

// list returns the running processes, sorted by Deployment.
func (p *pods) list() []Pod {
	var out []Pod
	for name, r := range p.all() {
		out = append(out, Pod{Deployment: name, Process: r.process, Restarts: r.restarts, Kubeconfig: r.kubeconfig})
	}
	slices.SortFunc(out, func(a, b Pod) int { return strings.Compare(a.Deployment, b.Deployment) })
	return out
}

// all returns a copy of the map of all processes.
func (p *pods) all() map[string]*pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.running)
}

func (p *pods) set(name string, started *pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[name] = started
}

// sync starts the processes of new and changed Deployments, and stops those of deleted Deployments and of those without
// replicas.
func (p *pods) sync(ctx context.Context, s host) error {
	found := &appsv1.DeploymentList{}
	if err := s.client.List(ctx, found, client.InNamespace(Namespace)); err != nil {
		return errors.Wrap(err, "cannot list Deployments")
	}
	var failed []error
	wanted := map[string]bool{}
	for i := range found.Items {
		d := &found.Items[i]
		if d.DeletionTimestamp != nil || (d.Spec.Replicas != nil && *d.Spec.Replicas == 0) {
			failed = append(failed, report(ctx, s.client, d, 0))
			continue
		}
		wanted[d.Name] = true
		failed = append(failed, errors.Wrapf(p.run(ctx, s, d), "cannot run Deployment %q", d.Name))
	}
	for name, running := range p.all() {
		if !wanted[name] {
			failed = append(failed, p.end(ctx, name, running))
		}
	}
	return errors.Join(failed...)
}

// run starts one process for a Deployment, regardless of its number of replicas, and updates its status.
func (p *pods) run(ctx context.Context, s host, d *appsv1.Deployment) error {
	template := d.Spec.Template.String()
	restarts := 0
	if running, ok := p.all()[d.Name]; ok {
		ended := running.ended()
		if running.template == template && !ended {
			return report(ctx, s.client, d, 1)
		}
		if ended {
			restarts = running.restarts + 1
		}
		if err := p.end(ctx, d.Name, running); err != nil {
			return err
		}
		if err := report(ctx, s.client, d, 0); err != nil {
			return err
		}
	}
	ready, err := mayStart(ctx, s.client, d)
	if err != nil || !ready {
		return err
	}
	started, err := startPod(ctx, s, d)
	if err != nil {
		return err
	}
	started.template, started.restarts = template, restarts
	p.set(d.Name, started)
	return report(ctx, s.client, d, 1)
}

// end stops a process like a kubelet: it sends SIGTERM and waits for 30 seconds.
func (p *pods) end(ctx context.Context, name string, running *pod) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err := running.process.Terminate(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, name)
	return err
}

func (p *pods) stop() {
	for _, running := range p.all() {
		running.process.Stop()
	}
}
