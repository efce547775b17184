// SPDX-License-Identifier: Apache-2.0

package unmanaged

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// An inner connector records whether the Manifest is detached.
type inner struct {
	connected, detached bool
}

func (i *inner) Connect(_ context.Context, m *v1alpha1.Manifest) (managed.TypedExternalClient[*v1alpha1.Manifest], error) {
	i.connected, i.detached = true, m.Annotations[v1alpha1.AnnotationDetach] == "true"
	return nil, nil //nolint:nilnil // It is not used.
}

var now = metav1.NewTime(time.Now())

// newKyma returns a Kyma with two modules.
func newKyma(change ...func(k *v1alpha1.Kyma)) *v1alpha1.Kyma {
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "kyma", UID: "uid", Finalizers: []string{"f"}}}
	k.Spec.ForProvider.Modules = []v1alpha1.Module{{Name: "other"}, {Name: "istio"}}
	for _, f := range change {
		f(k)
	}
	return k
}

func unmanagedModule(k *v1alpha1.Kyma) {
	no := false
	k.Spec.ForProvider.Modules[1].Managed = &no
}

func deleted(k *v1alpha1.Kyma) { k.DeletionTimestamp = &now }

func mandatory(k *v1alpha1.Kyma) {
	k.Status.AtProvider.Modules = []v1alpha1.ModuleStatus{{Name: "istio", Origin: v1alpha1.ModuleOriginMandatory}}
}

func keeping(k *v1alpha1.Kyma) {
	k.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
}

func paused(k *v1alpha1.Kyma) {
	meta.AddAnnotations(k, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
}

func without(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules = k.Spec.ForProvider.Modules[:1] }

func anotherUID(k *v1alpha1.Kyma) { k.UID = "another" }

func newManifest(change ...func(m *v1alpha1.Manifest)) *v1alpha1.Manifest {
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "kyma-istio", DeletionTimestamp: &now}}
	m.OwnerReferences = []metav1.OwnerReference{meta.AsController(meta.TypedReferenceTo(newKyma(), v1alpha1.KymaGroupVersionKind))}
	for _, f := range change {
		f(m)
	}
	return m
}

// reader returns a reader that finds a Kyma, unless it is nil, and counts its requests.
func reader(t *testing.T, k *v1alpha1.Kyma, requests *int, err error) client.Reader {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	b := fake.NewClientBuilder().WithScheme(s)
	if k != nil {
		b = b.WithObjects(k)
	}
	return b.WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			*requests++
			if err != nil {
				return err
			}
			return c.Get(ctx, key, o, opts...)
		},
	}).Build()
}

func TestDetachWithKyma(t *testing.T) {
	type args struct {
		manifest     *v1alpha1.Manifest
		cached, live *v1alpha1.Kyma
		err          error
	}
	type want struct {
		detached bool
		// requests is the number of requests to the API server.
		requests int
		err      string
	}
	for name, tc := range map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Left": {
			reason: "The garbage collector deleted the Manifest before it was marked.",
			args:   args{manifest: newManifest(), cached: newKyma(unmanagedModule, deleted)},
			want:   want{detached: true},
		},
		"OldCache": {
			reason: "The cache does not show the last change and the deletion of the Kyma yet.",
			args:   args{manifest: newManifest(), cached: newKyma(), live: newKyma(unmanagedModule, deleted)},
			want:   want{detached: true, requests: 1},
		},
		"Managed": {
			reason: "The objects of a managed module are removed with the Kyma.",
			args:   args{manifest: newManifest(), cached: newKyma(deleted)},
		},
		"Mandatory": {
			reason: "A mandatory module is managed, whatever the spec says.",
			args:   args{manifest: newManifest(), cached: newKyma(unmanagedModule, deleted, mandatory)},
		},
		"Disabled": {
			reason: "The controller of Kymas deletes the Manifests of modules that the spec does not contain.",
			args:   args{manifest: newManifest(), cached: newKyma(without), live: newKyma(unmanagedModule, deleted)},
		},
		"DeletedByHand": {
			reason: "A user deleted the Manifest. Its Kyma is not being deleted.",
			args:   args{manifest: newManifest(), cached: newKyma(), live: newKyma()},
			want:   want{requests: 1},
		},
		"Keeps": {
			reason: "The policies of the Kyma have not reached the Manifest yet.",
			args:   args{manifest: newManifest(), cached: newKyma(), live: newKyma(keeping, deleted)},
			want:   want{requests: 1, err: "waiting until the Manifest has the managementPolicies of Kyma kyma, which do not contain Delete"},
		},
		"Pauses": {
			reason: "Neither has its pause.",
			args:   args{manifest: newManifest(), cached: newKyma(paused, deleted)},
			want:   want{err: "waiting until the Manifest is paused, because Kyma kyma is"},
		},
		"Unsupported": {
			reason: "Policies that are not supported never reach it.",
			args: args{manifest: newManifest(), cached: newKyma(deleted, func(k *v1alpha1.Kyma) {
				k.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionDelete}
			})},
		},
		"Detaching": {
			reason: "A Manifest that is detached has other policies than its Kyma.",
			args: args{
				manifest: newManifest(func(m *v1alpha1.Manifest) {
					meta.AddAnnotations(m, map[string]string{v1alpha1.AnnotationDetach: "true"})
				}),
				cached: newKyma(without, keeping, deleted),
			},
			want: want{detached: true},
		},
		"Gone": {
			reason: "There is no Kyma.",
			args:   args{manifest: newManifest()},
		},
		"Another": {
			reason: "There is another Kyma of this name.",
			args:   args{manifest: newManifest(), cached: newKyma(unmanagedModule, deleted, anotherUID)},
		},
		"NotDeleted": {
			reason: "A Manifest that is not being deleted needs no Kyma.",
			args: args{
				manifest: newManifest(func(m *v1alpha1.Manifest) { m.DeletionTimestamp = nil }), cached: newKyma(unmanagedModule, deleted),
			},
		},
		"NotOwned": {
			reason: "A Manifest without a Kyma needs none.",
			args: args{
				manifest: newManifest(func(m *v1alpha1.Manifest) { m.OwnerReferences = nil }), cached: newKyma(unmanagedModule, deleted),
			},
		},
		"Unknown": {
			reason: "Nothing is removed while the Kyma cannot be read.",
			args:   args{manifest: newManifest(), cached: newKyma(), err: errors.New("boom")},
			want:   want{requests: 1, err: "cannot get Kyma kyma: boom"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, cached, requests := &inner{}, 0, 0
			c := Connector(in, reader(t, tc.args.cached, &cached, nil), reader(t, tc.args.live, &requests, tc.args.err))
			_, err := c.Connect(t.Context(), tc.args.manifest)
			if tc.want.err == "" && err != nil || tc.want.err != "" && (err == nil || !strings.Contains(err.Error(), tc.want.err)) {
				t.Errorf("%s\nwant error %q, got %v", tc.reason, tc.want.err, err)
			}
			if in.connected == (tc.want.err != "") || in.detached != tc.want.detached || requests != tc.want.requests {
				t.Errorf("%s\nwant detached %t after %d requests, got %+v after %d", tc.reason, tc.want.detached, tc.want.requests, in, requests)
			}
		})
	}
}
