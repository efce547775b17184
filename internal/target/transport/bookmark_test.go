// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

// eventOf returns an event of a watch of metadata in protobuf, as an API server encodes it.
func eventOf(t testing.TB, event watch.EventType, kind, version string) string {
	t.Helper()
	m := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version, UID: types.UID("0b9c2a1e")}}
	raw, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: kind}, Raw: raw}
	if raw, err = u.Marshal(); err != nil {
		t.Fatal(err)
	}
	e := metav1.WatchEvent{Type: string(event), Object: runtime.RawExtension{Raw: append([]byte("k8s\x00"), raw...)}}
	if raw, err = e.Marshal(); err != nil {
		t.Fatal(err)
	}
	return frame(string(raw))
}

const bookmarkOfDeployment = `{"type":"BOOKMARK","object":{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"resourceVersion":"7"},` +
	`"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}}` + "\n"

// TestBookmarkVersion checks which data is one bookmark.
func TestBookmarkVersion(t *testing.T) {
	cases := map[string]struct {
		reason, data, want string
	}{
		"JSON":         {reason: "A bookmark of a watch of whole objects is in JSON.", data: bookmarkOfDeployment, want: "7"},
		"Protobuf":     {reason: "A bookmark of a watch of metadata is in protobuf.", data: eventOf(t, watch.Bookmark, "PartialObjectMetadata", "7"), want: "7"},
		"Two":          {reason: "Of two bookmarks, the second one would be lost.", data: bookmarkOfDeployment + bookmarkOfDeployment},
		"TwoMessages":  {reason: "Of two bookmarks, the second one would be lost.", data: strings.Repeat(eventOf(t, watch.Bookmark, "PartialObjectMetadata", "7"), 2)},
		"Half":         {reason: "The rest of a bookmark follows.", data: bookmarkOfDeployment[:40]},
		"HalfMessage":  {reason: "The rest of a bookmark follows.", data: eventOf(t, watch.Bookmark, "PartialObjectMetadata", "7")[:40]},
		"Event":        {reason: "An event must be read.", data: strings.Replace(bookmarkOfDeployment, "BOOKMARK", "MODIFIED", 1)},
		"EventMessage": {reason: "An event must be read.", data: eventOf(t, watch.Modified, "PartialObjectMetadata", "7")},
		"Kind":         {reason: "Objects of other kinds can have other fields.", data: eventOf(t, watch.Bookmark, "Secret", "7")},
		"Twice":        {reason: "The last type counts.", data: `{"type":"BOOKMARK","type":"DELETED","object":{"metadata":{"resourceVersion":"7"}}}` + "\n"},
		"NoVersion":    {reason: "Without a version, there is nothing to resume from.", data: `{"type":"BOOKMARK","object":{}}` + "\n"},
		"Invalid":      {reason: "Invalid data must be read, and reported.", data: `{"type":"BOOKMARK","object":7}` + "\n"},
		"Large":        {reason: "A large event must be read within the budget.", data: `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}` + strings.Repeat(" ", mostBookmark) + "}\n"},
		"Short":        {reason: "There may be little data."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, bookmarkVersion([]byte(tc.data))); diff != "" {
				t.Errorf("\n%s\nbookmarkVersion(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// FuzzBookmarkVersion checks that any data takes a limited amount of time and memory, while a connection is locked.
func FuzzBookmarkVersion(f *testing.F) {
	f.Add([]byte(bookmarkOfDeployment))
	f.Add([]byte(eventOf(f, watch.Bookmark, "PartialObjectMetadata", "7")))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 10, PerByte: 1 << 8}, min(len(data), mostBookmark))()
		bookmarkVersion(data)
	})
}

// BenchmarkBookmark measures what a bookmark costs while a watch is idle.
func BenchmarkBookmark(b *testing.B) {
	for name, data := range map[string]string{"JSON": bookmarkOfDeployment, "Protobuf": eventOf(b, watch.Bookmark, "PartialObjectMetadata", "7")} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bookmarkVersion([]byte(data))
			}
		})
	}
}
