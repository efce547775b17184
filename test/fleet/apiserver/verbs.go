// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/record"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/wire"
)

const (
	applyPatch = "application/apply-patch+yaml"
	// maxBody is the size of the largest request that an API server accepts.
	maxBody = 3 << 20
)

func (c *session) body() ([]byte, error) {
	b, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxBody))
	if e := (*http.MaxBytesError)(nil); errors.As(err, &e) {
		return nil, kerrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	if err != nil {
		return nil, kerrors.NewBadRequest(err.Error())
	}
	return b, nil
}

// object reads an object from the body, as JSON or YAML.
func (c *session) object() (map[string]any, error) {
	b, err := c.body()
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	media, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	switch media {
	case "", wire.JSON:
		err = utiljson.Unmarshal(b, &out)
	case "application/yaml":
		if b, err = yaml.YAMLToJSON(b); err == nil {
			err = utiljson.Unmarshal(b, &out)
		}
	default:
		return nil, c.unknownMedia(media)
	}
	if err != nil {
		return nil, kerrors.NewBadRequest(err.Error())
	}
	return out, nil
}

func (c *session) unknownMedia(media string) error {
	c.server.recordUnknown(c.verb + " with " + media)
	return kerrors.NewGenericServerResponse(http.StatusNotImplemented, c.verb, schema.GroupResource{}, "", errUnknown.Error(), 0, true)
}

func (c *session) options() cluster.Write {
	q := c.r.URL.Query()
	force, _ := strconv.ParseBool(q.Get("force")) // Anything else is false.
	return cluster.Write{Manager: managerOf(c.r), DryRun: slices.Contains(q["dryRun"], metav1.DryRunAll), Force: force}
}

func (c *session) write() error {
	object, err := c.object()
	if err != nil {
		return err
	}
	if c.verb == "create" {
		out, err := c.cluster.Create(c.target, object, c.options())
		return c.respond(http.StatusCreated, out, err)
	}
	out, err := c.cluster.Update(c.target, object, c.options())
	return c.respond(http.StatusOK, out, err)
}

func (c *session) apply() error {
	b, err := c.body()
	if err != nil {
		return err
	}
	w := c.options()
	o := &metav1.PatchOptions{FieldManager: c.r.URL.Query().Get("fieldManager"), Force: &w.Force, DryRun: c.r.URL.Query()["dryRun"]}
	if errs := validation.ValidatePatchOptions(o, types.ApplyYAMLPatchType); len(errs) > 0 {
		return kerrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "PatchOptions"}, "", errs)
	}
	object := map[string]any{}
	if b, err = yaml.YAMLToJSON(b); err == nil {
		err = utiljson.Unmarshal(b, &object)
	}
	if err != nil {
		return kerrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	out, created, err := c.cluster.Apply(c.target, object, w)
	code := http.StatusOK
	if created {
		code = http.StatusCreated
	}
	return c.respond(code, out, err)
}

func (c *session) patch() error {
	b, err := c.body()
	if err != nil {
		return err
	}
	media, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	out, err := c.cluster.Patch(c.target, types.PatchType(media), b, c.options())
	return c.respond(http.StatusOK, out, err)
}

// listOptions reads the options of a list or a watch.
func (c *session) listOptions() (cluster.ListOptions, error) {
	q := c.r.URL.Query()
	o := cluster.ListOptions{Continue: q.Get("continue"), Version: q.Get("resourceVersion"), Match: q.Get("resourceVersionMatch")}
	var err error
	if o.Labels, err = labels.Parse(q.Get("labelSelector")); err != nil {
		return o, kerrors.NewBadRequest(err.Error())
	}
	if o.Fields, err = fields.ParseSelector(q.Get("fieldSelector")); err != nil {
		return o, kerrors.NewBadRequest(err.Error())
	}
	if l := q.Get("limit"); l != "" {
		if o.Limit, err = strconv.Atoi(l); err != nil {
			return o, kerrors.NewBadRequest(err.Error())
		}
	}
	if q.Get("sendInitialEvents") != "" && o.Match != string(metav1.ResourceVersionMatchNotOlderThan) {
		return o, kerrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", field.ErrorList{field.Forbidden(
			field.NewPath("resourceVersionMatch"), "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")})
	}
	if o.Match != "" && o.Version == "" && q.Get("sendInitialEvents") == "" {
		return o, kerrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", field.ErrorList{field.Forbidden(
			field.NewPath("resourceVersionMatch"), "resourceVersionMatch is forbidden unless resourceVersion is provided")})
	}
	return o, nil
}

func (c *session) list() error {
	o, err := c.listOptions()
	if err != nil {
		return err
	}
	l, err := c.cluster.List(c.target, o)
	if err != nil {
		return err
	}
	return c.respondList(l)
}

func (c *session) respondList(l *cluster.List) error {
	items := make([]wire.Item, 0, len(l.Records))
	for _, r := range l.Records {
		items = append(items, c.listed(c.item(r, r.Version())))
	}
	meta := metav1.ListMeta{ResourceVersion: strconv.FormatUint(l.Version, 10), Continue: l.Continue, RemainingItemCount: l.Remaining}
	b, err := c.format.List(c.target.Kind.GroupVersion().WithKind(c.target.Kind.List), meta, c.target.Kind.Custom != nil, items)
	if err != nil {
		return err
	}
	write(c.w, c.format, http.StatusOK, b)
	return nil
}

// listed returns an item of a list. The type of built-in kinds is only in the list.
func (c *session) listed(i wire.Item) wire.Item {
	if c.target.Kind.Custom != nil {
		return i
	}
	body := i.Body
	i.Body = func() map[string]any {
		o := body()
		delete(o, "apiVersion")
		delete(o, "kind")
		return o
	}
	return i
}

// item returns an object in the version of the request, with a resource version.
func (c *session) item(r *record.Record, version uint64) wire.Item {
	v := strconv.FormatUint(version, 10)
	return wire.Item{
		Metadata: func() map[string]any {
			m := r.Metadata()
			m["resourceVersion"] = v
			return cluster.MetadataView(c.target.Kind, m)
		},
		Body: func() map[string]any {
			o := r.Object()
			o["apiVersion"] = c.target.Kind.GroupVersion().String()
			o["metadata"].(map[string]any)["resourceVersion"] = v //nolint:forcetypeassert // Each object has metadata.
			return o
		},
	}
}

// deleteOptions reads the options of a deletion.
func (c *session) deleteOptions() (*metav1.DeleteOptions, error) {
	o := &metav1.DeleteOptions{}
	b, err := c.body()
	if err != nil {
		return nil, err
	}
	media, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	q := c.r.URL.Query()
	switch {
	case len(b) == 0:
		if p := metav1.DeletionPropagation(q.Get("propagationPolicy")); p != "" {
			o.PropagationPolicy = &p
		}
	case media != "" && media != wire.JSON:
		return nil, c.unknownMedia(media)
	default:
		if err := utiljson.Unmarshal(b, o); err != nil {
			return nil, kerrors.NewBadRequest(err.Error())
		}
	}
	o.DryRun = append(o.DryRun, q["dryRun"]...)
	return o, nil
}

func (c *session) delete() error {
	o, err := c.deleteOptions()
	if err != nil {
		return err
	}
	if c.verb == "deletecollection" {
		l, err := c.listOptions()
		if err != nil {
			return err
		}
		list, err := c.cluster.DeleteCollection(c.target, l, o)
		if err != nil {
			return err
		}
		return c.respondList(list)
	}
	object, gone, err := c.cluster.Delete(c.target, o)
	if err != nil || !gone || c.target.Kind.ReturnsDeleted {
		return c.respond(http.StatusOK, object, err)
	}
	return c.respondDeleted(object)
}

// respondDeleted sends the status that confirms that an object is gone.
func (c *session) respondDeleted(object map[string]any) error {
	m, _ := object["metadata"].(map[string]any)
	uid, _ := m["uid"].(string)
	b, err := wire.Format{Protobuf: c.format.Protobuf}.Status(&metav1.Status{
		Status:  metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: c.target.Name, Group: c.target.Kind.Group, Kind: c.target.Kind.Resource, UID: types.UID(uid)},
	})
	if err != nil {
		return err
	}
	write(c.w, c.format, http.StatusOK, b)
	return nil
}
