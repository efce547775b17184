// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// mostReported is the maximum number of objects in an error about objects that are not Ready.
const mostReported = 5

// Pending contains the objects that are not Ready, by name, with their state.
type Pending map[string]string

// NewPending returns n objects that were not created yet, with their names.
func NewPending(n int, name func(i int) string) Pending {
	p := Pending{}
	for i := range n {
		p[name(i)] = "not created"
	}
	return p
}

func (p Pending) see(o runtime.Object) {
	switch o := o.(type) {
	case *v1alpha1.Manifest:
		p.note(o.Name, o.GetCondition(xpv2.TypeReady), o.Status.AtProvider.State)
	case *v1alpha1.Kyma:
		p.note(o.Name, o.GetCondition(xpv2.TypeReady), o.Status.AtProvider.State)
	case *v1alpha1.ModuleTemplate:
		p.note(o.Name, o.Status.GetCondition(v1alpha1.TypeResolved), v1alpha1.StateReady)
	}
}

func (p Pending) note(name string, ready xpv2.Condition, state v1alpha1.State) {
	if ready.Status == corev1.ConditionTrue && state == v1alpha1.StateReady {
		delete(p, name)
		return
	}
	p[name] = fmt.Sprintf("state %q %q", state, ready.Message)
}

// String returns some of the objects, with their states.
func (p Pending) String() string {
	var lines []string
	for name, message := range p {
		if len(lines) == mostReported {
			lines = append(lines, "and others")
			break
		}
		lines = append(lines, name+": "+message)
	}
	return strings.Join(lines, "; ")
}

// Await waits until all objects of a kind are Ready. The list is an empty list of the kind. The namespace is empty for
// cluster-scoped kinds.
func (p Pending) Await(ctx context.Context, control client.WithWatch, list client.ObjectList, namespace string) error {
	for len(p) > 0 {
		if err := control.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return p.explain(ctx, err)
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			p.see(o)
			return nil
		})
		w, err := control.Watch(ctx, list, client.InNamespace(namespace), from(list.GetResourceVersion()))
		if err != nil {
			return p.explain(ctx, err)
		}
		p.follow(ctx, w)
		w.Stop()
		if ctx.Err() != nil {
			return p.explain(ctx, ctx.Err())
		}
	}
	return nil
}

// follow processes events of a watch until all objects are Ready or the watch ends.
func (p Pending) follow(ctx context.Context, w watch.Interface) {
	for len(p) > 0 {
		select {
		case <-ctx.Done():
			return
		case event, ok := <-w.ResultChan():
			if !ok || event.Type == watch.Error {
				return
			}
			if event.Type != watch.Bookmark {
				p.see(event.Object)
			}
		}
	}
}

func (p Pending) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return errors.Wrapf(err, "%d are not Ready (%s)", len(p), p)
}

func from(resourceVersion string) client.ListOption {
	return &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: resourceVersion}}
}
