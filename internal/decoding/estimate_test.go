// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/heaptest"
)

const (
	jsonType   = "application/json"
	binaryType = "application/vnd.kubernetes.protobuf"
)

// decodeAny decodes as for kinds whose objects are read as a whole.
func decodeAny(content []byte) (any, error) {
	u := &unstructured.UnstructuredList{}
	return u, u.UnmarshalJSON(content)
}

// decodeMetadata decodes as for kinds of which only metadata is read.
func decodeMetadata(content []byte) (any, error) {
	l := &metav1.PartialObjectMetadataList{}
	return l, json.Unmarshal(content, l)
}

func decodeResources(content []byte) (any, error) {
	l := &metav1.APIResourceList{}
	return l, json.Unmarshal(content, l)
}

// decodeBinary decodes a list of metadata.
func decodeBinary(content []byte) (any, error) {
	scheme := k8sruntime.NewScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		return nil, err
	}
	l := &metav1.PartialObjectMetadataList{}
	_, _, err := serializer.NewSerializer(scheme, scheme).Decode(content, nil, l)
	return l, err
}

func listOf(items string) string {
	return `{"apiVersion":"v1","kind":"List","metadata":{},"items":[` + items + `]}`
}

func object(fields string) string { return listOf(`{"apiVersion":"v1","kind":"A",` + fields + `}`) }

func times(n int, what string) string {
	return strings.TrimSuffix(strings.Repeat(what+",", n), ",")
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+",", i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// encode returns a list of objects with this metadata in the binary format.
func encode(n int, m metav1.ObjectMeta) string {
	l := &metav1.PartialObjectMetadataList{Items: make([]metav1.PartialObjectMetadata, n)}
	for i := range l.Items {
		l.Items[i].ObjectMeta = m
	}
	raw, err := l.Marshal()
	if err != nil {
		panic(err)
	}
	u := &k8sruntime.Unknown{TypeMeta: k8sruntime.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"}, Raw: raw}
	out, err := u.Marshal()
	if err != nil {
		panic(err)
	}
	return magic + string(out)
}

// pod is what an API server returns of an ordinary object.
const pod = `{"metadata":{"name":"pod-%[1]d","namespace":"default","uid":"5b0b7e8c-5a51-4fbe-9a70-%[1]012d","resourceVersion":"%[1]d",` +
	`"labels":{"app":"web","pod-template-hash":"6b474476c4"},"managedFields":[{"manager":"kube-controller-manager","operation":"Update",` +
	`"apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},` +
	`"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{}}},"f:dnsPolicy":{}}}}]},` +
	`"spec":{"containers":[{"name":"web","image":"registry.example/web:1.0","resources":{},"terminationMessagePath":"/dev/termination-log"}],` +
	`"dnsPolicy":"ClusterFirst","nodeName":"node-1"},"status":{"phase":"Running","podIP":"10.0.0.1"}}`

// TestEstimate checks that what becomes of a response is not larger than estimated, whatever its shape, and that an ordinary response
// is not estimated much larger than it becomes.
func TestEstimate(t *testing.T) {
	type decodeFunc func([]byte) (any, error)
	cases := map[string]struct {
		reason, contentType, content string
		decode                       decodeFunc
		// most is how many times larger than the content the estimate may be, for an ordinary response.
		most int64
	}{
		"Pods":            {reason: "Ordinary objects are not estimated much too large.", contentType: jsonType, content: listOf(numbered(2000, pod)), decode: decodeAny, most: 20},
		"Objects":         {reason: "Each map takes memory, even without content.", contentType: jsonType, content: object(`"a":[` + times(100_000, "{}") + `]`), decode: decodeAny},
		"Items":           {reason: "Each object takes memory, even without content.", contentType: jsonType, content: listOf(times(50_000, `{"kind":"A"}`)), decode: decodeAny},
		"Lists":           {reason: "Each list takes memory, even without content.", contentType: jsonType, content: object(`"a":[` + times(100_000, "[]") + `]`), decode: decodeAny},
		"Nested":          {reason: "Each nested list takes memory.", contentType: jsonType, content: object(`"a":[` + times(1000, strings.Repeat("[", 100)+strings.Repeat("]", 100)) + `]`), decode: decodeAny},
		"Numbers":         {reason: "A value of one byte takes more memory when it is decoded.", contentType: jsonType, content: object(`"a":[` + times(200_000, "1") + `]`), decode: decodeAny},
		"Floats":          {reason: "Floating-point numbers need memory of their own.", contentType: jsonType, content: object(`"a":[` + times(200_000, "1e9") + `]`), decode: decodeAny},
		"Keys":            {reason: "A map with many short keys takes memory for each of them.", contentType: jsonType, content: object(`"a":{` + numbered(115_000, `"%d":1`) + `}`), decode: decodeAny},
		"SmallMaps":       {reason: "Many maps with one key take memory for each of them.", contentType: jsonType, content: object(`"a":[` + times(100_000, `{"a":1}`) + `]`), decode: decodeAny},
		"Texts":           {reason: "Each text takes memory, even if it is short.", contentType: jsonType, content: object(`"a":[` + times(200_000, `"a"`) + `]`), decode: decodeAny},
		"Text":            {reason: "A long text takes little more memory than its length.", contentType: jsonType, content: object(`"a":"` + strings.Repeat("x", 4<<20) + `"`), decode: decodeAny, most: 5},
		"Metadata":        {reason: "Each metadata struct takes memory, even without content.", contentType: jsonType, content: listOf(times(50_000, "{}")), decode: decodeMetadata},
		"ManagedFields":   {reason: "Each entry of managedFields takes memory, even without content.", contentType: jsonType, content: listOf(`{"metadata":{"managedFields":[` + times(50_000, `{"time":null,"fieldsV1":{}}`) + `]}}`), decode: decodeMetadata},
		"Owners":          {reason: "Each owner reference takes memory, even without content.", contentType: jsonType, content: listOf(`{"metadata":{"ownerReferences":[` + times(100_000, `{}`) + `]}}`), decode: decodeMetadata},
		"Labels":          {reason: "Many labels take memory for each of them.", contentType: jsonType, content: listOf(`{"metadata":{"labels":{` + numbered(115_000, `"%d":""`) + `}}}`), decode: decodeMetadata},
		"Resources":       {reason: "Each resource of a discovery document takes memory, even without content.", contentType: jsonType, content: `{"resources":[` + times(100_000, "{}") + `]}`, decode: decodeResources},
		"BinaryOrdinary":  {reason: "Ordinary metadata is not estimated much too large.", contentType: binaryType, content: encode(2000, metav1.ObjectMeta{Name: strings.Repeat("n", 40), Namespace: "default", UID: "5b0b7e8c-5a51-4fbe-9a70-000000000000", ResourceVersion: "12345678", Labels: map[string]string{"app": "web"}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`)}}}}), decode: decodeBinary, most: 20},
		"BinaryItems":     {reason: "Each metadata struct in Protobuf takes memory, even without content.", contentType: binaryType, content: encode(50_000, metav1.ObjectMeta{}), decode: decodeBinary},
		"BinaryFields":    {reason: "Each entry of managedFields in Protobuf takes memory, even without content.", contentType: binaryType, content: encode(1, metav1.ObjectMeta{ManagedFields: make([]metav1.ManagedFieldsEntry, 50_000)}), decode: decodeBinary},
		"BinaryOwners":    {reason: "Each owner reference in Protobuf takes memory, even without content.", contentType: binaryType, content: encode(1, metav1.ObjectMeta{OwnerReferences: make([]metav1.OwnerReference, 50_000)}), decode: decodeBinary},
		"BinaryFinalizer": {reason: "Each finalizer in Protobuf takes memory, even without content.", contentType: binaryType, content: encode(1, metav1.ObjectMeta{Finalizers: make([]string, 100_000)}), decode: decodeBinary},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			content := []byte(tc.content)
			before := heaptest.Bytes()
			got, err := tc.decode(content)
			size := heaptest.Bytes() - before
			runtime.KeepAlive(got)
			runtime.KeepAlive(content)
			if err != nil {
				t.Fatal(err)
			}
			estimate := Estimate(tc.contentType, content)
			t.Logf("%d bytes became %d, estimated %d", len(content), size, estimate)
			if estimate < size {
				t.Errorf("%s\n%d bytes became %d, estimated %d", tc.reason, len(content), size, estimate)
			}
			if most := tc.most * int64(len(content)); most > 0 && estimate > most {
				t.Errorf("%s\nEstimate(...): got %d for %d bytes, want at most %d", tc.reason, estimate, len(content), most)
			}
		})
	}
}

// FuzzEstimate checks that any content is estimated without decoding it.
func FuzzEstimate(f *testing.F) {
	f.Add([]byte(encode(2, metav1.ObjectMeta{Name: "a", Finalizers: []string{""}})), true)
	f.Add([]byte(magic+"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), true)
	f.Add([]byte(listOf(pod)), false)
	f.Fuzz(func(t *testing.T, content []byte, protobuf bool) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(content))()
		contentType := jsonType
		if protobuf {
			contentType = binaryType
		}
		least, most := int64(len(content))*perByte, int64(len(content))*(perByte+perValue+perObject+perItem+2*perField)
		if got := Estimate(contentType, content); got < least || got > most {
			t.Errorf("Estimate(...): got %d for %d bytes, want %d to %d", got, len(content), least, most)
		}
	})
}
