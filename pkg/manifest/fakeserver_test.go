// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A fakeServer implements the parts of the Kubernetes API that the engine uses. Its responses are the same as those of a real
// API server to the same requests.
type fakeServer struct {
	mu      sync.Mutex
	objects map[cluster.ObjectRef]*fakeObject
	rv, uid int
	// step is the distance between two versions, 1 if it is zero, so that versions after a restore are unique.
	step int
	log  []string
	// fault answers a request instead of the server, if it is not nil and returns a status.
	fault func(verb string, k cluster.ObjectRef) *metav1.Status
	// page answers a request instead of the server, if it is not nil and returns true. The answer is not one of an API server.
	page func(w http.ResponseWriter, r *http.Request) bool
	// logs of pods, by name.
	logs map[string]string
	// made counts how often each object was created, and runs how often each hook was, by the ID of its run.
	made map[cluster.ObjectRef]int
	runs map[string]int
	// cluster is the UID of the cluster, or empty if it cannot be read. clusterErr is the error that is returned when the UID
	// is requested.
	cluster    string
	clusterErr error
	// fixed selects the objects that cannot be changed; nil for none.
	fixed func(k cluster.ObjectRef) bool
	// unready leaves objects without a status, if their kind has one.
	unready bool
}

// A fakeObject is stored without managedFields, which are built from owners.
type fakeObject struct {
	content map[string]any
	owners  map[string]*fieldpath.Set // By manager and operation, as name/operation.
}

func (o *fakeObject) u() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: o.content}
}

type fakeKind struct {
	schema.GroupVersionKind
	cluster.Mapping
}

var fakeKinds = func() []fakeKind {
	add := func(group, version, kind, resource string, namespaced bool) fakeKind {
		return fakeKind{schema.GroupVersionKind{Group: group, Version: version, Kind: kind}, cluster.Mapping{Resource: resource, Namespaced: namespaced}}
	}
	return []fakeKind{
		add("", "v1", "Namespace", "namespaces", false),
		add("", "v1", "ConfigMap", "configmaps", true),
		add("", "v1", "Secret", "secrets", true),
		add("", "v1", "Service", "services", true),
		add("", "v1", "ServiceAccount", "serviceaccounts", true),
		add("", "v1", "Pod", "pods", true),
		add("batch", "v1", "Job", "jobs", true),
		add("apps", "v1", "Deployment", "deployments", true),
		add("autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true),
		add("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true),
		add("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false),
		add("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false),
	}
}()

func newFakeServer() *fakeServer {
	s := &fakeServer{objects: map[cluster.ObjectRef]*fakeObject{}, made: map[cluster.ObjectRef]int{}, runs: map[string]int{}, rv: 100}
	for _, n := range []string{"default", "kube-system"} {
		s.store(cluster.ObjectRef{Kind: "Namespace", Name: n}, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": n}})
	}
	return s
}

// kinds returns the kinds that are served: built-in ones, and those of established CRDs.
func (s *fakeServer) kinds() []fakeKind {
	out := slices.Clone(fakeKinds)
	for k, o := range s.objects {
		if k.GroupKind() == object.CRDKind && health.StateOf(DefaultFieldManager, o.u()).Status == cluster.Current {
			for gvk, m := range object.ServedKinds(o.u()) {
				out = append(out, fakeKind{gvk, m})
			}
		}
	}
	return out
}

// store adds a new object.
func (s *fakeServer) store(k cluster.ObjectRef, content map[string]any) *fakeObject {
	o := &fakeObject{content: content, owners: map[string]*fieldpath.Set{}}
	s.uid++
	s.made[k]++
	if run := o.u().GetAnnotations()[object.AnnotationHookRun]; run != "" {
		s.runs[run]++
	}
	o.u().SetUID(types.UID(fmt.Sprintf("uid-%d", s.uid)))
	o.u().SetGeneration(1)
	s.objects[k] = o
	if !s.unready {
		setReadyStatus(o.u())
	}
	s.touch(o)
	return o
}

func (s *fakeServer) touch(o *fakeObject) {
	s.advance()
	o.u().SetResourceVersion(strconv.Itoa(s.rv))
}

// advance raises the version.
func (s *fakeServer) advance() { s.rv += max(s.step, 1) }

// setReadyStatus sets the status that controllers would set.
func setReadyStatus(u *unstructured.Unstructured) {
	yes := func(types ...string) []any {
		var out []any
		for _, t := range types {
			out = append(out, map[string]any{"type": t, "status": "True", "reason": "NewReplicaSetAvailable"})
		}
		return out
	}
	switch u.GetKind() {
	case "Deployment":
		u.Object["status"] = map[string]any{
			"observedGeneration": int64(1), "replicas": int64(1), "updatedReplicas": int64(1), "readyReplicas": int64(1),
			"availableReplicas": int64(1), "conditions": yes("Available", "Progressing"),
		}
	case "Job":
		u.Object["status"] = map[string]any{"conditions": yes("SuccessCriteriaMet", "Complete")}
	case "Pod":
		u.Object["status"] = map[string]any{"phase": "Succeeded"}
	case "CustomResourceDefinition":
		u.Object["status"] = map[string]any{"conditions": yes("NamesAccepted", "Established")}
	}
}

// drop removes an object and everything that cannot exist without it.
func (s *fakeServer) drop(k cluster.ObjectRef) {
	o := s.objects[k]
	delete(s.objects, k)
	s.advance()
	for other := range s.objects {
		inside := k.Kind == "Namespace" && other.Namespace == k.Name
		if k.GroupKind() == object.CRDKind {
			for gvk := range object.ServedKinds(o.u()) {
				inside = inside || gvk.GroupKind() == other.GroupKind()
			}
		}
		if inside {
			delete(s.objects, other)
		}
	}
}

func (s *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	if s.page != nil && s.page(w, r) {
		return
	}
	if s.discover(w, r) {
		return
	}
	kind, k, ok := s.route(r.URL.Path)
	verb := strings.ToLower(r.Method)
	if k.Name == "" && verb != "post" {
		verb += "collection"
	}
	logged := verb
	if r.URL.Query().Get("dryRun") != "" {
		logged = "dry-run"
	}
	s.log = append(s.log, strings.TrimSpace(logged+" "+k.String()))
	if !ok {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	if s.fault != nil {
		if st := s.fault(verb, k); st != nil {
			reply(w, int(st.Code), st)
			return
		}
	}
	if strings.HasSuffix(r.URL.Path, "/log") {
		if s.logs[k.Name] == "" {
			http.Error(w, "404 page not found", http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, s.logs[k.Name])
		return
	}
	code, answer := s.do(verb, r, kind, k, body)
	reply(w, code, shaped(answer, r.Header.Get("Accept")))
}

func reply(w http.ResponseWriter, code int, v any) {
	if st, ok := v.(*metav1.Status); ok {
		st.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		if st.Code != 0 {
			code, st.Status = int(st.Code), "Failure"
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}

// shaped returns an object in the form that the client asked for.
func shaped(v any, accept string) any {
	m, ok := v.(map[string]any)
	if !ok || !strings.Contains(accept, "as=PartialObjectMetadata") {
		return v
	}
	items, list := m["items"].([]any)
	if list != strings.Contains(accept, "MetadataList") {
		return refusal(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, "you requested %s", accept)
	}
	if !list {
		return map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": m["metadata"]}
	}
	for i := range items {
		items[i] = map[string]any{"metadata": items[i].(map[string]any)["metadata"]}
	}
	return map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": m["metadata"], "items": items}
}

func refusal(code int32, reason metav1.StatusReason, format string, a ...any) *metav1.Status {
	return &metav1.Status{Code: code, Reason: reason, Message: fmt.Sprintf(format, a...)}
}

// route parses a path such as /api/v1/namespaces/NS/RESOURCE/NAME.
func (s *fakeServer) route(path string) (fakeKind, cluster.ObjectRef, bool) {
	p := strings.Split(strings.Trim(path, "/"), "/")
	gv := schema.GroupVersion{Version: p[1]}
	p, group := p[2:], p[0] == "apis"
	if group {
		gv = schema.GroupVersion{Group: gv.Version, Version: p[0]}
		p = p[1:]
	}
	k := cluster.ObjectRef{Group: gv.Group}
	if p[0] == "namespaces" && len(p) > 2 {
		k.Namespace = p[1]
		p = p[2:]
	}
	if len(p) > 1 {
		k.Name = p[1]
	}
	for _, kind := range s.kinds() {
		if kind.GroupVersion() == gv && kind.Resource == p[0] {
			k.Kind = kind.Kind
			return kind, k, true
		}
	}
	k.Kind = p[0]
	return fakeKind{}, k, false
}

func (s *fakeServer) do(verb string, r *http.Request, kind fakeKind, k cluster.ObjectRef, body []byte) (int, any) {
	q := r.URL.Query()
	switch verb {
	case "get":
		o := s.objects[k]
		if o == nil {
			return 0, notFound(kind.Resource, k.Name)
		}
		return http.StatusOK, o.full()
	case "getcollection", "deletecollection":
		limit, _ := strconv.Atoi(q.Get("limit"))
		from, _ := strconv.Atoi(q.Get("continue"))
		return s.list(kind, k.Namespace, q.Get("labelSelector"), from, limit, verb == "deletecollection")
	case "delete":
		return s.delete(kind, k, body)
	case "patch":
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json-patch") {
			return s.setOwners(kind, k, body)
		}
		if r.Header.Get("Content-Type") == ssa.MergePatch {
			return s.mergePatch(kind, k, body)
		}
		if q.Get("dryRun") != "" {
			return s.dryRun(k, func() (int, any) { return s.apply(kind, k, body, q.Get("fieldManager"), q.Get("force") == "true") })
		}
		return s.apply(kind, k, body, q.Get("fieldManager"), q.Get("force") == "true")
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(body); err != nil {
		return 0, refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%s", err)
	}
	k.Name = u.GetName()
	if st := s.admit(k); st != nil {
		return 0, st
	}
	old := s.objects[k]
	switch {
	case verb == "post" && old != nil:
		return 0, refusal(http.StatusConflict, metav1.StatusReasonAlreadyExists, "%s %q already exists", kind.Resource, k.Name)
	case verb == "put" && old == nil:
		return 0, notFound(kind.Resource, k.Name)
	case verb == "put" && u.GetResourceVersion() != "" && u.GetResourceVersion() != old.u().GetResourceVersion():
		return 0, refusal(http.StatusConflict, metav1.StatusReasonConflict, "Operation cannot be fulfilled on %s %q: the object has been modified", kind.Resource, k.Name)
	case verb == "put":
		u.SetUID(old.u().GetUID())
		old.content = u.Object
		s.touch(old)
		return http.StatusOK, old.full()
	}
	return http.StatusCreated, s.store(k, u.Object).full()
}

func notFound(resource, name string) *metav1.Status {
	st := refusal(http.StatusNotFound, metav1.StatusReasonNotFound, "%s %q not found", resource, name)
	st.Details = &metav1.StatusDetails{Kind: resource, Name: name}
	return st
}

// admit refuses a write if the namespace does not exist or, for a new object, is being deleted.
func (s *fakeServer) admit(k cluster.ObjectRef) *metav1.Status {
	if k.Namespace == "" {
		return nil
	}
	ns := s.objects[cluster.ObjectRef{Kind: "Namespace", Name: k.Namespace}]
	if ns == nil {
		return notFound("namespaces", k.Namespace)
	}
	if ns.u().GetDeletionTimestamp() != nil && s.objects[k] == nil {
		st := refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "%s is forbidden: unable to create new content in namespace %s because it is being terminated", k.Name, k.Namespace)
		st.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}}
		return st
	}
	return nil
}

func (s *fakeServer) list(kind fakeKind, namespace, selector string, from, limit int, remove bool) (int, any) {
	sel, err := labels.Parse(selector)
	if err != nil {
		return 0, refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%s", err)
	}
	var keys []cluster.ObjectRef
	for k, o := range s.objects {
		if k.GroupKind() == kind.GroupKind() && (namespace == "" || k.Namespace == namespace) && sel.Matches(labels.Set(o.u().GetLabels())) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b cluster.ObjectRef) int { return strings.Compare(a.String(), b.String()) })
	items, meta := []any{}, map[string]any{"resourceVersion": strconv.Itoa(s.rv)}
	for i, k := range keys[min(from, len(keys)):] {
		if limit > 0 && i == limit {
			meta["remainingItemCount"] = len(keys) - from - limit
			meta["continue"] = strconv.Itoa(from + limit)
			break
		}
		items = append(items, s.objects[k].full())
	}
	if remove {
		for _, k := range keys {
			s.drop(k)
		}
	}
	return http.StatusOK, map[string]any{"apiVersion": "v1", "kind": kind.Kind + "List", "metadata": meta, "items": items}
}
