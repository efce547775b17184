// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"crypto"
	"crypto/rsa"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

type tree = map[string]any

func comp(t tree) tree       { return t["component"].(tree) }
func res(t tree, i int) tree { return comp(t)["resources"].([]any)[i].(tree) }
func digestIn(t tree) tree   { return t["digest"].(tree) }
func accessIn(t tree) tree   { return t["access"].(tree) }
func sig(t tree) tree        { return t["signatures"].([]any)[0].(tree) }
func sigValue(t tree) tree   { return sig(t)["signature"].(tree) }
func ref(t tree) tree        { return comp(t)["componentReferences"].([]any)[0].(tree) }

// family returns a signed component that references a second one, which references a third one. The blobs have the names of the
// components.
func family(tb testing.TB) []*Descriptor {
	tb.Helper()
	leaf := component(tb, leafName, []any{resource("leaf", []byte("leaf"))}, nil)
	child := component(tb, childName, []any{resource("child", []byte("child"))}, []any{reference("leaf", leafName, hashOf(tb, leaf))})
	resources := []any{
		resource("root", []byte("root")),
		tree{"name": "image", "version": "9", "type": "ociImage", "relation": "external", "digest": excluded(), "access": tree{"type": "ociRegistry", "imageReference": "a/b:c"}},
		tree{"name": "nothing", "version": "9", "type": "x", "relation": "external", "access": tree{"type": "None"}},
		tree{
			"name": "chart", "version": "9", "type": "helm-chart", "relation": "external",
			"digest": digestFields("SHA-256", NormalisationArtifact, strings.TrimPrefix(digestOfBlob([]byte("artifact")), "sha256:")),
			"access": tree{"type": "ociArtifact", "imageReference": "a/b:c"},
		},
	}
	root := component(tb, rootName, resources, []any{reference("child", childName, hashOf(tb, child))})
	return []*Descriptor{signed(tb, root, signedBy, ours()), child, leaf}
}

// TestVerifyChanges checks changes that an attacker or a mistake can make to a signed descriptor. Changes to fields that no
// signature covers must have no effect.
func TestVerifyChanges(t *testing.T) {
	const changed = "the component was changed after it was signed"
	cases := map[string]struct {
		reason string
		change func(tree)
		err    string
	}{
		"Good":               {reason: "An unchanged component is verified.", change: func(tree) {}},
		"Labels":             {reason: "Labels are not signed.", change: func(t tree) { comp(t)["labels"] = []any{tree{"name": "a", "value": "b"}} }},
		"Contexts":           {reason: "The signature does not cover the repository contexts.", change: func(t tree) { comp(t)["repositoryContexts"] = []any{tree{"type": "ociRegistry", "baseUrl": "x"}} }},
		"ExternalAccess":     {reason: "The signature covers the digest of an artifact, but not its location.", change: func(t tree) { accessIn(res(t, 3))["imageReference"] = "evil.org/x" }},
		"Name":               {reason: "The name is signed.", change: func(t tree) { comp(t)["name"] = leafName + "x" }, err: changed},
		"Version":            {reason: "The version is signed.", change: func(t tree) { comp(t)["version"] = "1.0.1" }, err: changed},
		"Provider":           {reason: "The provider is signed.", change: func(t tree) { comp(t)["provider"] = "x" }, err: changed},
		"Type":               {reason: "The type of a resource is signed.", change: func(t tree) { res(t, 0)["type"] = "yaml" }, err: changed},
		"Relation":           {reason: "The relation is signed.", change: func(t tree) { res(t, 0)["relation"] = "external" }, err: changed},
		"ExtraIdentity":      {reason: "Extra identities are signed.", change: func(t tree) { res(t, 0)["extraIdentity"] = tree{"os": "x"} }, err: changed},
		"Digest":             {reason: "The digest is signed.", change: func(t tree) { digestIn(res(t, 0))["value"] = strings.Repeat("0", 64) }, err: changed},
		"DigestBoth":         {reason: "A changed digest is rejected, even if the access has the same digest.", change: func(t tree) { swap(t, strings.Repeat("0", 64)) }, err: changed},
		"Spelling":           {reason: "The name of the hash is signed as spelt.", change: func(t tree) { digestIn(res(t, 0))["hashAlgorithm"] = "SHA-256" }, err: changed},
		"Access":             {reason: "The digest in the access must match, because it selects the installed blob.", change: func(t tree) { accessIn(res(t, 0))["digest"] = digestOfBlob(nil) }, err: `resource "root": access refers to blob "sha256:`},
		"AccessType":         {reason: "The digest in the access of OCM must match, too.", change: func(t tree) { res(t, 0)["access"] = tree{"type": "localBlob", "localReference": digestOfBlob(nil)} }, err: `resource "root": access refers to blob "sha256:`},
		"AccessNone":         {reason: "A signed resource cannot be excluded by the access type None.", change: func(t tree) { res(t, 0)["access"] = tree{"type": "None"} }, err: "must not have a digest"},
		"AccessNoneBare":     {reason: "A signed resource cannot be excluded by removing its digest.", change: func(t tree) { res(t, 0)["access"] = tree{"type": "None"}; delete(res(t, 0), "digest") }, err: changed},
		"Exclude":            {reason: "A signed resource cannot be excluded with a special digest.", change: func(t tree) { res(t, 0)["digest"] = excluded() }, err: changed},
		"NoDigest":           {reason: "A digest cannot be removed.", change: func(t tree) { delete(res(t, 0), "digest") }, err: `resource "root" has no digest`},
		"Added":              {reason: "A resource cannot be added.", change: func(t tree) { comp(t)["resources"] = append(comp(t)["resources"].([]any), resource("more", nil)) }, err: changed},
		"Removed":            {reason: "A resource cannot be removed.", change: func(t tree) { comp(t)["resources"] = comp(t)["resources"].([]any)[1:] }, err: changed},
		"Reference":          {reason: "References are signed.", change: func(t tree) { ref(t)["name"] = "other" }, err: changed},
		"ReferenceDigest":    {reason: "The digests of references are signed.", change: func(t tree) { digestIn(ref(t))["value"] = strings.Repeat("0", 64) }, err: changed},
		"ReferenceNoDigest":  {reason: "A child without digest is not signed.", change: func(t tree) { delete(ref(t), "digest") }, err: `reference "child" has no digest`},
		"Unsigned":           {reason: "A component without a signature is rejected.", change: func(t tree) { delete(t, "signatures") }, err: "the component has no signature named kyma-project.io/module-signature"},
		"OtherName":          {reason: "The name of the signature is pinned.", change: func(t tree) { sig(t)["name"] = "other" }, err: "the component has no signature named kyma-project.io/module-signature"},
		"Duplicate":          {reason: "A duplicate name of a signature is ambiguous.", change: func(t tree) { t["signatures"] = []any{sig(t), sig(t)} }, err: "the component has two signatures named \"kyma-project.io/module-signature\""},
		"HashValue":          {reason: "The hash is computed, and not read from the signature.", change: func(t tree) { digestIn(sig(t))["value"] = strings.Repeat("0", 64) }, err: changed},
		"HashName":           {reason: "The name of the hash may have the form that OCM writes.", change: func(t tree) { digestIn(sig(t))["hashAlgorithm"] = "SHA-256" }},
		"HashUnknown":        {reason: "Weak hashes are refused.", change: func(t tree) { digestIn(sig(t))["hashAlgorithm"] = "sha1" }, err: `unknown hash algorithm "sha1"`},
		"HashOther":          {reason: "Another hash algorithm results in another value.", change: func(t tree) { digestIn(sig(t))["hashAlgorithm"] = "sha512" }, err: changed},
		"Normalisation2":     {reason: "An unsupported normalisation algorithm is rejected.", change: func(t tree) { digestIn(sig(t))["normalisationAlgorithm"] = "jsonNormalisation/v2" }, err: "normalisation jsonNormalisation/v2 is not supported: sign with jsonNormalisation/v1"},
		"NormalisationOther": {reason: "An unknown normalisation algorithm is rejected.", change: func(t tree) { digestIn(sig(t))["normalisationAlgorithm"] = "x" }, err: `unknown normalisation algorithm "x"`},
		"Algorithm":          {reason: "Only one signature algorithm is supported.", change: func(t tree) { sigValue(t)["algorithm"] = "RSASSA-PSS" }, err: `unknown signature algorithm "RSASSA-PSS"`},
		"MediaType":          {reason: "Only two encodings are supported.", change: func(t tree) { sigValue(t)["mediaType"] = "x" }, err: `unknown media type "x"`},
		"NotHex":             {reason: "A PEM block is not a hexadecimal signature.", change: func(t tree) { sigValue(t)["mediaType"] = "application/vnd.ocm.signature.rsa" }, err: "the value of the signature is not hexadecimal"},
		"NotPEM":             {reason: "Hexadecimal digits are not a PEM block.", change: func(t tree) { sigValue(t)["value"] = "00" }, err: "the value contains no PEM block of type SIGNATURE"},
		"TwoBlocks":          {reason: "A signature with two PEM blocks is ambiguous.", change: func(t tree) { v := sigValue(t); v["value"] = v["value"].(string) + v["value"].(string) }, err: "more than one PEM block"},
		"PEMHeader":          {reason: "The algorithm in the header of the PEM block must be that of the signature.", change: func(t tree) { v := sigValue(t); v["value"] = strings.Replace(v["value"].(string), "PKCS1", "X", 1) }, err: "the PEM block has algorithm"},
		"Empty":              {reason: "An empty value is not a signature.", change: func(t tree) { v := sigValue(t); v["value"], v["mediaType"] = "", "application/vnd.ocm.signature.rsa" }, err: "does not match this component and the public key"},
	}
	all := family(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			changed := edited(t, all[0], tc.change)
			v, err := Verify([]*Descriptor{changed, all[1], all[2]}, []Key{keyOf(t, signedBy, ours())})
			checkVerified(t, tc.reason, v, err, tc.err)
		})
	}
}

// swap changes a digest in both places.
func swap(t tree, value string) {
	digestIn(res(t, 0))["value"] = value
	accessIn(res(t, 0))["digest"] = "sha256:" + value
}

func checkVerified(t *testing.T, reason string, v *Verified, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil || !v.Covers(digestOfBlob([]byte("root"))) {
			t.Errorf("\n%s\nVerify(...): got %v, error %v", reason, v, err)
		}
		return
	}
	var typed *VerificationError
	if v != nil || !errors.As(err, &typed) || !strings.Contains(typed.Reason, want) || !isOneLine(err) {
		t.Errorf("\n%s\nVerify(...): got %v, error %q, want a VerificationError of one line with %q", reason, v, text(err), want)
	}
}

func TestVerifyKeys(t *testing.T) {
	all := family(t)
	good, wrong := keyOf(t, signedBy, ours()), keyOf(t, signedBy, theirs())
	other := keyOf(t, "other", ours())
	short := newKey(1024)
	twice := signed(t, all[0], "other", theirs())
	cases := map[string]struct {
		reason string
		root   *Descriptor
		keys   []Key
		want   string
		err    string
	}{
		"Good":        {reason: "A single key is sufficient.", root: all[0], keys: []Key{good}, want: signedBy},
		"Rotation":    {reason: "Old and new key have one name.", root: all[0], keys: []Key{wrong, good}, want: signedBy},
		"OneOfTwo":    {reason: "One of the names is enough.", root: all[0], keys: []Key{other, good}, want: signedBy},
		"Second":      {reason: "The second signature may be the valid one.", root: twice, keys: []Key{wrong, keyOf(t, "other", theirs())}, want: "other"},
		"Wrong":       {reason: "Another key does not do.", root: all[0], keys: []Key{wrong}, err: `component kyma-project.io/module/root:1.0.0: signature "kyma-project.io/module-signature": the signature does not match this component and the public key`},
		"WrongName":   {reason: "The key is for another name.", root: all[0], keys: []Key{other, other}, err: "the component has no signature named other"},
		"SwappedKeys": {reason: "A key must not vouch for another name.", root: twice, keys: []Key{other}, err: "does not match this component and the public key"},
		"NoKeys":      {reason: "Nothing to check with is not success.", root: all[0], err: "no key to verify the signature"},
		"EmptyKey":    {reason: "An empty key is rejected.", root: all[0], keys: []Key{{Name: signedBy}}, err: "the key is empty"},
		"Short":       {reason: "A short key cannot be smuggled in.", root: all[0], keys: []Key{{Name: signedBy, public: &short.PublicKey}}, err: "the RSA key has 1024 bits"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v, err := Verify([]*Descriptor{tc.root, all[1], all[2]}, tc.keys)
			checkVerified(t, tc.reason, v, err, tc.err)
			if err == nil && v.Signature() != tc.want {
				t.Errorf("\n%s\nSignature(): got %q, want %q", tc.reason, v.Signature(), tc.want)
			}
		})
	}
	if v, err := Verify(nil, []Key{good}); v != nil || !strings.Contains(text(err), "no component descriptor to verify") {
		t.Errorf("Verify(nil, ...): got %v, %v", v, err)
	}
}

// TestVerifyCovers checks which resources are covered: the resources of the root and, through the digests of references, the
// resources of referenced components.
func TestVerifyCovers(t *testing.T) {
	all := family(t)
	key := []Key{keyOf(t, signedBy, ours())}
	evil := edited(t, all[2], func(t tree) { swap(t, strings.Repeat("0", 64)) })
	added := edited(t, all[1], func(t tree) { comp(t)["resources"] = []any{resource("evil", nil)} })
	loose := component(t, "a.io/loose", []any{resource("loose", []byte("loose"))}, nil)
	open := signed(t, component(t, rootName, []any{resource("root", []byte("root"))},
		[]any{tree{"name": "child", "componentName": childName, "version": "1.0.0", "digest": excluded()}}), signedBy, ours())

	cases := map[string]struct {
		reason     string
		components []*Descriptor
		covers     string
		not        string
		err        string
	}{
		"All":        {reason: "The digests of references lead from the root to all other components.", components: all, covers: "root child leaf artifact", not: "other"},
		"Order":      {reason: "Only the root must be first.", components: []*Descriptor{all[0], all[2], all[1]}, covers: "root child leaf"},
		"Repeated":   {reason: "A component may be listed twice if both descriptors are equal.", components: append(all[:3:3], all[1]), covers: "root child leaf"},
		"Loose":      {reason: "A component without a reference to it is not covered.", components: append(all[:3:3], loose), covers: "root", not: "loose"},
		"Excluded":   {reason: "A reference may be left out of a signature, with all behind it.", components: []*Descriptor{open, all[1], all[2]}, covers: "root", not: "child leaf"},
		"Missing":    {reason: "A referenced component must not be missing.", components: all[:2], err: `reference "leaf" of component kyma-project.io/module/child:1.0.0: component kyma-project.io/module/leaf:1.0.0 is missing`},
		"Evil":       {reason: "A changed component without references of its own is rejected.", components: []*Descriptor{all[0], all[1], evil}, err: `reference "leaf" of component kyma-project.io/module/child:1.0.0: the component was changed`},
		"EvilChild":  {reason: "A changed component in the middle is rejected.", components: []*Descriptor{all[0], added, all[2]}, err: `reference "child" of component kyma-project.io/module/root:1.0.0: the component was changed`},
		"TwoOfAName": {reason: "Two different descriptors of one component are ambiguous.", components: append(all[:3:3], evil), err: "two different descriptors for component kyma-project.io/module/leaf:1.0.0"},
		"ChildFirst": {reason: "The first component must have the signature.", components: []*Descriptor{all[1], all[0], all[2]}, err: "component kyma-project.io/module/child:1.0.0: the component has no signature named kyma-project.io/module-signature"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v, err := Verify(tc.components, key)
			checkVerified(t, tc.reason, v, err, tc.err)
			if err != nil {
				return
			}
			for content := range strings.FieldsSeq(tc.covers) {
				if !v.Covers(digestOfBlob([]byte(content))) {
					t.Errorf("\n%s\nCovers(%s): got false", tc.reason, content)
				}
			}
			for _, content := range append(strings.Fields(tc.not), "") {
				if v.Covers(digestOfBlob([]byte(content))) {
					t.Errorf("\n%s\nCovers(%s): got true", tc.reason, content)
				}
			}
			if v.Covers("") || v.Covers("NO-DIGEST") || v.Covers("sha256:NO-DIGEST") {
				t.Errorf("\n%s\nCovers(...): got true for no digest", tc.reason)
			}
		})
	}
}

// signedAs adds a signature in the format of another tool.
func signedAs(tb testing.TB, d *Descriptor, h crypto.Hash, name, normalisation string) *Descriptor {
	tb.Helper()
	hash, err := d.hash(h)
	if err != nil {
		tb.Fatal(err)
	}
	hashed, err := hex.DecodeString(hash)
	if err != nil {
		tb.Fatal(err)
	}
	value, err := rsa.SignPKCS1v15(nil, ours(), h, hashed)
	if err != nil {
		tb.Fatal(err)
	}
	return edited(tb, d, func(t tree) {
		t["signatures"] = []any{tree{
			"name":      signedBy,
			"digest":    digestFields(name, normalisation, hash),
			"signature": tree{"algorithm": "RSASSA-PKCS1-V1_5", "mediaType": "application/vnd.ocm.signature.rsa", "value": hex.EncodeToString(value)},
		}}
	})
}

// TestVerifyForeign reads signatures of other tools, and digests of resources that are not trusted even though they are signed.
func TestVerifyForeign(t *testing.T) {
	digest := func(algorithm, normalisation, value string) func(tree) {
		return func(t tree) { res(t, 0)["digest"] = digestFields(algorithm, normalisation, value) }
	}
	hex64 := strings.TrimPrefix(digestOfBlob([]byte("root")), "sha256:")
	cases := map[string]struct {
		reason string
		change func(tree)
		hash   crypto.Hash
		name   string
		err    string
	}{
		"Hex":       {reason: "component-spec uses this name for hexadecimal signatures.", hash: crypto.SHA256, name: "sha256"},
		"OCM":       {reason: "OCM uses this name for SHA-256.", hash: crypto.SHA256, name: "SHA-256"},
		"OCM512":    {reason: "Former versions of OCM use SHA-512 by default.", hash: crypto.SHA512, name: "SHA-512"},
		"SHA512":    {reason: "The other spelling of SHA-512 is accepted.", hash: crypto.SHA512, name: "sha512"},
		"Mixed":     {reason: "The name of the hash must be that of the hash that was signed.", hash: crypto.SHA512, name: "SHA-256", err: "the component was changed"},
		"LocalBlob": {reason: "OCM has a different access type for local blobs.", change: func(t tree) { res(t, 0)["access"] = tree{"type": "localBlob", "localReference": "sha256:" + hex64} }, hash: crypto.SHA256, name: "sha256"},
		"LocalArtifact": {reason: "An artifact in a blob has a digest of its own.", change: func(t tree) {
			res(t, 0)["access"] = tree{"type": "localBlob", "localReference": digestOfBlob(nil)}
			digest("SHA-256", NormalisationArtifact, hex64)(t)
		}, hash: crypto.SHA256, name: "sha256"},
		"ResourceHash": {reason: "The hash algorithm of a resource must be a known one.", change: digest("md5", NormalisationBlob, hex64), hash: crypto.SHA256, name: "sha256", err: `resource "root": unknown hash algorithm "md5"`},
		"ResourceForm": {reason: "The normalisation algorithm of a resource must be a known one.", change: digest("sha256", "x", hex64), hash: crypto.SHA256, name: "sha256", err: `resource "root": unknown normalisation algorithm "x"`},
		"HalfExcluded": {reason: "The mark of an excluded resource must be complete.", change: digest("NO-DIGEST", NormalisationBlob, "NO-DIGEST"), hash: crypto.SHA256, name: "sha256", err: `unknown hash algorithm "NO-DIGEST"`},
		"UpperCase":    {reason: "Digests of registries are in lower case.", change: digest("sha256", NormalisationBlob, strings.ToUpper(hex64)), hash: crypto.SHA256, name: "sha256", err: "must be a SHA-256 in lowercase hexadecimal digits"},
		"ShortValue":   {reason: "A digest must have the length of its hash.", change: digest("sha256", NormalisationBlob, "00"), hash: crypto.SHA256, name: "sha256", err: `malformed digest "00"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := component(t, rootName, []any{resource("root", []byte("root"))}, nil)
			if tc.change != nil {
				d = edited(t, d, tc.change)
			}
			v, err := Verify([]*Descriptor{signedAs(t, d, tc.hash, tc.name, NormalisationJSON)}, []Key{keyOf(t, signedBy, ours())})
			checkVerified(t, tc.reason, v, err, tc.err)
		})
	}

	// A SHA-512 digest is valid, but content cannot be pulled by it.
	d := component(t, rootName, []any{resource("root", []byte("root"))}, nil)
	d = edited(t, d, digest("SHA-512", NormalisationBlob, sum(crypto.SHA512, []byte("root"))))
	v, err := Verify([]*Descriptor{signedAs(t, d, crypto.SHA512, "SHA-512", NormalisationJSON)}, []Key{keyOf(t, signedBy, ours())})
	if err != nil || v.Covers(digestOfBlob([]byte("root"))) || len(v.digests) != 0 {
		t.Errorf("Verify(SHA-512): got %v, error %v, want nothing covered", v, err)
	}
}

func TestSignedBy(t *testing.T) {
	d := made(t, trial())
	ok := signed(t, d, signedBy, ours())
	twice := edited(t, ok, func(tree map[string]any) {
		list := tree["signatures"].([]any)
		tree["signatures"] = append(list, list[0])
	})
	stale := edited(t, ok, func(tree map[string]any) { tree["component"].(map[string]any)["provider"] = "else" })
	cases := map[string]struct {
		reason string
		d      *Descriptor
		name   string
		found  bool
		err    string
	}{
		"Good":     {"The component is signed with this key.", ok, signedBy, true, ""},
		"Unsigned": {"The component has no signature.", d, signedBy, false, ""},
		"Name":     {"The component has no signature of this name.", ok, "else", false, ""},
		"Twice":    {"Two signatures of one name are ambiguous.", twice, signedBy, true, "2 signatures"},
		"Stale":    {"The component was changed after it was signed.", stale, signedBy, true, "was changed after"},
		"Theirs":   {"The component is signed with another key.", signed(t, d, signedBy, theirs()), signedBy, true, "does not match this component and the public key"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found, err := SignedBy(tc.d, tc.name, ours().Public())
			if found != tc.found || (tc.err == "") != (err == nil) || !strings.Contains(text(err), tc.err) {
				t.Errorf("\n%s\nSignedBy(...): got %t, %v, want %t, %q", tc.reason, found, err, tc.found, tc.err)
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	all, keys := family(b), []Key{keyOf(b, signedBy, ours())}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Verify(all, keys); err != nil {
			b.Fatal(err)
		}
	}
}
