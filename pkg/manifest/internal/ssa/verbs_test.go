// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fakeapi"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

const (
	aNamespace = `{apiVersion: v1, kind: Namespace, metadata: {name: apps}}`
	aConfig    = `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps}, data: {a: "1"}}`
	aWidget    = `{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: apps}}`
	aCRD       = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.org},
spec: {group: example.org, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true, storage: true}]}}`
)

// A CRD that serves aWidget in another version only.
var (
	movedCRD    = strings.Replace(aCRD, "[{name: v1, served: true, storage: true}]", "[{name: v1, served: false}, {name: v2, served: true, storage: true}]", 1)
	movedWidget = strings.Replace(aWidget, "/v1,", "/v2,", 1)
)

// desired returns an object as the engine applies it.
func desired(t *testing.T, text string) *object.Desired {
	t.Helper()
	o, err := object.New(fakeapi.Parse(text), "web", object.StageConfiguration)
	if err != nil {
		t.Fatal(err)
	}
	return &o
}

// site returns a cluster with some objects of another client.
func site(t *testing.T, objects ...string) (*fakeapi.Cluster, *Client) {
	t.Helper()
	c := fakeapi.New(t)
	for _, text := range objects {
		c.Create("kubectl", text)
	}
	return c, New(c, "engine")
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestApply(t *testing.T) {
	const conflict = `Operation cannot be fulfilled on configmaps "web": the object has been modified`
	type want struct {
		log  []string
		data any
		err  string
	}
	cases := map[string]struct {
		reason  string
		objects []string
		how     Mode
		change  func(o *object.Desired)
		want    want
	}{
		"Create": {
			reason: "An object that must not exist is created.", objects: []string{aNamespace}, how: Create,
			want: want{log: []string{"apply new ConfigMap apps/web"}, data: map[string]any{"a": "1"}},
		},
		"CreateExisting": {
			reason: "If the object exists, the error is a conflict, and nothing changes.", how: Create,
			objects: []string{aNamespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps}, data: {a: "0"}}`},
			want:    want{log: []string{"apply new ConfigMap apps/web"}, data: map[string]any{"a": "0"}, err: conflict},
		},
		"Force": {
			reason:  "Fields of other managers are taken over. Their other fields stay.",
			objects: []string{aNamespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps}, data: {a: "0", b: "0"}}`},
			want:    want{log: []string{"apply ConfigMap apps/web"}, data: map[string]any{"a": "1", "b": "0"}},
		},
		"NoForce": {
			reason:  "Without force, the fields of other managers are not taken over.",
			objects: []string{aNamespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps}, data: {a: "0"}}`},
			how:     NoForce,
			want: want{
				log: []string{"apply unforced ConfigMap apps/web"}, data: map[string]any{"a": "0"},
				err: `Apply failed with 1 conflict: conflict with "kubectl" using v1: .data.a`,
			},
		},
		"Namespace": {
			reason: "A missing namespace is created, and the request is repeated.", how: Create,
			want: want{
				log:  []string{"apply new ConfigMap apps/web", "create Namespace apps", "apply new ConfigMap apps/web"},
				data: map[string]any{"a": "1"},
			},
		},
		"KeepNamespaces": {
			reason: "The config can disable the creation of the namespace.", change: func(o *object.Desired) { o.KeepNamespaces = true },
			want: want{
				log: []string{"apply ConfigMap apps/web"},
				err: "namespace apps does not exist, and the config layer sets CreateNamespace=false; create the namespace",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, client := site(t, tc.objects...)
			o := desired(t, aConfig)
			if tc.change != nil {
				tc.change(o)
			}
			s, fields, err := client.Apply(t.Context(), o, tc.how)
			got, cached := want{log: c.Requests(), err: textOf(err)}, c.Cached()
			u := c.Object(o.Ref)
			if u != nil {
				got.data = u.Object["data"]
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nApply(...): -want, +got:\n%s", tc.reason, diff)
			}
			if err != nil {
				if len(cached) > 0 {
					t.Errorf("\n%s\nthe cache was told %q", tc.reason, cached)
				}
				return
			}
			if diff := cmp.Diff([]string{"put ConfigMap apps/web " + string(u.GetUID())}, cached); diff != "" {
				t.Errorf("\n%s\nthe cache: -want, +got:\n%s", tc.reason, diff)
			}
			if s.UID != string(u.GetUID()) || fields == nil || fields.GetRawString() != `{"f:data":{"f:a":{}}}` {
				t.Errorf("\n%s\nthe state is %+v, the fields %v", tc.reason, s, fields)
			}
		})
	}
}

// TestDryRuns verifies that a dry run returns the future object and changes nothing.
func TestDryRuns(t *testing.T) {
	c, client := site(t, aNamespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps}, data: {a: "0", b: "0"}}`)
	o, before := desired(t, aConfig), c.All()
	u, err := client.DryRun(t.Context(), o, Force)
	if diff := cmp.Diff(map[string]any{"a": "1", "b": "0"}, u.Object["data"]); diff != "" || err != nil {
		t.Errorf("DryRun(...): %v, -want, +got:\n%s", err, diff)
	}
	if _, err := client.DryRun(t.Context(), o, Create); !kerrors.IsConflict(err) {
		t.Errorf("DryRun(...) of one that must not exist: %v", err)
	}
	paths, err := client.DryRunDifferences(t.Context(), o, c.Object(o.Ref))
	if diff := cmp.Diff([]string{"data.a"}, paths); diff != "" || err != nil {
		t.Errorf("DryRunDifferences(...): %v, -want, +got:\n%s", err, diff)
	}
	fields, err := client.DryRunFields(t.Context(), o)
	if err != nil || fields == nil || fields.GetRawString() != `{"f:data":{"f:a":{}}}` {
		t.Errorf("DryRunFields(...): %v, %v", fields, err)
	}
	if u, err = client.DryRunCreate(t.Context(), o); err != nil || u.GetGenerateName() != "web-" {
		t.Errorf("DryRunCreate(...): %v, %v", u, err)
	}
	m, err := c.Mapping(t.Context(), o.GVK())
	if err != nil {
		t.Fatal(err)
	}
	u, err = client.PatchDryRun(t.Context(), o, m, []byte(`[{"op":"replace","path":"/data/a","value":"2"}]`))
	if diff := cmp.Diff(map[string]any{"a": "2", "b": "0"}, u.Object["data"]); diff != "" || err != nil {
		t.Errorf("PatchDryRun(...): %v, -want, +got:\n%s", err, diff)
	}
	if diff := cmp.Diff(before, c.All()); diff != "" {
		t.Errorf("dry runs changed the cluster: -before, +after:\n%s", diff)
	}
	tries := []string{
		"try apply ConfigMap apps/web", "try apply new ConfigMap apps/web", "try apply ConfigMap apps/web", "try apply ConfigMap apps/web",
		"try create ConfigMap apps/web-", "try patch ConfigMap apps/web",
	}
	if diff := cmp.Diff(tries, c.Requests()); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
}

func TestDelete(t *testing.T) {
	type want struct {
		left, exists bool
		conflict     bool
		cached       []string
		err          string
	}
	const forgotten = "forget ConfigMap apps/web"
	const page = "ConfigMap apps/web: API server http://fake: the 404 Not Found response is not from a Kubernetes API server; check the server in the " +
		"kubeconfig, and any proxies in between"
	maps := schema.GroupResource{Resource: "configmaps"}
	cases := map[string]struct {
		reason string
		uid    string
		held   bool
		ours   bool
		gone   bool
		answer error
		want   want
	}{
		"UID":       {reason: "The object with this UID is deleted.", uid: "uid-3", want: want{cached: []string{forgotten}}},
		"NoUID":     {reason: "Without a UID, any object with the name is deleted.", want: want{cached: []string{forgotten}}},
		"Other":     {reason: "An object with another UID is not deleted.", uid: "uid-1", want: want{exists: true, conflict: true, err: `ConfigMap apps/web: Operation cannot be fulfilled on configmaps "web": the UID in the precondition does not match`}},
		"Waits":     {reason: "An object with finalizers is returned.", held: true, ours: true, want: want{left: true, exists: true, cached: []string{"put ConfigMap apps/web uid-3"}}},
		"Unwatched": {reason: "The watch does not show the deletion of an object without our label.", held: true, want: want{left: true, exists: true, cached: []string{forgotten}}},
		"Gone":      {reason: "An object that does not exist is gone.", gone: true, want: want{cached: []string{forgotten}}},
		"Page":      {reason: "An HTML page is not the response of an API server.", answer: fakeapi.ErrPage, want: want{exists: true, err: page}},
		"Another":   {reason: "The absence of another object does not count.", answer: kerrors.NewNotFound(maps, "db"), want: want{exists: true, err: page}},
		"Denied":    {reason: "A refusal does not count.", answer: kerrors.NewForbidden(maps, "web", errors.New("no")), want: want{exists: true, err: `ConfigMap apps/web: configmaps "web" is forbidden: no`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, client := site(t, aNamespace, aConfig)
			o := desired(t, aConfig)
			if tc.held {
				c.Edit("controller", o.Ref, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.org/hold"}) })
			}
			if tc.ours {
				c.Edit("controller", o.Ref, func(u *unstructured.Unstructured) {
					u.SetLabels(map[string]string{object.LabelManagedBy: object.DefaultManagedBy})
				})
			}
			if tc.gone {
				c.Finish(o.Ref)
			}
			c.Meet = func(line string) error {
				if line == "delete ConfigMap apps/web" {
					return tc.answer
				}
				return nil
			}
			left, err := client.Delete(t.Context(), o.GVK(), o.Ref, tc.uid)
			got := want{left: left != nil, exists: c.Object(o.Ref) != nil, conflict: kerrors.IsConflict(err), cached: c.Cached(), err: textOf(err)}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nDelete(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSetManagedFields verifies that the Cache receives the new state of an object if the watch shows the object.
func TestSetManagedFields(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"Ours":   {reason: "A member is put into the Cache.", text: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps, labels: {operator.kyma-project.io/managed-by: provider-kyma}}}`, want: []string{"put ConfigMap apps/web uid-3"}},
		"Others": {reason: "The watch would never remove an object that it does not show.", text: aConfig, want: []string{"forget ConfigMap apps/web"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, client := site(t, aNamespace, tc.text)
			o := desired(t, aConfig)
			m, err := client.SetManagedFields(t.Context(), o, c.Object(o.Ref).GetResourceVersion(), nil)
			if err != nil || m.GetUID() != c.Object(o.Ref).GetUID() {
				t.Fatalf("SetManagedFields(...): %+v, %v", m, err)
			}
			if diff := cmp.Diff(tc.want, c.Cached()); diff != "" {
				t.Errorf("\n%s\nthe cache: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReadAbsent verifies which responses mean that an object does not exist.
func TestReadAbsent(t *testing.T) {
	const page = "Widget apps/w: API server http://fake: the 404 Not Found response is not from a Kubernetes API server; check the server in the " +
		"kubeconfig, and any proxies in between"
	widgets := schema.GroupResource{Group: "example.org", Resource: "widgets"}
	type want struct {
		exists bool
		err    string
	}
	cases := map[string]struct {
		reason  string
		objects []string
		// learned is true if the mapping outlives the CRD.
		learned bool
		answer  error
		want    want
	}{
		"Exists":   {reason: "The object exists.", objects: []string{aNamespace, aCRD, aWidget}, want: want{exists: true}},
		"NoObject": {reason: "The API server says that the object does not exist.", objects: []string{aCRD}},
		"NoKind":   {reason: "The kind does not exist."},
		"Moved":    {reason: "The object exists in another version.", objects: []string{aNamespace, movedCRD, movedWidget}, want: want{exists: true}},
		"MovedMapping": {
			reason: "The object exists in another version, and the mapping of the requested version outlives it.", learned: true,
			objects: []string{aNamespace, movedCRD, movedWidget}, want: want{exists: true},
		},
		"MovedNoObject": {reason: "The object does not exist in the other version either.", objects: []string{movedCRD}},
		"MovedPage": {
			reason: "A web server answers although the kind is served in another version.", objects: []string{aNamespace, movedCRD, movedWidget},
			answer: fakeapi.ErrPage, want: want{err: page},
		},
		"Unserved": {reason: "The kind was deleted with its CRD: its path is not served, and discovery does not list it.", learned: true},
		"Page":     {reason: "A web server answers although the kind is served.", objects: []string{aNamespace, aCRD, aWidget}, answer: fakeapi.ErrPage, want: want{err: page}},
		"Another":  {reason: "Another object does not exist.", objects: []string{aCRD}, answer: kerrors.NewNotFound(widgets, "x"), want: want{err: page}},
		"Down":     {reason: "The API server does not answer.", objects: []string{aCRD}, answer: kerrors.NewServiceUnavailable("down"), want: want{err: "Widget apps/w: down"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, client := site(t, tc.objects...)
			o := desired(t, aWidget)
			if tc.learned {
				for gvk, m := range object.ServedKinds(fakeapi.Parse(aCRD)) {
					c.AddMapping(gvk, m)
				}
			}
			c.Meet = func(line string) error {
				if line == "get Widget apps/w" || line == "metadata Widget apps/w" {
					return tc.answer
				}
				return nil
			}
			u, err := client.Get(t.Context(), o.GVK(), o.Ref)
			if diff := cmp.Diff(tc.want, want{exists: u != nil, err: textOf(err)}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nGet(...): -want, +got:\n%s", tc.reason, diff)
			}
			m, err := client.Metadata(t.Context(), o.GVK(), o.Ref)
			if diff := cmp.Diff(tc.want, want{exists: m != nil, err: textOf(err)}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nMetadata(...): -want, +got:\n%s", tc.reason, diff)
			}
			_, exists, err := client.State(t.Context(), o.GVK(), o.Ref)
			if diff := cmp.Diff(tc.want, want{exists: exists, err: textOf(err)}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nState(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
