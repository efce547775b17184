// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cosign"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const kymaSignature = "kyma-module-signature"

// A pair is a key pair in files, and the private key.
type pair struct {
	key, pub string
	signer   *rsa.PrivateKey
}

// newPair creates a key pair with module keygen.
func newPair(t *testing.T) pair {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "k")
	kymactl(t, "module", "keygen", prefix).want(t, command.ExitOK, "")
	data, err := os.ReadFile(prefix + ".key")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ocm.ParsePrivateKey(data)
	if err != nil {
		t.Fatal(err)
	}
	return pair{key: prefix + ".key", pub: prefix + ".pub", signer: signer.(*rsa.PrivateKey)}
}

// writePEM writes a PEM block to a file, and returns its path.
func writePEM(t *testing.T, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const plainYAML = "{apiVersion: v1, kind: ConfigMap, metadata: {name: greeter}}"

// pushedModule pushes a module with two layers, one of which is installed, and returns its reference.
func pushedModule(t *testing.T, r *controlplane.Registry, change func(c *controlplane.Component)) string {
	t.Helper()
	c := controlplane.Component{Name: greeter, Version: "1.0.0", Resources: []controlplane.ComponentResource{
		{Name: "raw-manifest", Type: "yaml", Data: []byte(plainYAML)},
		{Name: "notes", Type: "plainText", Data: []byte("not installed")},
	}}
	if change != nil {
		change(&c)
	}
	p, err := r.PushComponent(t.Context(), "m", c)
	if err != nil {
		t.Fatal(err)
	}
	return p.Repository + ":1.0.0"
}

// edit returns a function that changes a descriptor after it was signed.
func edit(change func(component, first map[string]any, all map[string]any)) func([]byte) []byte {
	return func(data []byte) []byte {
		var all map[string]any
		if err := json.Unmarshal(data, &all); err != nil {
			panic(err)
		}
		component := all["component"].(map[string]any)
		change(component, component["resources"].([]any)[0].(map[string]any), all)
		out, err := json.Marshal(all)
		if err != nil {
			panic(err)
		}
		return out
	}
}

// TestVerifyAttacks checks that verify detects each change of a signed module, and
// exits with 4.
func TestVerifyAttacks(t *testing.T) {
	k := newPair(t)
	zeroes := strings.Repeat("0", 64)
	type fields = map[string]any
	cases := map[string]struct {
		reason string
		edit   func(component, first, all fields)
		want   string
	}{
		"Version":         {"Another version is presented as the signed one.", func(c, _, _ fields) { c["version"] = "1.0.1" }, "tag 1.0.0 refers to version 1.0.1"},
		"Name":            {"Another module is presented as the signed one.", func(c, _, _ fields) { c["name"] = "example.org/module/other" }, "example.org/module/other"},
		"Provider":        {"The provider is changed.", func(c, _, _ fields) { c["provider"] = "else" }, "was changed after it was signed"},
		"ResourceName":    {"A resource becomes the configuration.", func(_, r, _ fields) { r["name"] = "config" }, "was changed after it was signed"},
		"ResourceVersion": {"A resource has another version.", func(_, r, _ fields) { r["version"] = "9.9.9" }, "was changed after it was signed"},
		"Type":            {"A resource is treated as something else.", func(_, r, _ fields) { r["type"] = "helm-chart" }, "was changed after it was signed"},
		"Relation":        {"A resource comes from elsewhere.", func(_, r, _ fields) { r["relation"] = "external" }, "was changed after it was signed"},
		"Digest":          {"The digest names other content.", func(_, r, _ fields) { r["digest"].(fields)["value"] = zeroes }, "was changed after it was signed"},
		"NoDigest":        {"The digest is removed.", func(_, r, _ fields) { delete(r, "digest") }, "has no digest"},
		"Excluded": {"A resource is excluded from the signature.", func(_, r, _ fields) {
			r["digest"] = fields{"hashAlgorithm": "NO-DIGEST", "normalisationAlgorithm": "EXCLUDE-FROM-SIGNATURE", "value": "NO-DIGEST"}
		}, "was changed after it was signed"},
		"AccessNone": {"A resource no longer has content.", func(_, r, _ fields) { r["access"] = fields{"type": "None"} }, "access is None"},
		"Access": {"The access leads to another layer, which no signature covers.", func(c, r, _ fields) {
			r["access"] = c["resources"].([]any)[1].(fields)["access"]
		}, "access refers to blob"},
		"Added": {"A resource is added.", func(c, r, _ fields) {
			more := fields{}
			maps.Copy(more, r)
			more["name"] = "more"
			c["resources"] = append(c["resources"].([]any), more)
		}, "was changed after it was signed"},
		"Removed": {"A resource is removed.", func(c, _, _ fields) { c["resources"] = c["resources"].([]any)[:1] }, "was changed after it was signed"},
		"Reference": {"A component is referenced.", func(c, _, _ fields) {
			c["componentReferences"] = []any{fields{"name": "more", "componentName": greeter, "version": "2.0.0"}}
		}, ""},
		"Unsigned":  {"The signature is removed.", func(_, _, all fields) { delete(all, "signatures") }, `no signature named ` + kymaSignature},
		"OtherName": {"The signature has another name.", func(_, _, all fields) { all["signatures"].([]any)[0].(fields)["name"] = "else" }, `no signature named ` + kymaSignature},
		"Duplicate": {"A second signature with the same name is added.", func(_, _, all fields) {
			all["signatures"] = append(all["signatures"].([]any), all["signatures"].([]any)[0])
		}, "two signatures"},
		"Algorithm":     {"Another algorithm is named.", func(_, _, all fields) { spec(all, "signature")["algorithm"] = "none" }, "algorithm"},
		"Hash":          {"A broken hash function is named.", func(_, _, all fields) { spec(all, "digest")["hashAlgorithm"] = "md5" }, "md5"},
		"Normalisation": {"A normalisation that omits fields is named.", func(_, _, all fields) { spec(all, "digest")["normalisationAlgorithm"] = "none" }, "normalisation"},
		"SignedHash":    {"The signed hash is changed.", func(_, _, all fields) { spec(all, "digest")["value"] = zeroes }, "was changed after it was signed"},
		"Value":         {"The signature is garbage.", func(_, _, all fields) { spec(all, "signature")["value"] = "x" }, "PEM"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRegistry(t, controlplane.WebOptions{})
			ref := pushedModule(t, r, func(c *controlplane.Component) {
				c.Sign = &controlplane.Signing{Name: kymaSignature, Key: k.signer}
				c.Tamper = edit(tc.edit)
			})
			got := kymactl(t, "module", "verify", ref, "--key", k.pub)
			if got.code != command.ExitUnverified || !strings.Contains(got.err, tc.want) || got.out != "" || strings.Count(got.err, "\n") != 1 {
				t.Errorf("\n%s\nwant exit code 4 and one line with %q, got %d:\n%s%s", tc.reason, tc.want, got.code, got.err, got.out)
			}
		})
	}
}

// spec returns a field of the first signature.
func spec(all map[string]any, name string) map[string]any {
	return all["signatures"].([]any)[0].(map[string]any)[name].(map[string]any)
}

// TestVerifyLayers checks that every signed layer is verified, whether or not it is
// installed.
func TestVerifyLayers(t *testing.T) {
	k := newPair(t)
	cases := map[string]struct {
		reason  string
		content []byte // Nil removes the file.
	}{
		"Swapped":   {"A layer has other content.", []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: another}}")},
		"Truncated": {"A layer is cut off.", []byte("{apiVersion")},
		"Empty":     {"A layer is empty.", []byte{}},
		"Missing":   {"A layer is missing.", nil},
	}
	for _, which := range []string{"installed", "not installed"} {
		for name, tc := range cases {
			t.Run(name+", "+which, func(t *testing.T) {
				blobs := sample{layers: 1, key: k.signer}
				path, _ := blobs.layout(t)
				kymactl(t, "module", "verify", path, "--key", k.pub).want(t, command.ExitOK, "Verified")
				file := layerFile(t, path, which == "installed")
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
				if tc.content != nil {
					if err := os.WriteFile(file, tc.content, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				kymactl(t, "module", "verify", path, "--key", k.pub).want(t, command.ExitUnverified, filepath.Base(file))
			})
		}
	}
}

// layerFile returns the path of the layer that is installed, or of the one that is not.
func layerFile(t *testing.T, path string, installed bool) string {
	t.Helper()
	var out struct {
		Layers []struct {
			Resource string `json:"resource"`
			Digest   string `json:"digest"`
		} `json:"layers"`
	}
	// Do not use the types of module inspect: these field names must not change.
	if err := json.Unmarshal([]byte(kymactl(t, "module", "inspect", path, "-o", "json").out), &out); err != nil {
		t.Fatal(err)
	}
	for _, l := range out.Layers {
		if l.Resource != "" && (l.Resource == "raw-manifest") == installed {
			return filepath.Join(path, "blobs", "sha256", strings.TrimPrefix(l.Digest, "sha256:"))
		}
	}
	t.Fatalf("no such layer in %+v", out)
	return ""
}

func TestVerify(t *testing.T) {
	k, other := newPair(t), newPair(t)
	r := startRegistry(t, controlplane.WebOptions{})
	signed := pushedModule(t, r, func(c *controlplane.Component) { c.Sign = &controlplane.Signing{Name: "acme", Key: k.signer} })
	repository := strings.TrimSuffix(signed, ":1.0.0")
	layout, digest := sample{key: k.signer}.layout(t)
	garbage := writePEM(t, "PUBLIC KEY", []byte("x"))
	pkcs1 := writePEM(t, "RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&k.signer.PublicKey))
	cases := map[string]struct {
		reason string
		args   []string
		code   command.ExitCode
		want   string
	}{
		"Registry":    {"A signed module in a registry is verified.", []string{signed, "--key", k.pub, "--signature-name", "acme"}, command.ExitOK, "signed as acme"},
		"Layout":      {"A signed module in a layout is verified.", []string{layout, "--key", k.pub}, command.ExitOK, "signed as " + kymaSignature},
		"Digest":      {"A signed module is verified by its digest.", []string{layout + "@" + digest, "--key", k.pub}, command.ExitOK, "Verified"},
		"PKCS1":       {"A key can be in PKCS#1.", []string{layout, "--key", pkcs1}, command.ExitOK, "Verified"},
		"OneOfTwo":    {"One key of several is enough.", []string{layout, "--key", other.pub, "--key", k.pub}, command.ExitOK, "Verified"},
		"WrongKey":    {"A module that is signed with another key is not verified.", []string{layout, "--key", other.pub}, command.ExitUnverified, "does not match this component and the public key"},
		"WrongName":   {"The signature must have the given name.", []string{signed, "--key", k.pub}, command.ExitUnverified, "no signature named " + kymaSignature},
		"NoCosign":    {"A module without a cosign signature is not verified.", []string{layout, "--key", k.pub, "--cosign"}, command.ExitUnverified, "not signed with cosign"},
		"NoKey":       {"Nothing is verified without a key.", []string{layout}, command.ExitUsage, "--key FILE is required"},
		"NoName":      {"The name must not be empty.", []string{layout, "--key", k.pub, "--signature-name="}, command.ExitUsage, "--signature-name"},
		"PrivateKey":  {"A private key cannot verify.", []string{layout, "--key", k.key}, command.ExitUsage, "private key"},
		"Garbage":     {"The key must be valid.", []string{layout, "--key", garbage}, command.ExitUsage, "malformed"},
		"NoFile":      {"The key must exist.", []string{layout, "--key", filepath.Join(t.TempDir(), "nope")}, command.ExitUsage, "nope"},
		"NoArguments": {"A module is needed.", []string{"--key", k.pub}, command.ExitUsage, "arg"},
		"Format":      {"An unknown format is refused.", []string{layout, "--key", k.pub, "-o", "xml"}, command.ExitUsage, "xml"},
		"BadRef":      {"A reference needs a version.", []string{repository, "--key", k.pub}, command.ExitUsage, "neither a tag nor a digest"},
		"NoTag":       {"The version must exist.", []string{repository + ":2.0.0", "--key", k.pub}, command.ExitNotFound, "2.0.0"},
		"NoLayout":    {"The layout must exist.", []string{filepath.Join(t.TempDir(), "nope"), "--key", k.pub}, command.ExitNotFound, "nope"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := kymactl(t, append([]string{"module", "verify"}, tc.args...)...)
			if got.code != tc.code || !strings.Contains(got.err, tc.want) || (got.code != 0) != (got.out == "") {
				t.Errorf("\n%s\nwant exit code %d and %q, got %d:\n%s%s", tc.reason, tc.code, tc.want, got.code, got.err, got.out)
			}
		})
	}
	if got, want := kymactl(t, "module", "verify", layout, "--key", k.pub).out, kymaSignature+"\n"+digest+"\n"; got != want {
		t.Errorf("stdout: got %q, want %q", got, want)
	}
	var out struct{ Name, Version, Layout, Digest, Signature string }
	if err := json.Unmarshal([]byte(kymactl(t, "module", "verify", layout, "--key", k.pub, "-o", "json").out), &out); err != nil {
		t.Fatal(err)
	}
	if out.Digest != digest || out.Signature != kymaSignature || out.Name != greeter || out.Version != "1.0.0" || out.Layout != layout {
		t.Errorf("-o json: got %+v", out)
	}
}

func TestSign(t *testing.T) {
	k, other := newPair(t), newPair(t)
	r := startRegistry(t, controlplane.WebOptions{})
	directory, _ := sample{layers: 2}.layout(t)
	archive := filepath.Join(t.TempDir(), "m.tar")
	kymactl(t, "module", "pull", pushedModule(t, r, nil), "-o", archive).want(t, command.ExitOK, "")
	for name, ref := range map[string]string{"Registry": pushedModule(t, r, nil), "Directory": directory, "Tar": archive} {
		t.Run(name, func(t *testing.T) {
			kymactl(t, "module", "verify", ref, "--key", k.pub).want(t, command.ExitUnverified, "no signature named")
			before := layersOf(t, ref)
			first := kymactl(t, "module", "sign", ref, "--key", k.key).want(t, command.ExitOK, "Signed: ")
			kymactl(t, "module", "verify", ref, "--key", k.pub, "--cosign").want(t, command.ExitOK, "Verified")
			after := layersOf(t, ref)
			if len(after) != len(before) || strings.Join(after[1:], " ") != strings.Join(before[1:], " ") {
				t.Errorf("layers: before %q, after %q", before, after)
			}
			again := kymactl(t, "module", "sign", ref, "--key", k.key).want(t, command.ExitOK, "Unchanged: ")
			if first.lastLine() != again.lastLine() || !strings.HasPrefix(first.lastLine(), "sha256:") {
				t.Errorf("digests: first %q, then %q", first.lastLine(), again.lastLine())
			}
			kymactl(t, "module", "sign", ref, "--key", other.key).want(t, command.ExitFailure, "use another --signature-name")
			kymactl(t, "module", "sign", ref, "--key", other.key, "--signature-name", "acme", "-o", "json").want(t, command.ExitOK, "Signed: ")
			kymactl(t, "module", "verify", ref, "--key", k.pub).want(t, command.ExitOK, "Verified")
			kymactl(t, "module", "verify", ref, "--key", other.pub, "--signature-name", "acme", "--cosign").want(t, command.ExitOK, "Verified")
		})
	}
}

// layersOf returns the digests of the layers of a module.
func layersOf(t *testing.T, ref string) []string {
	t.Helper()
	return strings.Fields(kymactl(t, "module", "inspect", ref, "-o", "jsonpath={.layers[*].digest}").want(t, command.ExitOK, "").out)
}

// TestSignCosignLater checks that a cosign signature can be added later.
func TestSignCosignLater(t *testing.T) {
	k := newPair(t)
	path, _ := sample{}.layout(t)
	first := kymactl(t, "module", "sign", path, "--key", k.key, "--cosign=false").want(t, command.ExitOK, "Signed")
	l, err := layout.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if tags, err := l.Tags(t.Context()); err != nil || len(tags) != 1 {
		t.Errorf("Tags(): %q, %v", tags, err)
	}
	second := kymactl(t, "module", "sign", path, "--key", k.key).want(t, command.ExitOK, "Signed")
	if first.lastLine() != second.lastLine() {
		t.Errorf("the digest changed from %s to %s", first.lastLine(), second.lastLine())
	}
	if err := cosign.Verify(t.Context(), l, second.lastLine(), k.signer.Public()); err != nil {
		t.Error(err)
	}
}

func TestSignRefuses(t *testing.T) {
	k := newPair(t)
	r := startRegistry(t, controlplane.WebOptions{})
	layout, _ := sample{}.layout(t)
	image := pushedModule(t, r, func(c *controlplane.Component) {
		c.Resources = append(c.Resources, controlplane.ComponentResource{
			Name: "image", Type: "ociImage", Access: map[string]any{"type": "ociRegistry", "imageReference": "example.org/x:1"},
		})
	})
	cases := map[string]struct {
		reason string
		args   []string
		code   command.ExitCode
		want   string
	}{
		"NoKey":     {"A key is needed.", []string{layout}, command.ExitUsage, "--key FILE is required"},
		"NoName":    {"The name must not be empty.", []string{layout, "--key", k.key, "--signature-name="}, command.ExitUsage, "--signature-name"},
		"PublicKey": {"A public key cannot sign.", []string{layout, "--key", k.pub}, command.ExitUsage, "got a public key"},
		"NoFile":    {"The key must exist.", []string{layout, "--key", layout + "/nope"}, command.ExitUsage, "nope"},
		"NoLayout":  {"The layout must exist.", []string{layout + "/nope", "--key", k.key}, command.ExitNotFound, "nope"},
		"NoTag":     {"The version must exist.", []string{r.Host() + "/m/component-descriptors/" + greeter + ":9.9.9", "--key", k.key}, command.ExitNotFound, "9.9.9"},
		"NoDigest":  {"A resource without a digest is an error, because the signature would not cover it.", []string{image, "--key", k.key}, command.ExitFailure, `resource "image" of component ` + greeter + ":1.0.0 has no digest"},
	}
	before := kymactl(t, "module", "inspect", layout, "-o", "json").out
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r.Reset()
			got := kymactl(t, append([]string{"module", "sign"}, tc.args...)...)
			if got.code != tc.code || !strings.Contains(got.err, tc.want) || got.out != "" || writes(r) > 0 {
				t.Errorf("\n%s\nwant exit code %d and %q, got %d:\n%s%s", tc.reason, tc.code, tc.want, got.code, got.err, got.out)
			}
		})
	}
	if after := kymactl(t, "module", "inspect", layout, "-o", "json").out; before != after {
		t.Errorf("the layout was changed:\n%s\n%s", before, after)
	}
}
