// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

const (
	rootName = "kyma-project.io/module/root"
	leafName = "kyma-project.io/module/leaf"
	signedBy = "kyma-project.io/module-signature"

	trialBlob = "2dd783cc8dab86a84a7f3be1a05859d7bb265e94ec3fd72558fa0d4fbd1ce375"
)

// ours is created only once, because this takes long.
var ours = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

func signed(tb testing.TB, d *ocm.Descriptor) *ocm.Descriptor {
	tb.Helper()
	s, err := ocm.Sign(d, signedBy, ours())
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func decoded(tb testing.TB, data []byte) *ocm.Descriptor {
	tb.Helper()
	d, err := ocm.Decode(data)
	if err != nil {
		tb.Fatalf("Decode(...): %v", err)
	}
	return d
}

// trial returns a component with one local blob.
func trial(tb testing.TB) *ocm.Descriptor {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "trial.json"))
	if err != nil {
		tb.Fatal(err)
	}
	return decoded(tb, data)
}

// component returns a descriptor with resources and references. more contains additional fields.
func component(tb testing.TB, name string, resources []ocm.Resource, references []ocm.Reference) *ocm.Descriptor {
	tb.Helper()
	d, err := ocm.New(ocm.Component{Name: name, Version: "1.0.0", Resources: resources, References: references})
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// padded returns a descriptor with an additional field that makes it large.
func padded(tb testing.TB, d *ocm.Descriptor, n int) *ocm.Descriptor {
	tb.Helper()
	tree := map[string]any{}
	if err := json.Unmarshal(d.JSON(), &tree); err != nil {
		tb.Fatal(err)
	}
	tree["padding"] = strings.Repeat("x", n)
	data, err := json.Marshal(tree)
	if err != nil {
		tb.Fatal(err)
	}
	return decoded(tb, data)
}

// resource returns a local blob with a digest.
func resource(name string, data []byte) ocm.Resource {
	digest := digestOfBlob(data)
	return ocm.Resource{
		Name: name, Version: "1.0.0", Type: "helm-chart", Relation: "local",
		Digest: &ocm.Digest{HashAlgorithm: ocm.HashSHA256, NormalisationAlgorithm: ocm.NormalisationBlob, Value: strings.TrimPrefix(digest, "sha256:")},
		Access: ocm.Access{Type: ocm.AccessLocalOCIBlob, Digest: digest},
	}
}

// reference returns a reference to a component.
func reference(name, component string) ocm.Reference {
	return ocm.Reference{Name: name, Component: component, Version: "1.0.0"}
}

// A fakeRegistry contains content by "repository reference".
type fakeRegistry struct {
	manifests map[string][]byte
	blobs     map[string][]byte
	requests  int
}

func newRegistry() *fakeRegistry {
	return &fakeRegistry{manifests: map[string][]byte{}, blobs: map[string][]byte{}}
}

func (f *fakeRegistry) Manifest(_ context.Context, repository, reference string) (data []byte, digest string, err error) {
	f.requests++
	data, ok := f.manifests[repository+" "+reference]
	if !ok {
		return nil, "", errors.Errorf("no manifest %q in %q", reference, repository)
	}
	return data, digestOfBlob(data), nil
}

func (f *fakeRegistry) Blob(_ context.Context, repository, digest string) ([]byte, error) {
	f.requests++
	data, ok := f.blobs[repository+" "+digest]
	if !ok {
		return nil, errors.Errorf("no blob %q in %q", digest, repository)
	}
	return data, nil
}

// push stores a component with a version, and returns the digest of its manifest.
func (f *fakeRegistry) push(tb testing.TB, l ocm.Location, d *ocm.Descriptor, o ...Option) string {
	tb.Helper()
	var layers []Layer
	for _, r := range d.Resources() {
		layers = append(layers, Layer{Digest: r.Access.Digest, Size: 1})
	}
	m, c, descriptor, err := Encode(d, layers, o...)
	if err != nil {
		tb.Fatal(err)
	}
	tag, err := ocm.Tag(d.Version())
	if err != nil {
		tb.Fatal(err)
	}
	f.pushRaw(tb, l, d.Name(), tag, m, c, descriptor)
	return digestOfBlob(m)
}

func (f *fakeRegistry) pushRaw(tb testing.TB, l ocm.Location, component, tag string, manifest []byte, blobs ...[]byte) {
	tb.Helper()
	repo, name, err := l.Repository(component)
	if err != nil {
		tb.Fatal(err)
	}
	for _, reference := range []string{tag, digestOfBlob(manifest)} {
		f.manifests[fmt.Sprintf("%s/%s %s", repo, name, reference)] = manifest
	}
	for _, b := range blobs {
		f.blobs[fmt.Sprintf("%s/%s %s", repo, name, digestOfBlob(b))] = b
	}
}

// text returns the text of err, or "".
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// isOneLine reports whether the text of an error is suitable for a condition.
func isOneLine(err error) bool {
	return err == nil || !strings.ContainsAny(err.Error(), "\n\r\t")
}
