// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
)

func TestReader(t *testing.T) {
	stored := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{UID: "1", ResourceVersion: "1"}, Type: corev1.SecretTypeOpaque}
	reads := 0
	missing := kerrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "s")
	metadata := &test.MockClient{MockGet: func(_ context.Context, _ client.ObjectKey, obj client.Object) error {
		if stored == nil {
			return missing
		}
		m, ok := obj.(*metav1.PartialObjectMetadata)
		if !ok {
			t.Fatalf("the content of Secrets must not be kept in the cache: %T", obj)
		}
		m.ObjectMeta = stored.ObjectMeta
		return nil
	}}
	content := &test.MockClient{MockGet: func(_ context.Context, _ client.ObjectKey, obj client.Object) error {
		reads++
		stored.DeepCopyInto(obj.(*corev1.Secret))
		return nil
	}}
	r := NewReader(metadata, content)

	steps := []struct {
		reason string
		change func()
		want   map[string][]byte
		reads  int
		err    string
	}{
		{reason: "The first time the content is read.", change: func() { stored.Data = map[string][]byte{"k": []byte("1")} }, want: map[string][]byte{"k": []byte("1")}, reads: 1},
		{reason: "The same version is not read again.", change: func() {}, want: map[string][]byte{"k": []byte("1")}, reads: 1},
		{
			reason: "A new version is read.",
			change: func() {
				stored.ResourceVersion = "2"
				stored.Data = map[string][]byte{"k": []byte("2")}
			},
			want: map[string][]byte{"k": []byte("2")}, reads: 2,
		},
		{reason: "A Secret that was recreated with the same name is read again.", change: func() { stored.UID = "2" }, want: map[string][]byte{"k": []byte("2")}, reads: 3},
		{reason: "A deleted Secret is not served from memory.", change: func() { stored = nil }, reads: 3, err: "Secret n/s does not exist"},
	}
	for _, s := range steps {
		s.change()
		got, err := r.Get(t.Context(), "n", "s")
		text := ""
		if err != nil {
			text = err.Error()
		}
		if diff := cmp.Diff(s.want, got); diff != "" || reads != s.reads || text != s.err {
			t.Errorf("\n%s\nGet(...): error %q, %d reads, -want, +got:\n%s", s.reason, text, reads, diff)
		}
		if gone := (*config.MissingError)(nil); errors.As(err, &gone) != (s.err != "") {
			t.Errorf("\n%s\nGet(...): what is missing must be told apart: %v", s.reason, err)
		}
	}
}

func TestValues(t *testing.T) {
	reads := 0
	metadata := &test.MockClient{MockGet: func(_ context.Context, _ client.ObjectKey, obj client.Object) error {
		obj.(*metav1.PartialObjectMetadata).ObjectMeta = metav1.ObjectMeta{UID: "u", ResourceVersion: "7"}
		return nil
	}}
	content := &test.MockClient{MockGet: func(_ context.Context, _ client.ObjectKey, obj client.Object) error {
		reads++
		meta := metav1.ObjectMeta{UID: "u", ResourceVersion: "7"}
		switch o := obj.(type) {
		case *corev1.Secret:
			o.ObjectMeta, o.Data = meta, map[string][]byte{"k": []byte("secret")}
		case *corev1.ConfigMap:
			o.ObjectMeta, o.Data, o.BinaryData = meta, map[string]string{"k": "text"}, map[string][]byte{"b": []byte("binary")}
		}
		return nil
	}}
	r := NewReader(metadata, content)
	for range 2 {
		for kind, want := range map[string]map[string][]byte{
			"Secret":    {"k": []byte("secret")},
			"ConfigMap": {"k": []byte("text"), "b": []byte("binary")},
		} {
			got, id, err := r.Values(t.Context(), kind, "n", "same")
			if diff := cmp.Diff(want, got); diff != "" || id != "u/7" || err != nil {
				t.Errorf("Values(%s): %q, %v, -want, +got:\n%s", kind, id, err, diff)
			}
		}
	}
	if reads != 2 {
		t.Errorf("each must be read once, there were %d reads", reads)
	}
	if _, _, err := r.Values(t.Context(), "Pod", "n", "same"); err == nil {
		t.Error("nothing else has values")
	}
}
