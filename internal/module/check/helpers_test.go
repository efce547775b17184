// SPDX-License-Identifier: Apache-2.0

package check

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

// digest is a valid digest of an image.
const digest = "@sha256:2dd783cc8dab86a84a7f3be1a05859d7bb265e94ec3fd72558fa0d4fbd1ce375"

// widgets is a CRD of a namespaced kind that uses many features of schemas.
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org, creationTimestamp: null}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            x-kubernetes-validations:
            - {rule: "self.min <= self.size", message: min must not be above size}
            properties:
              size: {type: integer, minimum: 1, maximum: 10}
              min: {type: integer, default: 1}
              color: {type: string, enum: [red, green]}
              name: {type: string, maxLength: 3, pattern: "^[a-z]+$"}
              when: {type: string, format: date-time}
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              rest: {type: object, x-kubernetes-preserve-unknown-fields: true}
              quantity: {x-kubernetes-int-or-string: true}
              template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
          status:
            type: object
            required: [state]
            properties: {state: {type: string}}
  - name: v1alpha1
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
status: {acceptedNames: {kind: "", plural: ""}, conditions: [], storedVersions: []}
`

// gadgets is a CRD of a cluster-scoped kind.
const gadgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.org}
spec:
  group: example.org
  scope: Cluster
  names: {kind: Gadget, plural: gadgets}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// changed replaces text, which must exist.
func changed(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("there is no %q to replace", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func file(name, text string) archive.File { return archive.File{Name: name, Data: []byte(text)} }

// chart returns a chart with templates and other files.
func chart(name string, files ...archive.File) Install {
	return Install{Name: name, Chart: true, Files: append([]archive.File{
		file("Chart.yaml", "apiVersion: v2\nname: "+name+"\nversion: 1.0.0\n"),
	}, files...)}
}

func plain(name string, texts ...string) Install {
	in := Install{Name: name}
	for _, text := range texts {
		in.Files = append(in.Files, file("objects.yaml", text))
	}
	return in
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	objects, err := yamldoc.Objects([]byte(text))
	if err != nil || len(objects) != 1 {
		t.Fatalf("no object: %v", err)
	}
	return objects[0]
}

// widget returns a Widget with a spec.
func widget(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w}, spec: "+spec+"}")
}
