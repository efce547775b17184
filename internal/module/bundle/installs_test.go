// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/sandbox"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// shown is a summary of an install.
type shown struct {
	Name, Kind, Chart string
	Objects           []string
	Err               string
}

func show(installs []Install) []shown {
	out := make([]shown, 0, len(installs))
	for i := range installs {
		in := &installs[i]
		s := shown{Name: in.Name, Kind: in.Kind, Chart: in.Chart}
		for _, u := range in.Objects {
			s.Objects = append(s.Objects, u.GetKind()+" "+u.GetNamespace()+"/"+u.GetName())
		}
		if in.Err != nil {
			s.Err = in.Err.Error()
		}
		out = append(out, s)
	}
	return out
}

// TestMain lets the test binary also run as a child process that renders.
func TestMain(m *testing.M) {
	if sandbox.IsChild(os.Args) {
		os.Exit(sandbox.Serve())
	}
	os.Exit(m.Run())
}

// TestInstalls checks that a module has the same installs in a registry and in a layout, regardless of the process that renders
// it.
func TestInstalls(t *testing.T) {
	r := startRegistry(t)
	c := moduleOf("1.0.0")
	c.Resources = append(c.Resources, controlplane.ComponentResource{Name: "needy", Type: "helm-chart", Files: chart("needy", true)})
	pushed := push(t, r, c)
	want := []shown{
		{Name: "crds", Kind: KindCRDs, Objects: []string{"CustomResourceDefinition /greeters.example.org"}},
		{Name: "web", Kind: KindChart, Chart: "web 0.1.0", Objects: []string{"Deployment greetings/web"}},
		{Name: "raw-manifest", Kind: KindRaw, Objects: []string{"ConfigMap default/plain", "Namespace /greetings"}},
		{Name: "needy", Kind: KindChart, Chart: "needy 0.1.0", Err: "set host"},
		{Name: "custom-resource", Kind: KindCustomResource, Objects: []string{"Greeter default/greeter"}},
	}
	pool, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for reference, renderer := range map[string]Renderer{
		pushed.Repository + ":1.0.0":   nil,
		layoutOf(t, "greeter", pushed): nil,
		layoutOf(t, "again", pushed):   pool,
	} {
		b := open(t, reference)
		b.Renderer = renderer
		got, err := Installs(t.Context(), b)
		if err == nil || !strings.Contains(err.Error(), "install needy") {
			t.Errorf("want the error of install needy, got %v", err)
		}
		same := cmpopts.AcyclicTransformer("Err", func(s string) string {
			if strings.Contains(s, "set host") {
				return "set host"
			}
			return s
		})
		if diff := cmp.Diff(want, show(got), same); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", reference, diff)
		}
		replicas, _, _ := unstructured.NestedInt64(got[1].Objects[0].Object, "spec", "replicas")
		if replicas != 3 {
			t.Errorf("the config layer says 3 replicas, got %d", replicas)
		}
		if diff := cmp.Diff([]string{"example.org/web:1.0.0"}, Images(got[1].Objects)); diff != "" {
			t.Errorf("images: -want, +got:\n%s", diff)
		}
		if strings.Contains(got[1].Source, nowhere) || !strings.Contains(got[1].Source, greeter+"@sha256:") {
			t.Errorf("source: got %s", got[1].Source)
		}
	}
}

// TestReferences checks that referenced components are found in a registry and in a layout, and that a component that is
// missing in a layout is only an error when it is needed.
func TestReferences(t *testing.T) {
	r := startRegistry(t)
	child := push(t, r, controlplane.Component{
		Name: "example.org/module/child", Version: "0.5.0",
		Resources: []controlplane.ComponentResource{{Name: "side", Type: "helm-chart", Files: chart("side", false)}},
	})
	c := moduleOf("1.0.0")
	c.References = []controlplane.ComponentReference{{Name: "child", Component: "example.org/module/child", Version: "0.5.0", Descriptor: child.Descriptor}}
	c.Sign = &controlplane.Signing{Name: signatureName, Key: keyPair()}
	parent := push(t, r, c)
	keys := []ocm.Key{publicKey(t, keyPair(), signatureName)}
	for _, reference := range []string{parent.Repository + ":1.0.0", layoutOf(t, "both", parent, child), layoutOf(t, "both.tar", parent, child)} {
		b := open(t, reference)
		installs, err := Installs(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Components) != 2 || installs[1].Name != "child-side" || len(installs[1].Objects) != 1 {
			t.Errorf("%s: got %d components, %v", reference, len(b.Components), show(installs))
		}
		if err := Verify(t.Context(), b, keys); err != nil {
			t.Errorf("%s: %v", reference, err)
		}
	}
	orphan := moduleOf("2.0.0")
	orphan.References = c.References
	orphan.References[0].Version = "0.6.0"
	orphan.Sign = c.Sign
	for _, reference := range []string{layoutOf(t, "alone", parent), push(t, r, orphan).Repository + ":2.0.0"} {
		alone := open(t, reference)
		if len(alone.Components) != 1 {
			t.Errorf("want the module's own component, got %d", len(alone.Components))
		}
		_, err := Installs(t.Context(), alone)
		if err == nil || !strings.Contains(err.Error(), "example.org/module/child") || strings.Contains(err.Error(), nowhere) {
			t.Errorf("want the component that is missing, got %v", err)
		}
		var unverified *ocm.VerificationError
		if err := Verify(t.Context(), alone, keys); !errors.As(err, &unverified) || !strings.Contains(err.Error(), "is missing") {
			t.Errorf("want a VerificationError, got %v", err)
		}
	}
}

// TestOutside checks that charts in other registries are pulled.
func TestOutside(t *testing.T) {
	r := startRegistry(t)
	pushed, err := r.PushChart(t.Context(), "charts", chart("outside", false))
	if err != nil {
		t.Fatal(err)
	}
	m := push(t, r, controlplane.Component{Name: greeter, Version: "1.0.0", Resources: []controlplane.ComponentResource{{
		Name: "outside", Type: "helm-chart",
		Access: map[string]any{"type": ocm.AccessOCIArtifact, "imageReference": pushed.Repository + ":" + pushed.Tag},
	}}})
	path := layoutOf(t, "greeter", m)
	installs, err := Installs(t.Context(), open(t, path))
	if err != nil {
		t.Fatal(err)
	}
	want := []shown{{Name: "outside", Kind: KindChart, Chart: "outside 0.1.0", Objects: []string{"Deployment default/outside"}}}
	if diff := cmp.Diff(want, show(installs)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	refused := openWith(t.Context(), t, path, oci.Registries{{Host: "other.example.org"}})
	var notAllowed *oci.RegistryNotAllowedError
	if _, err := Installs(t.Context(), refused); !errors.As(err, &notAllowed) {
		t.Errorf("want a RegistryNotAllowedError, got %v", err)
	}
}
