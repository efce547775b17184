// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const (
	// namespace of the Manifests, and name of their ProviderConfig.
	namespace  = "bench"
	config     = "target"
	repository = "component-descriptors"
	component  = "example.org/module/bench"
	// creators create at the same time.
	creators = 8
	// mostReported of the Manifests that are not Ready.
	mostReported = 5
)

func name(i int) string { return fmt.Sprintf("bench-%d", i) }

// prepare all that is not measured: the namespaces and the ProviderConfig.
func (e *environment) prepare(ctx context.Context, n int) error {
	err := parallel(ctx, n, func(ctx context.Context, i int) error {
		return e.targetClient.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name(i)}})
	})
	if err != nil {
		return errors.Wrap(err, "cannot create a namespace in the target")
	}
	pc := &v1alpha1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: config},
		Spec: v1alpha1.ProviderConfigSpec{
			Credentials: v1alpha1.Credentials{
				Source:              v1alpha1.CredentialsSourceSecret,
				CredentialSelectors: v1alpha1.CredentialSelectors{SecretRef: &v1alpha1.SecretKeySelector{Name: config, Key: "kubeconfig"}},
			},
			Registries: []v1alpha1.Registry{{Host: e.registry.Host(), PlainHTTP: true}},
		},
	}
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.Secret{ObjectMeta: pc.ObjectMeta, Data: map[string][]byte{"kubeconfig": e.target.Kubeconfig()}},
		pc,
	} {
		if err := e.controlClient.Create(ctx, o); err != nil {
			return errors.Wrapf(err, "cannot create %T %s", o, o.GetName())
		}
	}
	return nil
}

// create the Manifests.
func (e *environment) create(ctx context.Context, n int) error {
	err := parallel(ctx, n, func(ctx context.Context, i int) error {
		m := &v1alpha1.Manifest{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name(i)},
			Spec: v1alpha1.ManifestSpec{ForProvider: v1alpha1.ManifestParameters{Installs: []v1alpha1.Install{{
				Name: name(i), Namespace: name(i),
				Source: v1alpha1.Source{
					Type: v1alpha1.SourceTypeOCIRef, Repo: e.registry.Host() + "/" + repository, Name: component, Ref: e.layer.Layer,
				},
			}}}},
		}
		m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: config}
		return e.controlClient.Create(ctx, m)
	})
	return errors.Wrap(err, "cannot create a Manifest")
}

func parallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(creators)
	for i := range n {
		g.Go(func() error { return do(ctx, i) })
	}
	return g.Wait()
}

// pending are the Manifests that are not Ready, by name, with what they say.
type pending map[string]string

func newPending(n int) pending {
	p := pending{}
	for i := range n {
		p[name(i)] = "not created"
	}
	return p
}

func (p pending) see(m *v1alpha1.Manifest) {
	ready := m.GetCondition(xpv2.TypeReady)
	if ready.Status == corev1.ConditionTrue && m.Status.AtProvider.State == v1alpha1.StateReady {
		delete(p, m.Name)
		return
	}
	p[m.Name] = fmt.Sprintf("state %q %q", m.Status.AtProvider.State, ready.Message)
}

func (p pending) String() string {
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

// awaitReady watches until all Manifests are Ready.
func (e *environment) awaitReady(ctx context.Context, p pending) error {
	for len(p) > 0 {
		list := &v1alpha1.ManifestList{}
		if err := e.controlClient.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return p.explain(ctx, err)
		}
		for i := range list.Items {
			p.see(&list.Items[i])
		}
		w, err := e.controlClient.Watch(ctx, &v1alpha1.ManifestList{}, client.InNamespace(namespace), from(list.ResourceVersion))
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

// follow a watch until all are Ready or it ends.
func (p pending) follow(ctx context.Context, w watch.Interface) {
	for len(p) > 0 {
		select {
		case <-ctx.Done():
			return
		case event, ok := <-w.ResultChan():
			if !ok || event.Type == watch.Error {
				return
			}
			if m, ok := event.Object.(*v1alpha1.Manifest); ok && event.Type != watch.Bookmark {
				p.see(m)
			}
		}
	}
}

func (p pending) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return errors.Wrapf(err, "%d Manifests are not Ready (%s)", len(p), p)
}

func from(resourceVersion string) client.ListOption {
	return &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: resourceVersion}}
}
