// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"encoding/json"

	authorizationv1 "k8s.io/api/authorization/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/cached"
)

// A recorder stores the reasons and the messages of events.
type recorder struct {
	reasons  *[]event.Reason
	messages *[]string
}

func newRecorder() recorder { return recorder{reasons: &[]event.Reason{}, messages: &[]string{}} }

func (r recorder) Event(_ runtime.Object, e event.Event) {
	*r.reasons, *r.messages = append(*r.reasons, e.Reason), append(*r.messages, e.Message)
}
func (r recorder) WithAnnotations(_ ...string) event.Recorder { return r }

// kymas are all Kymas.
type kymas []v1alpha1.Kyma

func (k kymas) Objects(context.Context) (cached.Objects[*v1alpha1.Kyma], error) {
	i := toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{IndexModules: func(o any) ([]string, error) {
		return moduleNames(o.(*v1alpha1.Kyma)), nil
	}})
	for n := range k {
		if err := i.Add(&k[n]); err != nil {
			return cached.Objects[*v1alpha1.Kyma]{}, err
		}
	}
	return cached.NewObjects[*v1alpha1.Kyma](i), nil
}

// A server simulates the control plane and records the writes.
type server struct {
	writes  []string
	patched []*v1alpha1.Manifest
	// allowed specifies whether deletions are permitted. fails is the error of each write.
	allowed bool
	fails   error
	// listed contains the Manifests that a list returns.
	listed []metav1.PartialObjectMetadata
	lists  error
	// taken is the Manifest that exists with any name. If it is nil, this is the Kyma's own Manifest.
	taken *v1alpha1.Manifest
}

func (s *server) client() *test.MockClient {
	return &test.MockClient{
		MockCreate: func(_ context.Context, o client.Object, _ ...client.CreateOption) error {
			if r, ok := o.(*authorizationv1.SelfSubjectAccessReview); ok {
				s.writes = append(s.writes, "ask")
				r.Status.Allowed = s.allowed
				return nil
			}
			s.writes = append(s.writes, "create "+o.GetName())
			return s.fails
		},
		MockApply: func(_ context.Context, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
			m := decodeManifest(o)
			verb := "apply "
			if m.ResourceVersion == createOnly {
				verb = "create "
			}
			s.writes, s.patched = append(s.writes, verb+m.Name), append(s.patched, m)
			return s.fails
		},
		MockPatch: func(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
			m, _ := o.(*v1alpha1.Manifest)
			s.writes, s.patched = append(s.writes, "patch "+o.GetName()), append(s.patched, m)
			return s.fails
		},
		MockDelete: func(_ context.Context, o client.Object, _ ...client.DeleteOption) error {
			s.writes = append(s.writes, "delete "+o.GetName())
			return s.fails
		},
		MockGet: func(_ context.Context, _ client.ObjectKey, o client.Object) error {
			m, ok := o.(*v1alpha1.Manifest)
			if !ok {
				return kerrors.NewNotFound(schema.GroupResource{}, "x")
			}
			if s.taken == nil {
				m.OwnerReferences = installed(newKyma(), newTemplate("a", "regular", "1.0.0")).OwnerReferences
				return nil
			}
			s.taken.DeepCopyInto(m)
			return nil
		},
		MockList: func(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
			if p, ok := l.(*metav1.PartialObjectMetadataList); ok {
				p.Items = s.listed
			}
			return s.lists
		},
	}
}

// decodeManifest decodes an apply configuration.
func decodeManifest(o runtime.ApplyConfiguration) *v1alpha1.Manifest {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	m := &v1alpha1.Manifest{}
	if err := json.Unmarshal(b, m); err != nil {
		panic(err)
	}
	return m
}

// newConnector returns a connector with a server, ModuleTemplates and Manifests.
func newConnector(s *server, r recorder, templates []v1alpha1.ModuleTemplate, manifests ...*v1alpha1.Manifest) *connector {
	c := s.client()
	cache := s.client()
	cache.MockGet = test.NewMockGetFn(kerrors.NewNotFound(schema.GroupResource{Resource: "manifests"}, "x"))
	cache.MockList = func(_ context.Context, l client.ObjectList, o ...client.ListOption) error {
		options := (&client.ListOptions{}).ApplyOptions(o)
		switch l := l.(type) {
		case *v1alpha1.ManifestList:
			for _, m := range manifests {
				l.Items = append(l.Items, *m)
			}
		case *v1alpha1.ModuleTemplateList:
			for _, t := range templates {
				if name, ok := options.FieldSelector.RequiresExactMatch(indexModule); ok && name == t.Spec.ModuleName {
					l.Items = append(l.Items, t)
				}
			}
		}
		return nil
	}
	return &connector{
		store:  newStore(cache, c),
		record: r, controlPlane: "control-plane", policies: true,
		usage: resource.ModernTrackerFn(func(context.Context, resource.ModernManaged) error { return nil }),
	}
}

// newExternal returns an external client with steps, or one that plans them from ModuleTemplates and Manifests.
func newExternal(s *server, r recorder, steps []step, templates []v1alpha1.ModuleTemplate, manifests ...*v1alpha1.Manifest) *external {
	return &external{connector: newConnector(s, r, templates, manifests...), steps: steps}
}
