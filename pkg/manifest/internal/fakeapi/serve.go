// SPDX-License-Identifier: Apache-2.0

package fakeapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A request is a request for an object, or for a collection if the name is empty.
type request struct {
	method  string
	gvk     schema.GroupVersionKind
	mapping cluster.Mapping
	ref     cluster.ObjectRef
	query   url.Values
	header  http.Header
	body    []byte
}

// ErrPage is the response of a web server that serves nothing at a path.
var ErrPage = errors.New("404 page not found")

// answer returns the status code and the body of the response to a request. The error is a connection error.
func (c *Cluster) answer(r *http.Request, body []byte) (int, []byte, error) {
	q := &request{method: r.Method, query: r.URL.Query(), header: r.Header, body: body}
	c.mu.Lock()
	document, line := c.discovery(r.URL.Path), "discover "+r.URL.Path
	asks := isDiscovery(r.URL.Path)
	if !asks {
		c.route(q, r.URL.Path)
		line = q.line()
	}
	c.log = append(c.log, line)
	c.mu.Unlock()
	if c.Meet != nil {
		if err := c.Meet(line); err != nil {
			return failure(err)
		}
	}
	switch {
	case asks && document == nil:
		return failure(ErrPage)
	case asks:
		return encode(document)
	}
	code, b, err := c.serve(q, r.URL.Path)
	if c.Left != nil && err == nil {
		err = c.Left(line)
	}
	return code, b, err
}

// serve executes a request. Other clients may have acted since it was logged.
func (c *Cluster) serve(r *request, path string) (int, []byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.route(r, path) {
		return failure(ErrPage)
	}
	existed := c.objects[r.ref] != nil
	v, err := c.do(r)
	if err != nil {
		return failure(err)
	}
	code, b, err := encode(v)
	if !existed && r.isApply() {
		code = http.StatusCreated
	}
	return code, b, err
}

func encode(v any) (int, []byte, error) {
	b, err := json.Marshal(v)
	return http.StatusOK, b, err
}

// failure returns the response for an error.
func failure(err error) (int, []byte, error) {
	if errors.Is(err, ErrPage) {
		return http.StatusNotFound, []byte(ErrPage.Error()), nil
	}
	s := kerrors.APIStatus(nil)
	if !errors.As(err, &s) {
		return 0, nil, err
	}
	st := s.Status()
	st.TypeMeta, st.Status = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, metav1.StatusFailure
	b, err := json.Marshal(st)
	return int(st.Code), b, err
}

// line returns the log line of the request.
func (r *request) line() string {
	verb := strings.ToLower(r.method)
	switch {
	case r.method == http.MethodGet && r.ref.Name == "":
		verb = "list"
	case r.method == http.MethodGet && r.wantsMetadata():
		verb = "metadata"
	case r.method == http.MethodPost:
		verb = "create"
	case r.isApply():
		verb = r.applyVerb()
	}
	if r.isDryRun() {
		verb = "try " + verb
	}
	return verb + " " + strings.TrimRight(r.ref.String(), " /")
}

// applyVerb returns the verb of a server-side apply in the log.
func (r *request) applyVerb() string {
	verb, u := "apply", &unstructured.Unstructured{}
	switch {
	case u.UnmarshalJSON(r.body) != nil:
	case u.GetUID() != "" && u.GetResourceVersion() == "":
		// An object that exists is applied with its UID.
	case u.GetUID() != "":
		verb += " at"
	case u.GetResourceVersion() != "":
		return verb + " new"
	}
	if r.query.Get("force") != "true" {
		verb += " unforced"
	}
	return verb
}

func (r *request) wantsMetadata() bool {
	return strings.Contains(r.header.Get("Accept"), "as=PartialObjectMetadata")
}
func (r *request) isDryRun() bool { return r.query.Get("dryRun") != "" }
func (r *request) isApply() bool {
	return r.method == http.MethodPatch && strings.HasPrefix(r.header.Get("Content-Type"), "application/apply-patch")
}

// route parses a path such as /api/v1/namespaces/NS/RESOURCE/NAME into r. It reports whether the kind is served.
func (c *Cluster) route(r *request, path string) bool {
	p := strings.Split(strings.Trim(path, "/"), "/")
	gv := schema.GroupVersion{Version: p[1]}
	if p[0] == "apis" {
		gv = schema.GroupVersion{Group: p[1], Version: p[2]}
		p = p[1:]
	}
	p = p[2:]
	r.gvk, r.ref = schema.GroupVersionKind{}, cluster.ObjectRef{Group: gv.Group}
	if p[0] == "namespaces" && len(p) > 2 {
		r.ref.Namespace = p[1]
		p = p[2:]
	}
	if len(p) > 1 {
		r.ref.Name = p[1]
	}
	r.ref.Kind = p[0]
	for gvk, m := range servedBy(c.objects) {
		if gvk.GroupVersion() == gv && m.Resource == p[0] {
			r.gvk, r.mapping, r.ref.Kind = gvk, m, gvk.Kind
		}
	}
	if r.method == http.MethodPost && r.ref.Name == "" {
		u := &unstructured.Unstructured{}
		if u.UnmarshalJSON(r.body) == nil {
			r.ref.Name = u.GetName() + u.GetGenerateName()
		}
	}
	return r.gvk.Kind != ""
}

// isDiscovery reports whether a path is the path of a discovery document.
func isDiscovery(path string) bool {
	p := strings.Split(strings.Trim(path, "/"), "/")
	return len(p) <= 2 || p[0] == "apis" && len(p) == 3
}

// discovery returns the discovery document at a path, or nil if there is none.
func (c *Cluster) discovery(path string) any {
	groups, p := metav1.APIGroupList{}, strings.Split(strings.Trim(path, "/"), "/")
	groups.Kind = "APIGroupList"
	list := metav1.APIResourceList{GroupVersion: strings.Join(p[1:], "/")}
	list.Kind = "APIResourceList"
	for gvk, m := range servedBy(c.objects) {
		if gvk.GroupVersion().String() == list.GroupVersion {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: m.Resource, Kind: gvk.Kind, Namespaced: m.Namespaced})
		}
		groups.Groups = append(groups.Groups, metav1.APIGroup{
			Name: gvk.Group, Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: gvk.GroupVersion().String(), Version: gvk.Version}},
		})
	}
	switch {
	case path == "/apis":
		return groups
	case len(list.APIResources) > 0:
		return list
	}
	return nil
}

// do executes a request.
func (c *Cluster) do(r *request) (any, error) {
	var u *unstructured.Unstructured
	var err error
	switch {
	case r.method == http.MethodGet && r.ref.Name == "":
		return c.list(r)
	case r.method == http.MethodGet:
		u, err = c.live(r)
	case r.method == http.MethodDelete:
		return c.remove(r)
	case r.isApply():
		u, err = c.apply(r)
	case r.method == http.MethodPatch && r.header.Get("Content-Type") == mergePatch:
		u, err = c.merge(r)
	case r.method == http.MethodPatch:
		u, err = c.patch(r)
	default:
		u, err = c.write(r)
	}
	if err != nil {
		return nil, err
	}
	if r.wantsMetadata() {
		return metadataOf(u), nil
	}
	return inVersion(u, r.gvk.GroupVersion()), nil
}

func metadataOf(u *unstructured.Unstructured) map[string]any {
	return map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": u.Object["metadata"]}
}

// live returns the object to which a request refers.
func (c *Cluster) live(r *request) (*unstructured.Unstructured, error) {
	if u := c.objects[r.ref]; u != nil {
		return u, nil
	}
	return nil, kerrors.NewNotFound(r.resource(), r.ref.Name)
}

func (r *request) resource() schema.GroupResource {
	return schema.GroupResource{Group: r.gvk.Group, Resource: r.mapping.Resource}
}

// list returns a page of the objects of a kind.
func (c *Cluster) list(r *request) (any, error) {
	selector, err := labels.Parse(r.query.Get("labelSelector"))
	if err != nil {
		return nil, kerrors.NewBadRequest(err.Error())
	}
	var refs []cluster.ObjectRef
	for ref, u := range c.objects {
		inside := r.ref.Namespace == "" || ref.Namespace == r.ref.Namespace
		if inside && ref.GroupKind() == r.gvk.GroupKind() && selector.Matches(labels.Set(u.GetLabels())) {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, func(a, b cluster.ObjectRef) int { return strings.Compare(a.String(), b.String()) })
	from, _ := strconv.Atoi(r.query.Get("continue"))
	limit, _ := strconv.Atoi(r.query.Get("limit"))
	meta := map[string]any{"resourceVersion": strconv.Itoa(c.revision)}
	refs = refs[min(from, len(refs)):]
	if left := len(refs); limit > 0 && left > limit {
		refs = refs[:limit]
		meta["continue"] = strconv.Itoa(from + limit)
		if selector.Empty() {
			meta["remainingItemCount"] = left - limit
		}
	}
	items := []any{}
	for _, ref := range refs {
		u := inVersion(c.objects[ref], r.gvk.GroupVersion())
		if r.wantsMetadata() {
			items = append(items, metadataOf(u))
			continue
		}
		items = append(items, u.Object)
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "metadata": meta, "items": items}, nil
}

// remove deletes an object, or marks it as being deleted if it has finalizers.
func (c *Cluster) remove(r *request) (any, error) {
	u, err := c.live(r)
	if err != nil {
		return nil, err
	}
	opts := &metav1.DeleteOptions{}
	if err := json.Unmarshal(r.body, opts); err != nil {
		return nil, kerrors.NewBadRequest(err.Error())
	}
	if p := opts.Preconditions; p != nil && p.UID != nil && *p.UID != u.GetUID() {
		return nil, otherUID(r)
	}
	if p := opts.Preconditions; p != nil && p.ResourceVersion != nil && *p.ResourceVersion != u.GetResourceVersion() {
		return nil, modified(r)
	}
	if c.terminate(r.ref) {
		return metadataOf(c.objects[r.ref]), nil
	}
	return metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess}, nil
}
