// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster/connect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	manifestsource "github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

const (
	finalizer = "example.org/site"
	// operator is the field manager, the value of the managed-by label and the namespace of the inventories.
	operator = "site-operator"
	// lookAgain is the requeue interval of a site that is not ready or not up to date.
	lookAgain = 2 * time.Second
	// backlog is the capacity of the channel of changes.
	backlog = 1024
)

var siteKind = schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Site"} //nolint:gochecknoglobals // Constant.

// A reconciler installs a bundle for each site.
type reconciler struct {
	client  client.Client
	engine  *manifest.Engine
	cluster *connect.Connection
	chart   manifestsource.Layer
	// sites maps the ID of each bundle to its site. onChange uses it to find the site of a changed object.
	sites sync.Map
}

// setup creates the controller of sites. Close the returned connection after the manager has stopped.
func setup(mgr ctrl.Manager, rc *rest.Config) (*connect.Connection, error) {
	id := manifest.Identity{FieldManager: operator, ManagedBy: operator}
	r := &reconciler{client: mgr.GetClient(), engine: manifest.New(manifest.WithIdentity(id), manifest.WithInventoryNamespace(operator))}
	var err error
	if r.chart, err = chart(); err != nil {
		return nil, errors.Wrap(err, "chart")
	}
	changes := make(chan event.GenericEvent, backlog)
	onChange := func(bundle string, _ cluster.ObjectRef, _, _ *cluster.ObjectState) {
		if site, ok := r.sites.Load(bundle); ok {
			changes <- event.GenericEvent{Object: site.(client.Object)} //nolint:forcetypeassert // Only sites are stored.
		}
	}
	r.cluster, err = connect.New(rc, connect.WithIdentity(id), connect.WithOnChange(onChange))
	if err != nil {
		return nil, errors.Wrap(err, "cannot connect")
	}
	err = ctrl.NewControllerManagedBy(mgr).
		For(newSite()).
		WatchesRawSource(source.Channel(changes, &handler.EnqueueRequestForObject{})).
		Complete(r)
	return r.cluster, errors.Wrap(err, "cannot make a controller")
}

func newSite() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(siteKind)
	return u
}

// Reconcile installs or uninstalls one site, and updates its status.
func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	site := newSite()
	if err := r.client.Get(ctx, req.NamespacedName, site); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	bundle, err := bundleOf(site, r.chart)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !site.GetDeletionTimestamp().IsZero() {
		return r.remove(ctx, site, bundle)
	}
	// The finalizer is set before the installation, so that no objects are left behind.
	if controllerutil.AddFinalizer(site, finalizer) {
		if err := r.client.Update(ctx, site); err != nil {
			return reconcile.Result{}, err
		}
	}
	r.sites.Store(r.engine.ID(bundle), site.DeepCopy())
	seen, err := r.engine.Install(ctx, r.cluster, bundle)
	if err != nil && seen.State == "" {
		// There is no observation, for example because the cluster is unreachable.
		seen.State, seen.Message = manifest.Error, err.Error()
	}
	if serr := r.report(ctx, site, string(seen.State), seen.Message); err == nil {
		err = serr
	}
	if err == nil && (!seen.UpToDate || seen.State != manifest.Ready) {
		return reconcile.Result{RequeueAfter: lookAgain}, nil
	}
	return reconcile.Result{}, err
}

// remove starts the next step of the uninstallation. It removes the finalizer when no objects are left.
func (r *reconciler) remove(ctx context.Context, site *unstructured.Unstructured, bundle *manifest.Bundle) (reconcile.Result, error) {
	left, err := r.engine.Uninstall(ctx, r.cluster, bundle)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !left.Gone {
		return reconcile.Result{RequeueAfter: lookAgain}, r.report(ctx, site, string(left.State), left.Message)
	}
	r.sites.Delete(r.engine.ID(bundle))
	if !controllerutil.RemoveFinalizer(site, finalizer) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(r.client.Update(ctx, site))
}

// report updates the status of a site if the state or the message has changed.
func (r *reconciler) report(ctx context.Context, site *unstructured.Unstructured, state, message string) error {
	was, _, err := unstructured.NestedStringMap(site.Object, "status")
	if err != nil {
		return err
	}
	if was["state"] == state && was["message"] == message {
		return nil
	}
	if err := unstructured.SetNestedStringMap(site.Object, map[string]string{"state": state, "message": message}, "status"); err != nil {
		return err
	}
	return r.client.Status().Update(ctx, site)
}
