// SPDX-License-Identifier: Apache-2.0

package makefile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/crossplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

const (
	// team is the namespace of the Manifest, config the name of its ProviderConfig.
	team, config = "team-a", "itself"
	// system is the namespace of make deploy, deployment the name of its Deployment.
	system, deployment = "provider-kyma-system", "provider-kyma"
)

// A fixture is a control plane, which is also a target cluster, and a registry.
type fixture struct {
	cluster  *controlplane.Cluster
	client   client.Client
	registry *controlplane.Registry
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	// Its controllers delete namespaces.
	c, err := controlplane.Start(t.Context(), controlplane.Options{Name: "make", ControllerManager: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	k, err := c.Client()
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{cluster: c, client: k, registry: controlplane.RegistryFor(t, controlplane.WebOptions{})}
}

// kubeconfig returns the make argument that names the cluster.
func (s *fixture) kubeconfig() string { return "KUBECONFIG=" + s.cluster.KubeconfigFile() }

// await polls look until it is done, and reports the last result if the time is over. what describes the goal.
func await(t *testing.T, what string, look func(ctx context.Context) (done bool, seen string, err error)) {
	t.Helper()
	if err := (process.Wait{What: what}).Until(t.Context(), look); err != nil {
		t.Fatal(err)
	}
}

// awaitKinds waits until the control plane serves this number of our kinds.
func (s *fixture) awaitKinds(t *testing.T, want int) {
	t.Helper()
	d, err := discovery.NewDiscoveryClientForConfig(s.cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	await(t, fmt.Sprintf("%d kinds are served", want), func(context.Context) (bool, string, error) {
		_, lists, err := d.ServerGroupsAndResources()
		found := map[string]bool{}
		for _, list := range lists {
			for i := range list.APIResources {
				if list.GroupVersion == v1alpha1.SchemeGroupVersion.String() {
					found[list.APIResources[i].Kind] = true
				}
			}
		}
		return len(found) == want, fmt.Sprint(found), err
	})
}

// patchCRD merges a patch into the CRD of Kymas.
func (s *fixture) patchCRD(t *testing.T, patch string) {
	t.Helper()
	crd := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "kymas." + v1alpha1.Group}}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	if err := s.client.Patch(t.Context(), crd, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

// create creates a Manifest that installs a ConfigMap with a message.
func (s *fixture) create(t *testing.T, name, message string) *v1alpha1.Manifest {
	t.Helper()
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: config}
	m.Spec.ForProvider.Installs = []v1alpha1.Install{{Name: name, Namespace: team, Source: v1alpha1.Source{
		Type: v1alpha1.SourceTypeRaw, Inline: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {message: " + message + "}\n",
	}}}
	if err := s.client.Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return m
}

// awaitInstalled waits until the Manifest is Ready, and the ConfigMap has the message.
func (s *fixture) awaitInstalled(t *testing.T, name, message string) {
	t.Helper()
	key := client.ObjectKey{Namespace: team, Name: name}
	await(t, "Manifest "+name+" is installed", func(ctx context.Context) (bool, string, error) {
		m := &v1alpha1.Manifest{}
		if err := s.client.Get(ctx, key, m); err != nil {
			return false, "", err
		}
		ready := m.GetCondition(xpv2.TypeReady)
		if ready.Status != corev1.ConditionTrue {
			return false, string(ready.Reason) + " " + ready.Message, nil
		}
		c := &corev1.ConfigMap{}
		err := s.client.Get(ctx, key, c)
		return c.Data["message"] == message, fmt.Sprint(c.Data), err
	})
}

// remove deletes an object, and waits until it is gone.
func (s *fixture) remove(t *testing.T, o client.Object) {
	t.Helper()
	if err := s.client.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	s.awaitGone(t, o)
}

func (s *fixture) awaitGone(t *testing.T, o client.Object) {
	t.Helper()
	await(t, fmt.Sprintf("%T %s is gone", o, o.GetName()), func(ctx context.Context) (bool, string, error) {
		err := s.client.Get(ctx, client.ObjectKeyFromObject(o), o)
		return client.IgnoreNotFound(err) == nil && err != nil, "it is there", nil
	})
}

// play runs the Deployment of the provider as a kubelet would: it pulls the image, and runs its program with the arguments and
// variables of the container, as its service account. It returns the image.
func (s *fixture) play(t *testing.T) (image string) {
	t.Helper()
	d := &appsv1.Deployment{}
	if err := s.client.Get(t.Context(), client.ObjectKey{Namespace: system, Name: deployment}, d); err != nil {
		t.Fatal(err)
	}
	container := d.Spec.Template.Spec.Containers[0]
	dir := t.TempDir()
	binary, err := crossplane.Unpack(t.Context(), container.Image, dir)
	if err != nil {
		t.Fatal(err)
	}
	o := controlplane.ProviderOptions{Dir: dir, Binary: binary, Args: container.Args, Kubeconfig: filepath.Join(dir, "kubeconfig")}
	for _, e := range container.Env {
		if e.ValueFrom.FieldRef.FieldPath == "metadata.namespace" {
			o.Env = append(o.Env, e.Name+"="+d.Namespace)
		}
	}
	account, err := s.cluster.ServiceAccount(t.Context(), d.Namespace, d.Spec.Template.Spec.ServiceAccountName)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := s.cluster.KubeconfigOf(account)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.Kubeconfig, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := controlplane.StartProvider(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return container.Image
}
