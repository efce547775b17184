// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// A serverTest applies the Manifest of one module to a real API server.
type serverTest struct {
	*testing.T

	client client.Client
	store  *store
	kyma   *v1alpha1.Kyma
}

// startServer starts an API server with our CRDs, and creates a client.
func startServer(t *testing.T) client.Client {
	t.Helper()
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	server, err := controlplane.Start(t.Context(), controlplane.Options{Name: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	if err := server.InstallCRDs(t.Context(), filepath.Join(root, "package", "crds")); err != nil {
		t.Fatal(err)
	}
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(server.Config(), client.Options{Scheme: s})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// get returns the Manifest of module a.
func (s *serverTest) get() *v1alpha1.Manifest {
	s.Helper()
	m := &v1alpha1.Manifest{}
	if err := s.client.Get(s.Context(), client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: naming.OfModule(s.kyma.Name, "a")}, m); err != nil {
		s.Fatal(err)
	}
	return m
}

// desired returns the desired Manifest of module a.
func (s *serverTest) desired(live *v1alpha1.Manifest, values string, change ...func(*v1alpha1.ModuleTemplate)) *v1alpha1.Manifest {
	module := v1alpha1.Module{Name: "a"}
	if values != "" {
		module.Values = &runtime.RawExtension{Raw: []byte(values)}
	}
	return desiredOf(s.kyma, newTemplate("a", "regular", "1.0.0", change...), module, live)
}

// apply applies a desired Manifest, after which the live Manifest must not differ from it.
func (s *serverTest) apply(desired *v1alpha1.Manifest) *v1alpha1.Manifest {
	s.Helper()
	if ok, err := s.store.apply(s.Context(), s.kyma, desired); err != nil || !ok {
		s.Fatalf("apply(...): %t, %v", ok, err)
	}
	live := s.get()
	if needsUpdate(live, desired) {
		s.Fatalf("apply(...): the live Manifest still differs:\n%s", cmp.Diff(desired, live))
	}
	return live
}

// create creates the Manifest of module a.
func (s *serverTest) create(values string, change ...func(*v1alpha1.ModuleTemplate)) *v1alpha1.Manifest {
	s.Helper()
	return s.apply(s.desired(nil, values, change...))
}

// edit edits the Manifest as a user would, with a merge patch.
func (s *serverTest) edit(patch string) *v1alpha1.Manifest {
	s.Helper()
	if err := s.client.Patch(s.Context(), s.get(), client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("kubectl-edit")); err != nil {
		s.Fatal(err)
	}
	return s.get()
}

// values returns the values of the only install of a Manifest.
func values(m *v1alpha1.Manifest) string {
	if v := m.Spec.ForProvider.Installs[0].Values; v != nil {
		return string(v.Raw)
	}
	return ""
}

// TestServer checks properties of server-side apply with a real API server.
func TestServer(t *testing.T) {
	c := startServer(t)
	named := func(t *v1alpha1.ModuleTemplate) {
		t.Labels = map[string]string{v1alpha1.LabelControllerName: "operator"}
	}
	pause := map[string]string{meta.AnnotationKeyReconciliationPaused: "true"}
	cases := map[string]struct {
		reason string
		do     func(s *serverTest)
	}{
		"Nulls": {"Nulls in values arrive, stay, and can be replaced.", func(s *serverTest) {
			s.create(`{"a":null,"b":{"x":1,"y":2},"c":[null,{"z":null}]}`)
			for _, v := range []string{
				`{"a":null,"b":{"x":1,"y":2},"c":[null,{"z":null}]}`, `{"a":{"n":null},"b":null}`, `{"a":{"n":null},"b":{"x":null}}`, `{"a":5,"b":{}}`, `{"a":null}`, `{}`,
			} {
				if got := values(s.apply(s.desired(s.get(), v))); got != v {
					s.Errorf("want values %s, got %s", v, got)
				}
			}
		}},
		"AtRest": {"The same again writes nothing.", func(s *serverTest) {
			live := s.create(`{"a":null}`)
			// Like any first update of an object, it stores the default of the status.
			live = s.apply(s.desired(live, `{"a":null}`))
			if again := s.apply(s.desired(live, `{"a":null}`)); again.ResourceVersion != live.ResourceVersion {
				s.Errorf("want version %s, got %s", live.ResourceVersion, again.ResourceVersion)
			}
		}},
		"OneManager": {"One field manager owns all that a Kyma sets.", func(s *serverTest) {
			live := s.create(`{"a":1}`)
			live = s.apply(s.desired(live, `{"a":2}`))
			if len(live.ManagedFields) != 1 || live.ManagedFields[0].Manager != fieldManager || live.ManagedFields[0].Operation != metav1.ManagedFieldsOperationApply {
				s.Errorf("want one entry, got %v", live.ManagedFields)
			}
		}},
		"Edited": {"What a user adds to what is installed goes.", func(s *serverTest) {
			s.create(`{"a":1}`)
			live := s.edit(`{"spec":{"forProvider":{"drift":"Report","mode":"Plan","immutableFields":"Recreate","rollback":{"trigger":"Failed"},"readiness":[{"cel":"true"}]}}}`)
			live = s.apply(s.desired(live, `{"a":1}`))
			if p := live.Spec.ForProvider; p.Mode != v1alpha1.ModeApply || p.ImmutableFields != v1alpha1.ImmutableFieldsPolicyRefuse || p.Rollback != nil {
				s.Errorf("want what the Kyma says, got %+v", p)
			}
			source := live.Spec.ForProvider.Installs[0].Source
			live = s.edit(fmt.Sprintf(`{"spec":{"forProvider":{"installs":[{"name":"a","source":{"type":"oci-ref","repo":%q,"name":%q,"ref":%q},"values":{"a":1,"b":2}}]}}}`,
				source.Repo, source.Name, source.Ref))
			if got := values(s.apply(s.desired(live, `{"a":1}`))); got != `{"a":1}` {
				s.Errorf("want the values of the Kyma, got %s", got)
			}
		}},
		"OfUsers": {"What a user adds besides stays.", func(s *serverTest) {
			s.create("")
			live := s.edit(`{"metadata":{"labels":{"mine":"x"},"annotations":{"mine":"x","crossplane.io/paused":"true"},
				"finalizers":["example.org/mine"]},"spec":{"forProvider":{"adoption":"Adopt"}}}`)
			live = s.apply(s.desired(live, `{"a":1}`, named))
			live = s.apply(s.desired(live, `{"a":2}`))
			if live.Labels["mine"] != "x" || live.Annotations["mine"] != "x" || !meta.IsPaused(live) ||
				live.Spec.ForProvider.Adoption != v1alpha1.AdoptionPolicyAdopt || !slices.Contains(live.Finalizers, "example.org/mine") {
				s.Errorf("want what the user added, got %v %v", live.ObjectMeta, live.Spec.ForProvider.Adoption)
			}
			s.edit(`{"metadata":{"finalizers":null}}`)
		}},
		"PlanEnds": {"A plan that came with the Manifest goes with what is wanted then, in one write.", func(s *serverTest) {
			s.kyma.Spec.ForProvider.Mode = v1alpha1.ModePlan
			live := s.create(`{"a":1}`)
			s.kyma.Spec.ForProvider.Mode = v1alpha1.ModeApply
			after := s.apply(s.desired(live, `{"a":2}`))
			if live.Spec.ForProvider.Mode != v1alpha1.ModePlan || after.Spec.ForProvider.Mode != v1alpha1.ModeApply ||
				after.Generation != live.Generation+1 || values(after) != `{"a":2}` {
				s.Errorf("want mode Plan and then Apply, got %s and %s, generation %d, %s",
					live.Spec.ForProvider.Mode, after.Spec.ForProvider.Mode, after.Generation, values(after))
			}
		}},
		"PauseEnds": {"A pause comes and goes.", func(s *serverTest) {
			live := s.create("")
			s.kyma.Annotations = pause
			paused := desiredManifest(s.kyma, intentOf(s.kyma, policyOf(s.kyma)), nil, live)
			paused.ResourceVersion = live.ResourceVersion
			live = s.apply(paused)
			if !meta.IsPaused(live) || live.Annotations[v1alpha1.AnnotationPausedBy] != s.kyma.Name {
				s.Errorf("want a pause, got %v", live.Annotations)
			}
			s.kyma.Annotations = nil
			if after := s.apply(s.desired(live, "")); len(after.Annotations) != 0 {
				s.Errorf("want no pause, got %v", after.Annotations)
			}
		}},
		"PauseConflict": {"A Manifest that was changed in the meantime is not paused.", func(s *serverTest) {
			live := s.create("")
			s.edit(`{"metadata":{"annotations":{"crossplane.io/paused":"true"}}}`)
			s.kyma.Annotations = pause
			desired := desiredManifest(s.kyma, intentOf(s.kyma, policyOf(s.kyma)), nil, live)
			desired.ResourceVersion = live.ResourceVersion
			if _, err := s.store.apply(s.Context(), s.kyma, desired); !kerrors.IsConflict(err) {
				s.Errorf("want a conflict, got %v", err)
			}
			if by := s.get().Annotations[v1alpha1.AnnotationPausedBy]; by != "" {
				s.Errorf("want the pause of the user, got one by %s", by)
			}
		}},
		"LabelGoes": {"A label goes that the template does not have any more.", func(s *serverTest) {
			live := s.create("", named)
			if live.Labels[v1alpha1.LabelControllerName] != "operator" {
				s.Errorf("want the label, got %v", live.Labels)
			}
			if _, ok := s.apply(s.desired(live, "")).Labels[v1alpha1.LabelControllerName]; ok {
				s.Error("want the label to be gone")
			}
		}},
		"EarlierManager": {"Labels and annotations that an earlier version of the provider set go, too.", func(s *serverTest) {
			old := s.desired(nil, `{"a":1}`, named)
			meta.AddAnnotations(old, map[string]string{meta.AnnotationKeyReconciliationPaused: "true", v1alpha1.AnnotationPausedBy: s.kyma.Name, meta.AnnotationKeyExternalName: "x"})
			old.Finalizers = []string{"finalizer.managedresource.crossplane.io"}
			if err := s.client.Create(s.Context(), old, client.FieldOwner("provider")); err != nil {
				s.Fatal(err)
			}
			after := s.apply(s.desired(s.get(), `{"b":2}`))
			if diff := cmp.Diff(map[string]string{meta.AnnotationKeyExternalName: "x"}, after.Annotations); diff != "" || len(after.Finalizers) != 1 {
				s.Errorf("annotations: -want, +got:\n%s\nfinalizers: %v", diff, after.Finalizers)
			}
			if _, ok := after.Labels[v1alpha1.LabelControllerName]; ok || values(after) != `{"b":2}` {
				s.Errorf("labels %v, values %s", after.Labels, values(after))
			}
			s.edit(`{"metadata":{"finalizers":null}}`)
		}},
		"NameTaken": {"A Manifest of another owner is not taken over.", func(s *serverTest) {
			other := s.desired(nil, `{"a":1}`)
			other.OwnerReferences = nil
			if err := s.client.Create(s.Context(), other); err != nil {
				s.Fatal(err)
			}
			before := s.get()
			_, err := s.store.apply(s.Context(), s.kyma, s.desired(nil, `{"a":1}`))
			want := collision(other)
			if err == nil || err.Error() != want {
				s.Errorf("want error %q, got %v", want, err)
			}
			if diff := cmp.Diff(before, s.get()); diff != "" {
				s.Errorf("the Manifest of another owner has changed: -want, +got:\n%s", diff)
			}
		}},
		"CacheBehind": {"A Manifest that exists already, and that the cache does not have, is left to the next event.", func(s *serverTest) {
			before := s.create("")
			if ok, err := s.store.apply(s.Context(), s.kyma, s.desired(nil, `{"a":1}`)); ok || err != nil {
				s.Errorf("want nothing to happen, got %t, %v", ok, err)
			}
			if diff := cmp.Diff(before, s.get()); diff != "" {
				s.Errorf("-want, +got:\n%s", diff)
			}
		}},
		"Invalid": {"A Manifest that the API server refuses is an error.", func(s *serverTest) {
			bad := s.desired(nil, "")
			bad.Spec.ForProvider.Installs = nil
			if _, err := s.store.apply(s.Context(), s.kyma, bad); !kerrors.IsInvalid(err) {
				s.Errorf("create: want an error, got %v", err)
			}
			bad = s.desired(s.create(""), "")
			bad.Spec.ForProvider.Installs = nil
			if _, err := s.store.apply(s.Context(), s.kyma, bad); !kerrors.IsInvalid(err) {
				s.Errorf("update: want an error, got %v", err)
			}
		}},
		"Deleted": {"A Manifest that is gone by now, or that was made again, is left to the next event.", func(s *serverTest) {
			live := s.create("")
			s.delete(live)
			if ok, err := s.store.apply(s.Context(), s.kyma, s.desired(live, `{"a":1}`)); ok || err != nil {
				s.Errorf("deleted: want nothing to happen, got %t, %v", ok, err)
			}
			again := s.create("")
			if ok, err := s.store.apply(s.Context(), s.kyma, s.desired(live, `{"a":1}`)); ok || err != nil {
				s.Errorf("created again: want nothing to happen, got %t, %v", ok, err)
			}
			if diff := cmp.Diff(again, s.get()); diff != "" {
				s.Errorf("created again: -want, +got:\n%s", diff)
			}
		}},
		"ReleasedLate": {"A Manifest that was made again since is not released.", func(s *serverTest) {
			live := s.create("")
			s.delete(live)
			again := s.create("")
			if err := s.release(live); err != nil {
				s.Errorf("want nothing to happen, got %v", err)
			}
			if diff := cmp.Diff(again, s.get()); diff != "" {
				s.Errorf("-want, +got:\n%s", diff)
			}
		}},
		"Released": {"A Manifest that was released keeps its owner that does not exist, and gets no other one.", func(s *serverTest) {
			live := s.create("")
			if err := s.release(live); err != nil {
				s.Fatal(err)
			}
			released := s.get()
			s.kyma.Spec.ForProvider.Mode = v1alpha1.ModePlan
			after := s.apply(desiredManifest(s.kyma, intent{plan: true}, nil, released))
			if diff := cmp.Diff(released.OwnerReferences, after.OwnerReferences); diff != "" || len(after.OwnerReferences) != 1 || after.OwnerReferences[0].UID == s.kyma.UID {
				s.Errorf("owners: -want, +got:\n%s", diff)
			}
			if ownerUID(after) != s.kyma.UID {
				s.Errorf("want it to belong to the Kyma, got %v", after.Annotations)
			}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := newKyma(v1alpha1.Module{Name: "a"})
			k.Namespace, k.Name, k.UID = metav1.NamespaceDefault, "k-"+strings.ToLower(name), types.UID("uid-of-"+name)
			t.Log(tc.reason)
			tc.do(&serverTest{T: t, client: c, store: newStore(c, c), kyma: k})
		})
	}
}

// delete deletes the Manifest.
func (s *serverTest) delete(m *v1alpha1.Manifest) {
	s.Helper()
	if err := s.client.Delete(context.WithoutCancel(s.Context()), m); err != nil {
		s.Fatal(err)
	}
}

// release releases the Manifest to the garbage collector.
func (s *serverTest) release(m *v1alpha1.Manifest) error {
	s.Helper()
	return s.store.ignoreOutdated(s.Context(), s.kyma, m, s.store.removals.Release(s.Context(), m, ownerOf(s.kyma)))
}
