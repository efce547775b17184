// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster/connect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// A program installs a chart from a directory and waits until it is ready.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	c, err := connect.New(restConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	chart, err := source.Path("testdata/greeter")
	if err != nil {
		fmt.Println(err)
		return
	}
	bundle := &manifest.Bundle{
		Name:  "example-chart",
		Owner: "the example of a chart",
		Installs: []manifest.Install{{
			Layer:     chart,
			Name:      "greeter",
			Namespace: "example-chart",
			Values:    map[string]any{"greeting": "good morning"},
		}},
	}
	engine := manifest.New()
	seen, err := engine.Install(ctx, c, bundle, manifest.Wait())
	fmt.Println(seen.State, seen.Ready, "of", seen.Total, err)
	fmt.Println(greeting(ctx, c, "example-chart", "greeter"))
	// Output:
	// Ready 2 of 2 <nil>
	// good morning
}

// You can install objects without a chart. A transform changes each object before it is applied: this one adds its owner.
func Example_transform() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := connected()
	defer c.Close()

	bundle := &manifest.Bundle{
		Name:  "example-transform",
		Owner: "the example of a transform",
		Installs: []manifest.Install{{
			Layer: source.YAML([]byte(`
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {greeting: hello}
`)),
			Form:      manifest.FormPlain,
			Name:      "settings",
			Namespace: "example-transform",
		}},
		Transforms: []manifest.Transform{{
			Digest: "owner label, version 1",
			Func: func(_ context.Context, u *unstructured.Unstructured) error {
				return unstructured.SetNestedField(u.Object, "team-a", "metadata", "labels", "example.org/owner")
			},
		}},
	}
	seen, err := manifest.New().Install(ctx, c, bundle, manifest.Wait())
	fmt.Println(seen.State, err)
	fmt.Println(get(ctx, c, "example-transform", "settings").GetLabels()["example.org/owner"])
	// Output:
	// Ready <nil>
	// team-a
}

// A function can decide when the objects of a kind are ready. Without a function, their status decides.
func ExampleRule() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := connected()
	defer c.Close()

	bundle := settings("example-rule", "preparing")
	bundle.Readiness = []manifest.Rule{{
		For: schema.GroupKind{Kind: "ConfigMap"},
		Func: func(_ context.Context, u *unstructured.Unstructured) (manifest.State, string, error) {
			text, _, err := unstructured.NestedString(u.Object, "data", "greeting")
			if text == "hello" || err != nil {
				return manifest.Ready, "", err
			}
			return manifest.Processing, "still says " + text, nil
		},
	}}
	engine := manifest.New()
	seen, err := engine.Install(ctx, c, bundle)
	fmt.Println(seen.State, seen.Message, err)

	bundle.Installs = settings("example-rule", "hello").Installs
	seen, err = engine.Install(ctx, c, bundle, manifest.Wait())
	fmt.Println(seen.State, err)
	// Output:
	// Processing settings: ConfigMap example-rule/settings: still says preparing <nil>
	// Ready <nil>
}

// An upgrade is the same call with a different bundle. Objects that the new bundle no longer contains are pruned.
func ExampleEngine_Install_upgrade() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := connected()
	defer c.Close()

	chart, err := source.Path("testdata/greeter")
	if err != nil {
		fmt.Println(err)
		return
	}
	bundle := &manifest.Bundle{Name: "example-upgrade", Owner: "the example of an upgrade", Installs: []manifest.Install{
		{Layer: chart, Name: "greeter", Namespace: "example-upgrade"},
	}}
	engine := manifest.New()
	seen, err := engine.Install(ctx, c, bundle, manifest.Wait())
	fmt.Println(seen.State, seen.Total, err)

	bundle.Installs[0].Values = map[string]any{"greeting": "goodbye", "service": false}
	seen, err = engine.Install(ctx, c, bundle, manifest.Wait())
	fmt.Println(seen.State, seen.Total, err)
	fmt.Println(greeting(ctx, c, "example-upgrade", "greeter"))
	// Output:
	// Ready 2 <nil>
	// Ready 1 <nil>
	// goodbye
}

// Check reports the state without changing anything. Here, another client deletes an object, and Install restores it.
func ExampleEngine_Check() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := connected()
	defer c.Close()

	bundle, engine := settings("example-check", "hello"), manifest.New()
	seen, err := engine.Check(ctx, c, bundle)
	fmt.Println(seen.Exists, seen.Message, err)

	_, err = engine.Install(ctx, c, bundle, manifest.Wait())
	fmt.Println(err)

	remove(ctx, c, engine, bundle, "settings")
	seen, err = engine.Check(ctx, c, bundle)
	fmt.Println(seen.UpToDate, seen.Drift, err)

	seen, err = engine.Install(ctx, c, bundle, manifest.Wait())
	fmt.Println(seen.UpToDate, seen.State, err)
	// Output:
	// false nothing is installed yet <nil>
	// <nil>
	// false [ConfigMap example-check/settings was deleted] <nil>
	// true Ready <nil>
}

// Uninstall needs only the name of the bundle.
func ExampleEngine_Uninstall() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := connected()
	defer c.Close()

	engine := manifest.New()
	seen, err := engine.Install(ctx, c, settings("example-uninstall", "hello"), manifest.Wait())
	fmt.Println(seen.State, err)

	left, err := engine.Uninstall(ctx, c, &manifest.Bundle{Name: "example-uninstall"}, manifest.Wait())
	fmt.Println(left.Gone, err)
	fmt.Println(get(ctx, c, "example-uninstall", "settings") == nil)
	// Output:
	// Ready <nil>
	// true <nil>
	// true
}

// A chart in a registry, by its tag or its digest.
func ExampleOCI() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := connected()
	defer c.Close()

	chart, err := source.OCI("oci://"+registry(ctx)+"/charts/greeter:1.0.0", source.WithBasicAuth("robot", "secret"))
	if err != nil {
		fmt.Println(err)
		return
	}
	config := manifest.ConfigOf(map[string]manifest.Flags{"greeter": {ReleaseName: "welcome"}})
	bundle := &manifest.Bundle{
		Name:     "example-oci",
		Owner:    "the example of a registry",
		Installs: []manifest.Install{{Layer: chart, Name: "greeter", Namespace: "example-oci"}},
		Config:   &config,
	}
	seen, err := manifest.New().Install(ctx, c, bundle, manifest.Wait())
	fmt.Println(seen.State, err)
	fmt.Println(seen.Parts[0].Install, seen.Parts[0].Version, greeting(ctx, c, "example-oci", "welcome"))
	// Output:
	// Ready <nil>
	// greeter 1.0.0 hello
}
