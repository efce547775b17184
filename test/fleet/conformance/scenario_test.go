// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Media types of requests and responses.
const (
	jsonMedia    = "application/json"
	mergePatch   = "application/merge-patch+json"
	jsonPatch    = "application/json-patch+json"
	strategic    = "application/strategic-merge-patch+json"
	applyPatch   = "application/apply-patch+yaml"
	metadata     = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	metadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	protoMeta    = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	protoList    = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

// A call is a request. In the path and the body, $NS is the namespace of the scenario, and $name.uid, $name.rv, $name.name and
// $name.continue are fields of the metadata of the response of an earlier call. $RV.3 and $UID.3 are the fourth version and the fourth UID of
// all responses.
type call struct {
	method, path, body string
	// media is the type of the body, and accept that of the response. The default is JSON.
	media, accept string
	// as stores the response under a name.
	as string
	// until repeats the call until the response contains a text.
	until string
	// ignore lists paths of fields that are not compared, such as status.conditions.
	ignore []string
	// fuzzy compares only the status code and the reason of an error, because its message depends on the implementation.
	fuzzy bool
	token string
	agent string
}

func get(path string) call        { return call{method: http.MethodGet, path: path} }
func remove(path string) call     { return call{method: http.MethodDelete, path: path} }
func post(path, body string) call { return call{method: http.MethodPost, path: path, body: body} }
func put(path, body string) call  { return call{method: http.MethodPut, path: path, body: body} }

func patch(media, path, body string) call {
	return call{method: http.MethodPatch, path: path, body: body, media: media}
}

// apply returns a server-side apply by a manager.
func apply(manager, path, body string) call {
	return patch(applyPatch, path+"?fieldManager="+manager, body)
}

func force(manager, path, body string) call { return apply(manager+"&force=true", path, body) }

func (c call) named(as string) call          { c.as = as; return c }
func (c call) accepting(accept string) call  { c.accept = accept; return c }
func (c call) awaiting(text string) call     { c.until = text; return c }
func (c call) without(fields ...string) call { c.ignore = fields; return c }
func (c call) vaguely() call                 { c.fuzzy = true; return c }

// A scenario is a series of calls in a namespace of its own.
type scenario struct {
	reason string
	calls  []call
}

// run runs the scenarios on both servers and compares the responses.
func run(t *testing.T, scenarios map[string]scenario) {
	t.Helper()
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) {
			ns := "p-" + strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))
			calls := append([]call{post("/api/v1/namespaces", `{"metadata": {"name": "$NS"}}`)}, s.calls...)
			want, got := perform(t, actual, ns, calls), perform(t, simulated, ns, calls)
			for i, c := range calls {
				if diff := cmp.Diff(want[i], got[i]); diff != "" {
					t.Errorf("%s\ncall %d: %s %s: -real, +simulated:\n%s", s.reason, i, c.method, c.path, diff)
				}
			}
		})
	}
	if unknown := simulator.Unknown(); len(unknown) > 0 {
		t.Errorf("calls that are not implemented: %v", unknown)
	}
}

// perform sends calls to a server and returns the normalized responses.
func perform(t *testing.T, s side, ns string, calls []call) []any {
	t.Helper()
	n := newNormalizer(ns)
	var out []any
	for i, c := range calls {
		a := s.answer(t, n, c)
		if c.as != "" {
			n.save(c.as, a.body)
		}
		if i < len(calls) {
			out = append(out, n.normalize(a, c))
		}
	}
	return out
}

// An answer is a response: an object, or the events of a watch.
type answer struct {
	code  int
	media string
	body  any
}

func (s side) answer(t *testing.T, n *normalizer, c call) answer {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		a, raw, err := s.send(t.Context(), n, c)
		if err != nil {
			t.Fatal(err)
		}
		if c.until == "" || strings.Contains(raw, c.until) {
			return a
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s %s of %s: the response never contains %q: %s", c.method, c.path, s.host, c.until, raw)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (s side) send(ctx context.Context, n *normalizer, c call) (answer, string, error) {
	var body io.Reader
	if c.body != "" {
		body = strings.NewReader(n.expand(c.body))
	}
	r, err := http.NewRequestWithContext(ctx, c.method, s.host+n.expand(c.path), body)
	if err != nil {
		return answer{}, "", err
	}
	r.Header.Set("User-Agent", "conformance/v1")
	if c.agent != "" {
		r.Header.Set("User-Agent", c.agent)
	}
	r.Header.Set("Accept", jsonMedia)
	if c.accept != "" {
		r.Header.Set("Accept", c.accept)
	}
	if c.body != "" {
		r.Header.Set("Content-Type", jsonMedia)
		if c.media != "" {
			r.Header.Set("Content-Type", c.media)
		}
	}
	client := s.client
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
		client = s.anonymous
	}
	resp, err := client.Do(r)
	if err != nil {
		return answer{}, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, "", err
	}
	a := answer{code: resp.StatusCode, media: resp.Header.Get("Content-Type")}
	a.body, err = decode(a.media, b, strings.Contains(c.path, "watch=true"))
	return a, string(b), err
}

// decode decodes the body of a response.
func decode(media string, b []byte, isWatch bool) (any, error) {
	switch {
	case isWatch && strings.HasPrefix(media, "application/vnd.kubernetes.protobuf"):
		return decodeFrames(b)
	case strings.HasPrefix(media, "application/vnd.kubernetes.protobuf"):
		return decodeProto(b)
	case isWatch && media == jsonMedia:
		var events []any
		d := json.NewDecoder(bytes.NewReader(b))
		for d.More() {
			var e any
			if err := d.Decode(&e); err != nil {
				return nil, err
			}
			events = append(events, e)
		}
		return events, nil
	case strings.HasPrefix(media, jsonMedia):
		var v any
		err := json.Unmarshal(b, &v)
		return v, err
	}
	return string(b), nil
}
