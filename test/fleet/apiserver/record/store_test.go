// SPDX-License-Identifier: Apache-2.0

package record

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var things = schema.GroupResource{Group: "example.org", Resource: "things"}

func object(name, value string) map[string]any {
	return map[string]any{
		"apiVersion": "example.org/v1", "kind": "Thing", "spec": map[string]any{"value": value, "n": int64(1)},
		"metadata": map[string]any{
			"name": name, "uid": "u", "generation": int64(2), "creationTimestamp": "2026-01-02T03:04:05Z", "labels": map[string]any{"a": "b"},
			"managedFields": []any{map[string]any{"manager": "m", "time": "2026-01-02T03:04:06Z", "fieldsV1": map[string]any{"f:spec": map[string]any{}}}},
		},
	}
}

func key(name string) Key { return Key{GroupResource: things, Namespace: "n", Name: name} }

func put(t *testing.T, s *Store, name, value string) *Record {
	t.Helper()
	r, err := s.Put(key(name), func(version uint64) (*Record, error) {
		o := object(name, value)
		o["metadata"].(map[string]any)["resourceVersion"] = strconv.FormatUint(version, 10)
		return New(o)
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRecord checks that a record returns the object that it was made of.
func TestRecord(t *testing.T) {
	want := object("a", "x")
	want["metadata"].(map[string]any)["resourceVersion"] = "7"
	r, err := New(want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, r.Object()); diff != "" {
		t.Errorf("Object(): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "b"}, r.Labels()); diff != "" {
		t.Errorf("Labels(): -want, +got:\n%s", diff)
	}
}

// TestListAt checks that a list shows an earlier version as long as the history is known.
func TestListAt(t *testing.T) {
	s := NewStore(4)
	first := put(t, s, "a", "1").Version()
	put(t, s, "b", "1")
	put(t, s, "a", "2")
	s.Delete(key("b"))
	names := func(version uint64) (out []string) {
		keys, records, _, ok := s.List(things, "", version)
		if !ok {
			return []string{"unknown"}
		}
		for i, k := range keys {
			out = append(out, k.Name+records[i].Object()["spec"].(map[string]any)["value"].(string))
		}
		return out
	}
	cases := map[string]struct {
		reason  string
		version uint64
		want    []string
	}{
		"Latest": {reason: "Version 0 is the latest one.", want: []string{"a2"}},
		"First":  {reason: "Later changes are undone.", version: first, want: []string{"a1"}},
		"Middle": {reason: "A deleted object is still there.", version: first + 2, want: []string{"a2", "b1"}},
		"Future": {reason: "A version that does not exist yet is unknown.", version: first + 9, want: []string{"unknown"}},
		"Before": {reason: "A version before the first one is unknown.", version: 1, want: []string{"unknown"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, names(tc.version)); diff != "" {
				t.Errorf("%s\nList(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	put(t, s, "c", "1")
	if diff := cmp.Diff([]string{"unknown"}, names(first-1)); diff != "" {
		t.Errorf("the history must be bounded: -want, +got:\n%s", diff)
	}
}

// TestSince checks that watchers are woken for their resource, and that forgotten events are an error.
func TestSince(t *testing.T) {
	s := NewStore(4)
	woken, stop := s.Watch(things)
	others, stopOthers := s.Watch(schema.GroupResource{Resource: "others"})
	defer stopOthers()
	start := s.Version()
	for i := range 3 {
		put(t, s, "a", strconv.Itoa(i))
	}
	<-woken
	select {
	case <-others:
		t.Error("a watcher of another resource was woken")
	default:
	}
	events, latest, ok := s.Since(things, start)
	if len(events) != 3 || latest != s.Version() || !ok {
		t.Errorf("Since(...): got %d events, version %d, %t", len(events), latest, ok)
	}
	stop()
	for i := range 3 {
		put(t, s, "a", strconv.Itoa(i))
	}
	if _, _, ok := s.Since(things, start); ok {
		t.Error("events that are forgotten must be an error")
	}
	s.Expire()
	if _, _, ok := s.Since(things, s.Version()); !ok {
		t.Error("the latest version must stay known")
	}
}
