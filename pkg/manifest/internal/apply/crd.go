// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/crdcheck"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// examineAll checks the objects of a CRD in each version that the new CRD changes.
func examineAll(ctx context.Context, client *ssa.Client, examined *Examined, live, next *unstructured.Unstructured) error {
	checks, err := crdcheck.Checks(live, next)
	if err != nil {
		return &ssa.RefusedError{Err: err}
	}
	of, err := changeOf(live, next)
	if err != nil {
		return err
	}
	for _, c := range checks {
		if err := examine(ctx, client, live, c, &resumption{examined: examined, name: live.GetName() + " " + c.Version, of: of}); err != nil {
			return err
		}
	}
	return nil
}

// Limits of the check of existing objects: how many are read at a time, and how many an error names.
const (
	pageSize  = 500
	mostNamed = 5
)

// A finding is the result of checking the objects of a CRD in one version.
type finding struct {
	all, bad int
	// named contains the names of the first invalid objects.
	named []string
}

// take checks the objects of a page and adds the results. It decodes one object at a time, because objects can be large, and need
// much more space in memory than on the wire.
func (f *finding) take(ctx context.Context, gvk schema.GroupVersionKind, items []json.RawMessage, c *crdcheck.Check) error {
	for i := range items {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		// This decoder decodes integers as int64, unlike encoding/json.
		if err := kjson.Unmarshal(items[i], &u.Object); err != nil {
			return errors.Wrap(err, "cannot read the list")
		}
		u.SetGroupVersionKind(gvk)
		f.all++
		problems := c.Object(ctx, u)
		if len(problems) == 0 {
			continue
		}
		f.bad++
		if len(f.named) < mostNamed {
			k := cluster.ObjectRef{Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
			f.named = append(f.named, fmt.Sprintf("%s (%s)", k, strings.Join(problems, "; ")))
		}
	}
	return context.Cause(ctx)
}

// A resumption stores the progress of a check.
type resumption struct {
	examined *Examined
	name, of string
}

func (r *resumption) load() (found finding, token string) {
	p := r.examined.get(r.name, r.of)
	return p.found, p.token
}

func (r *resumption) save(found finding, token string) {
	r.examined.set(r.name, progress{of: r.of, token: token, found: found})
}

// changeOf identifies the change of an existing CRD.
func changeOf(live, next *unstructured.Unstructured) (string, error) {
	spec, err := json.Marshal(next.Object["spec"])
	if err != nil {
		return "", errors.Wrapf(err, "CRD %s", next.GetName())
	}
	return fmt.Sprintf("%s %s %x", live.GetUID(), live.GetResourceVersion(), sha256.Sum256(spec)), nil
}

// examine checks all objects of a CRD in one version. The error names the objects that would become invalid. An interrupted
// check resumes where it stopped.
func examine(ctx context.Context, client *ssa.Client, crd *unstructured.Unstructured, c *crdcheck.Check, r *resumption) error {
	gvk, m, ok := kindIn(crd, c.Version)
	if !ok {
		return nil
	}
	f, token := r.load()
	for {
		l, err := page(ctx, client, gvk, m, token)
		switch {
		case kerrors.IsResourceExpired(err) && ctx.Err() == nil:
			// The continue token of the list expired, so list again from the beginning.
			token, f = "", finding{}
			continue
		case err != nil:
			gone, err := client.Absent(ctx, gvk, m, "", err)
			if gone {
				return nil
			}
			return errors.Wrapf(ssa.Explain(err), "cannot check the objects of kind %s", gvk.Kind)
		}
		if err := f.take(ctx, gvk, l.Items, c); err != nil {
			return err
		}
		token = l.Metadata.Continue
		r.save(f, token)
		if token == "" {
			break
		}
	}
	if f.bad == 0 {
		return nil
	}
	return &ssa.RefusedError{Err: errors.Errorf("%d of %d objects would be invalid under version %s of the new CRD: %s; fix these objects first",
		f.bad, f.all, c.Version, text.Some(f.named, int64(f.bad)))}
}

// A pageOf is a page of objects that are not decoded yet.
type pageOf struct {
	Metadata metav1.ListMeta   `json:"metadata"`
	Items    []json.RawMessage `json:"items"`
}

// page returns a page of the objects of a kind. The kind and the path come from the CRD, because discovery may not know this
// version.
func page(ctx context.Context, client *ssa.Client, gvk schema.GroupVersionKind, m cluster.Mapping, token string) (*pageOf, error) {
	l := &pageOf{}
	err := client.ListJSON(ctx, gvk, m, "", map[string]string{"limit": strconv.Itoa(pageSize), "continue": token}, l)
	return l, err
}

// kindIn returns the kind of a CRD in one version and its mapping. It returns false if that version is not served.
func kindIn(crd *unstructured.Unstructured, version string) (schema.GroupVersionKind, cluster.Mapping, bool) {
	for gvk, m := range object.ServedKinds(crd) {
		if gvk.Version == version {
			return gvk, m, true
		}
	}
	return schema.GroupVersionKind{}, cluster.Mapping{}, false
}
