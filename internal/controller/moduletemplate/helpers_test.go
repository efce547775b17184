// SPDX-License-Identifier: Apache-2.0

package moduletemplate

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// descriptor is the descriptor of an unsigned component.
const descriptor = `{"meta":{"schemaVersion":"v2"},"component":{"name":"example.org/module/sample","version":"1.0.0","provider":"internal",` +
	`"repositoryContexts":[],"sources":[],"componentReferences":[],"resources":[]}}`

// fakeResolver returns fixed results.
type fakeResolver struct {
	version    string
	err        error
	components []*ocm.Descriptor
	calls      int
	again      int
}

func (r *fakeResolver) Resolve(_ context.Context, _ oci.Registries, t *v1alpha1.ModuleTemplate) (*module.Resolution, error) {
	r.calls++
	if r.err != nil {
		return nil, r.err
	}
	return &module.Resolution{
		ModuleName: module.NameOf(t), Version: r.version, Digest: "sha256:" + r.version, Components: r.components,
		Resources: []v1alpha1.ModuleResource{{Name: "chart", Type: "helm-chart", Use: v1alpha1.UseInstall, Install: "chart"}},
	}, nil
}

func (r *fakeResolver) Components(context.Context, oci.Registries, *v1alpha1.ModuleTemplate) ([]*ocm.Descriptor, error) {
	r.again++
	return r.components, r.err
}

// recorder records events as type, reason and message.
type recorder struct {
	event.NopRecorder

	events []string
}

func (r *recorder) Event(_ runtime.Object, e event.Event) {
	r.events = append(r.events, string(e.Type)+" "+string(e.Reason)+" "+e.Message)
}

// bench is a control plane with one reconciler.
type bench struct {
	client   client.Client
	resolver *fakeResolver
	events   *recorder
	writes   int
	r        *reconciler
}

func newBench(t *testing.T, templates ...*v1alpha1.ModuleTemplate) *bench {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	objects := make([]client.Object, 0, len(templates))
	for _, m := range templates {
		objects = append(objects, m)
	}
	b := &bench{resolver: &fakeResolver{version: "1.0.0"}, events: &recorder{}}
	b.client = fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithStatusSubresource(&v1alpha1.ModuleTemplate{}).
		WithIndex(&v1alpha1.ModuleTemplate{}, indexRelease, releaseKeys).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
				b.writes++
				return c.SubResource(sub).Update(ctx, obj, opts...)
			},
		}).Build()
	b.r = &reconciler{
		client: b.client, resolver: b.resolver, timeout: time.Minute, log: logging.NewNopLogger(), record: b.events,
		registries: func(context.Context) (oci.Registries, error) { return nil, nil },
	}
	return b
}

// reconcile reconciles a template. It returns the template, and whether a retry was requested.
func (b *bench) reconcile(t *testing.T, name string) (*v1alpha1.ModuleTemplate, bool) {
	t.Helper()
	res, err := b.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: name}})
	return b.get(t, name), err != nil || res.RequeueAfter != 0
}

func (b *bench) get(t *testing.T, name string) *v1alpha1.ModuleTemplate {
	t.Helper()
	out := &v1alpha1.ModuleTemplate{}
	if err := b.client.Get(t.Context(), client.ObjectKey{Name: name}, out); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return out
}

// change changes a template as a user would. A change to the spec results in a new generation.
func (b *bench) change(t *testing.T, name string, f func(m *v1alpha1.ModuleTemplate)) {
	t.Helper()
	m := b.get(t, name)
	f(m)
	if err := b.client.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

func annotate(key, value string) func(m *v1alpha1.ModuleTemplate) {
	return func(m *v1alpha1.ModuleTemplate) { m.Annotations = map[string]string{key: value} }
}

func newGeneration(m *v1alpha1.ModuleTemplate) { m.Generation++ }

func template(name, moduleName, channel string) *v1alpha1.ModuleTemplate {
	return &v1alpha1.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec:       v1alpha1.ModuleTemplateSpec{ModuleName: moduleName, Channel: channel},
	}
}

// said returns the conditions of a template as text.
func said(m *v1alpha1.ModuleTemplate) string {
	c := m.Status.GetCondition(v1alpha1.TypeResolved)
	return string(c.Status) + " " + string(c.Reason) + " " + c.Message
}

func publicKey(t *testing.T) (*rsa.PrivateKey, ocm.Key) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ocm.ParseKey("module-signature", pem.EncodeToMemory(&pem.Block{
		Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&private.PublicKey),
	}))
	if err != nil {
		t.Fatal(err)
	}
	return private, key
}
