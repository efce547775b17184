// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster/connect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/forward"
)

// A recorded call has the parts of the response from which later calls can take versions and UIDs.
type recordedCall struct {
	call

	response *tee
}

// A tee keeps a copy of a response.
type tee struct {
	http.ResponseWriter

	code int
	body bytes.Buffer
}

// WriteHeader sends the headers.
func (t *tee) WriteHeader(code int) {
	t.code = code
	t.ResponseWriter.WriteHeader(code)
}

// Write sends a part of the body.
func (t *tee) Write(b []byte) (int, error) {
	_, _ = t.body.Write(b) // It returns no error.
	return t.ResponseWriter.Write(b)
}

// Unwrap returns the writer of the HTTP server.
func (t *tee) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// A tape records the calls to an API server, in the order in which they begin. A call after the creation of a CRD begins when the CRD is
// established.
type tape struct {
	mu    sync.Mutex
	calls []recordedCall
	// created is the path of a CRD that may not be established.
	created string
}

// record returns a handler that records the calls to another one.
func (r *tape) record(to http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		// The transport of the proxy decompresses responses that it has asked for.
		req.Header.Del("Accept-Encoding")
		out := &tee{ResponseWriter: w}
		c := call{
			method: req.Method, path: req.URL.RequestURI(), body: string(body),
			media: req.Header.Get("Content-Type"), accept: req.Header.Get("Accept"), agent: req.UserAgent(),
		}
		r.mu.Lock()
		for begin := time.Now(); r.created != "" && time.Since(begin) < establishing; time.Sleep(20 * time.Millisecond) {
			crd := httptest.NewRecorder()
			to.ServeHTTP(crd, httptest.NewRequestWithContext(req.Context(), http.MethodGet, r.created, nil))
			if strings.Contains(crd.Body.String(), established) {
				r.created = ""
			}
		}
		isLate := r.created != ""
		r.calls = append(r.calls, recordedCall{call: c, response: out})
		r.mu.Unlock()
		if isLate {
			http.Error(w, "a CRD is not established in time", http.StatusGatewayTimeout)
			return
		}
		to.ServeHTTP(out, req)
		if c.createsCRD() {
			r.mu.Lock()
			r.created = req.URL.Path
			r.mu.Unlock()
		}
	})
}

// established is in the JSON of a CRD that is established, and establishing is how long that may take.
const (
	established  = `"Established"`
	establishing = 10 * time.Second
)

func (c call) createsCRD() bool {
	return c.method == http.MethodPatch && strings.Contains(c.path, "/customresourcedefinitions/")
}

var (
	// versionInText matches a version in the query or in the JSON of a request, and watchTime the duration of a watch.
	versionInText = regexp.MustCompile(`(resourceVersion(?:=|":\s*"))(\d+)`)
	watchTime     = regexp.MustCompile(`timeoutSeconds=\d+`)
)

// script returns the recorded calls in a form for any server: versions and UIDs of earlier responses are replaced by their names, and a
// watch takes a second.
func (r *tape) script(t *testing.T, namespace string) []recordedCall {
	t.Helper()
	n := newNormalizer(namespace)
	out := make([]recordedCall, 0, len(r.calls))
	for _, recorded := range r.calls {
		c := recorded.call
		generic := func(s string) string {
			s = versionInText.ReplaceAllStringFunc(s, func(m string) string {
				parts := versionInText.FindStringSubmatch(m)
				if i := slices.Index(n.versions, parts[2]); i >= 0 {
					return fmt.Sprintf("%s$RV.%d", parts[1], i)
				}
				return m
			})
			return uidPattern.ReplaceAllStringFunc(s, func(uid string) string {
				if i := slices.Index(n.uids, uid); i >= 0 {
					return fmt.Sprintf("$UID.%d", i)
				}
				return uid
			})
		}
		c.path, c.body = watchTime.ReplaceAllString(generic(c.path), "timeoutSeconds=1"), generic(c.body)
		if strings.HasPrefix(c.path, "/version") {
			c.ignore = builds
		}
		out = append(out, recordedCall{call: c, response: recorded.response})
		if c.isWatch() {
			continue // The other responses have all versions that a call needs.
		}
		body, err := decode(recorded.response.Header().Get("Content-Type"), recorded.response.body.Bytes(), false)
		if err != nil {
			t.Fatalf("%s %s: %v", c.method, c.path, err)
		}
		n.normalize(answer{code: recorded.response.code, body: body}, c)
	}
	return out
}

// builds are the fields of a version that describe the build of the server.
var builds = []string{"buildDate", "compiler", "emulationMajor", "emulationMinor", "gitCommit", "goVersion", "minCompatibilityMajor", "minCompatibilityMinor"}

func (c call) isWatch() bool { return strings.Contains(c.path, "watch=true") }

// recordLife installs, upgrades and removes a module with the engine of the provider, and returns its calls.
func recordLife(t *testing.T, of *rest.Config, namespace string) []recordedCall {
	t.Helper()
	to, err := forward.To(of)
	if err != nil {
		t.Fatal(err)
	}
	tape := &tape{}
	server := httptest.NewServer(tape.record(to))
	defer server.Close()
	c, err := connect.New(&rest.Config{Host: server.URL, UserAgent: "provider-kyma/v1"})
	if err != nil {
		t.Fatal(err)
	}
	e := manifest.New(manifest.WithConcurrency(1))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, version := range []string{"1.0.0", "2.0.0", "2.0.0"} {
		if _, err := e.Install(ctx, c, kindsOf(namespace, version)); err != nil {
			t.Fatalf("cannot install %s: %v", version, err)
		}
	}
	if _, err := e.Uninstall(ctx, c, kindsOf(namespace, "2.0.0")); err != nil {
		t.Fatalf("cannot remove: %v", err)
	}
	c.Close()
	server.Close()
	return tape.script(t, namespace)
}

// kindsOf returns a bundle of a chart with all kinds of objects that the engine treats in a way of their own. Version 2.0.0 has a Service less.
func kindsOf(namespace, version string) *manifest.Bundle {
	group := namespace + ".example.org"
	files := []source.File{
		{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: kinds\nversion: " + version + "\n")},
		{Name: "crds/widgets.yaml", Data: fmt.Appendf(nil, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.%[1]s}
spec:
  group: %[1]s
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, group)},
		{Name: "templates/objects.yaml", Data: fmt.Appendf(nil, `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {version: %[1]q}
---
apiVersion: v1
kind: Secret
metadata: {name: settings}
stringData: {version: %[1]q}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: runner}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[3]s}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.org/web:%[1]s"}]}
---
apiVersion: %[2]s/v1
kind: Widget
metadata: {name: default}
spec: {version: %[1]q}
{{- if eq .Chart.Version "1.0.0" }}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}], selector: {app: web}}
{{- end }}
`, version, group, namespace)},
	}
	layer := source.Layer{Digest: version, Fetch: func(context.Context) (source.Content, error) {
		return source.Content{Digest: version, Files: func() ([]source.File, error) { return files, nil }}, nil
	}}
	return &manifest.Bundle{
		Name: namespace, Owner: "a test", Installs: []manifest.Install{{Layer: layer, Name: "web", Namespace: namespace}},
	}
}

// TestRecordedCalls records the calls of the engine to a simulated cluster, sends them to another one and to a real one, and compares the
// responses.
func TestRecordedCalls(t *testing.T) {
	s, err := apiserver.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	if err := s.AddCluster("recorded"); err != nil {
		t.Fatal(err)
	}
	namespace := "replay-" + rand.String(8)
	calls := recordLife(t, s.Config("recorded"), namespace)
	want, got := replay(t, actual, namespace, calls), replay(t, simulated, namespace, calls)
	verbs := map[string]int{}
	for i, c := range calls {
		verbs[c.method]++
		if diff := cmp.Diff(want[i], got[i]); diff != "" {
			t.Errorf("call %d: %s %s: -real, +simulated:\n%s", i, c.method, c.path, diff)
		}
	}
	t.Logf("%d calls: %v", len(calls), verbs)
	for _, verb := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if verbs[verb] == 0 {
			t.Errorf("no call with %s was recorded", verb)
		}
	}
	if unknown := append(s.Unknown(), simulator.Unknown()...); len(unknown) > 0 {
		t.Errorf("calls that are not implemented: %v", unknown)
	}
}

// replay sends calls to a server and returns the normalized responses, without the objects of other tests.
func replay(t *testing.T, s side, namespace string, calls []recordedCall) []any {
	t.Helper()
	// sent has the names in the order of the script, which knows no response of a watch.
	n, sent := newNormalizer(namespace), newNormalizer(namespace)
	out := make([]any, 0, len(calls))
	for _, c := range calls {
		a := s.repeat(t, sent, c)
		if events, ok := a.body.([]any); ok {
			a.body = own(events, namespace)
		}
		if document, ok := a.body.(map[string]any); ok {
			for _, field := range []string{"items", "groups", "resources"} {
				if elements, ok := document[field].([]any); ok {
					document[field] = own(elements, namespace)
				}
			}
		}
		if !c.isWatch() {
			sent.normalize(a, c.call)
		}
		out = append(out, n.normalize(a, c.call))
		if c.createsCRD() {
			path, _, _ := strings.Cut(c.path, "?")
			s.answer(t, n, get(path).awaiting(established))
		}
	}
	return out
}

// repeat sends a call until its response has the recorded status code, because a server needs some time to serve a new kind.
func (s side) repeat(t *testing.T, n *normalizer, c recordedCall) answer {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		a, _, err := s.send(t.Context(), n, c.call)
		if err != nil {
			t.Fatal(err)
		}
		if a.code == c.response.code || a.code != http.StatusNotFound && a.code != http.StatusTooManyRequests || time.Since(begin) > establishing {
			return a
		}
	}
}

// own returns the objects, events or kinds without those of other tests. Bookmarks and errors belong to none.
func own(of []any, namespace string) []any {
	return slices.DeleteFunc(of, func(e any) bool {
		m, _ := e.(map[string]any)
		delete(m, "storageVersionHash")
		return m["type"] != any("BOOKMARK") && m["type"] != any("ERROR") && !strings.Contains(fmt.Sprint(e), namespace)
	})
}
