// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"maps"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("module sign", func() {
	var (
		p        *testUser
		r        *controlplane.Registry
		key, pub string
		ref      string
	)
	BeforeEach(func(ctx SpecContext) {
		p, r = newTestUser(), startRegistry(controlplane.WebOptions{})
		key, pub = p.hasKeys(ctx, "k")
		p.makes(ctx, p.sample("source", "a", 0), "layout")
		ref = p.ok(ctx, "module", "push", "layout", r.Host()+"/m").reference()
	})

	It("keeps references to all layers, and changes nothing the second time", func(ctx SpecContext) {
		before := content(ctx, r, "m/"+inRegistry, "1.0.0")
		unsigned := p.inspect(ctx, ref)
		signed := p.ok(ctx, "module", "sign", ref, "--key", key)
		Expect(signed.digest()).NotTo(Equal(unsigned.Digest))
		after := content(ctx, r, "m/"+inRegistry, "1.0.0")
		for _, resource := range []string{"one", "said", "moduletemplate"} {
			Expect(after).To(HaveKeyWithValue(unsigned.layer(resource), before[unsigned.layer(resource)]))
		}
		Expect(after).To(HaveLen(len(before)))
		Expect(p.inspect(ctx, ref).installs()).To(Equal(unsigned.installs()))
		for range 2 {
			r.Reset()
			again := p.ok(ctx, "module", "sign", ref, "--key", key)
			Expect(again.stdout).To(Equal(signed.stdout))
			for _, q := range r.Requests() {
				Expect(q.Method).To(BeElementOf("GET", "HEAD"))
			}
		}
		Expect(p.ok(ctx, "module", "verify", ref, "--key", pub, "--cosign").digest()).To(Equal(signed.digest()))
		// It equals a module that was signed when it was created.
		Expect(p.makes(ctx, p.sample("source", "a", 0), "made", "--key", key)).To(Equal(signed.digest()))
		p.ok(ctx, "module", "sign", "layout", "--key", key)
		Expect(p.blobs("layout")).To(Equal(p.blobs("made")))
	})

	It("adds signatures with several names, and never replaces a signature of another key", func(ctx SpecContext) {
		otherKey, otherPub := p.hasKeys(ctx, "other")
		p.ok(ctx, "module", "sign", ref, "--key", key)
		p.ok(ctx, "module", "sign", ref, "--key", otherKey, "--signature-name", "acme")
		Expect(p.inspect(ctx, ref).Signatures).To(ConsistOf(HaveField("Name", signature), HaveField("Name", "acme")))
		p.ok(ctx, "module", "verify", ref, "--key", pub)
		p.ok(ctx, "module", "verify", ref, "--key", otherPub, "--signature-name", "acme")
		p.ok(ctx, "module", "verify", ref, "--key", otherPub, "--key", pub)
		p.fails(ctx, exitUnverified, []string{"acme"}, "module", "verify", ref, "--key", pub, "--signature-name", "acme")
		p.fails(ctx, exitUnverified, []string{signature}, "module", "verify", ref, "--key", otherPub)
		digest := p.inspect(ctx, ref).Digest
		done := p.run(ctx, "module", "sign", ref, "--key", otherKey, "--quiet")
		Expect(done.code).To(BeElementOf(exitFailure, exitExists))
		Expect(theError(done)).To(ContainSubstring(signature))
		Expect(p.inspect(ctx, ref).Digest).To(Equal(digest))
	})

	It("accepts keys of all supported types, and prints none", func(ctx SpecContext) {
		k := aKey()
		files := map[string][]byte{}
		files["pkcs1"] = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)})
		files["pkcs8"] = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(k))})
		public := []string{
			p.input("pkcs1.pub", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&k.PublicKey)}))),
			p.input("pkix.pub", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: must(x509.MarshalPKIXPublicKey(&k.PublicKey))}))),
		}
		for name, data := range files {
			p.keepsSecret(string(data))
			p.ok(ctx, "module", "sign", ref, "--key", p.input(name, string(data)))
		}
		for _, file := range public {
			p.ok(ctx, "module", "verify", ref, "--key", file)
			p.fails(ctx, exitUsage, []string{file}, "module", "sign", ref, "--key", file)
		}
		// A file that is not a key may contain another kind of secret.
		p.secrets = append(p.secrets, "hunter2hunter2")
		p.fails(ctx, exitUsage, []string{"--key"}, "module", "sign", ref, "--key", p.input("no.pem", "password: hunter2hunter2\n"))
		p.fails(ctx, exitUsage, []string{"--key"}, "module", "verify", ref, "--key", p.input("no.pem", "password: hunter2hunter2\n"))
	})

	It("is required: a module without a signature is not verified", func(ctx SpecContext) {
		for _, module := range []string{ref, "layout"} {
			p.fails(ctx, exitUnverified, []string{"signature", signature}, "module", "verify", module, "--key", pub)
		}
		p.fails(ctx, exitUsage, []string{"--key"}, "module", "verify", ref)
		p.fails(ctx, exitUsage, []string{"--key"}, "module", "sign", ref)
		p.fails(ctx, exitUnverified, []string{signature}, "module", "pull", ref, "--key", pub, "-o", "pulled")
		p.ok(ctx, "module", "sign", ref, "--key", key, "--cosign=false")
		p.fails(ctx, exitUnverified, []string{"cosign"}, "module", "verify", ref, "--key", pub, "--cosign")
	})
})

type values = map[string]any

// None of these attacks changes the signature.
var _ = DescribeTable("module verify detects changes to", func(ctx SpecContext, why string, attack func(component, first, all values)) {
	p, r := newTestUser(), startRegistry(controlplane.WebOptions{})
	pub := p.input("k.pub", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: must(x509.MarshalPKIXPublicKey(&aKey().PublicKey))})))
	c := controlplane.Component{
		Name: greeter, Version: "1.0.0",
		Resources: []controlplane.ComponentResource{
			{Name: "raw-manifest", Type: "yaml", Data: []byte(configMap("a", "a"))},
			{Name: "notes", Type: "plainText", Data: []byte("notes")},
		},
		Sign: &controlplane.Signing{Name: signature, Key: aKey()},
	}
	if attack == nil {
		good := must(r.PushComponent(ctx, "good", c))
		p.ok(ctx, "module", "verify", good.Repository+":1.0.0", "--key", pub)
		return
	}
	c.Tamper = func(data []byte) []byte {
		all := parsed[values](string(data))
		component := all["component"].(values)
		attack(component, component["resources"].([]any)[0].(values), all)
		return must(json.Marshal(all))
	}
	bad := must(r.PushComponent(ctx, "bad", c))
	p.fails(ctx, exitUnverified, []string{why}, "module", "verify", bad.Repository+":1.0.0", "--key", pub)
	p.fails(ctx, exitUnverified, []string{why}, "module", "pull", bad.Repository+":1.0.0", "--key", pub, "-o", "pulled")
},
	Entry("nothing if the module is unchanged", "", nil),
	Entry("the name", "example.org/module/other", func(c, _, _ values) { c["name"] = "example.org/module/other" }),
	Entry("the version", "1.0.1", func(c, _, _ values) { c["version"] = "1.0.1" }),
	Entry("the provider", "changed", func(c, _, _ values) { c["provider"] = "else" }),
	Entry("the name of a resource", "changed", func(_, r, _ values) { r["name"] = "config" }),
	Entry("the type of a resource", "changed", func(_, r, _ values) { r["type"] = "helm-chart" }),
	Entry("the relation of a resource", "changed", func(_, r, _ values) { r["relation"] = "external" }),
	Entry("the digest of a resource", "changed", func(_, r, _ values) { r["digest"].(values)["value"] = strings.Repeat("0", 64) }),
	Entry("a digest that was removed", "raw-manifest", func(_, r, _ values) { delete(r, "digest") }),
	Entry("a digest that was excluded", "changed", func(_, r, _ values) {
		r["digest"] = values{"hashAlgorithm": "NO-DIGEST", "normalisationAlgorithm": "EXCLUDE-FROM-SIGNATURE", "value": "NO-DIGEST"}
	}),
	Entry("an access that was removed", "raw-manifest", func(_, r, _ values) { r["access"] = values{"type": "None"} }),
	Entry("an access to another layer", "raw-manifest", func(c, r, _ values) { r["access"] = c["resources"].([]any)[1].(values)["access"] }),
	Entry("a resource that was added", "changed", func(c, r, _ values) {
		more := maps.Clone(r)
		more["name"] = "more"
		c["resources"] = append(c["resources"].([]any), more)
	}),
	Entry("a resource that was removed", "changed", func(c, _, _ values) { c["resources"] = c["resources"].([]any)[:1] }),
	Entry("a signature that was removed", signature, func(_, _, all values) { delete(all, "signatures") }),
	Entry("the name of a signature", signature, func(_, _, all values) { first(all)["name"] = "else" }),
	Entry("a second signature with the same name", signature, func(_, _, all values) {
		all["signatures"] = append(all["signatures"].([]any), all["signatures"].([]any)[0])
	}),
	Entry("a hash algorithm that is unknown", "md5", func(_, _, all values) { first(all)["digest"].(values)["hashAlgorithm"] = "md5" }),
	Entry("a normalisation algorithm that is unknown", "none", func(_, _, all values) { first(all)["digest"].(values)["normalisationAlgorithm"] = "none" }),
	Entry("a hash that was replaced", "changed", func(_, _, all values) { first(all)["digest"].(values)["value"] = strings.Repeat("0", 64) }),
	Entry("an empty signature", "signature", func(_, _, all values) { first(all)["signature"].(values)["value"] = "" }),
)

// first returns the first signature.
func first(all values) values { return all["signatures"].([]any)[0].(values) }
