// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
)

// releasePrefix begins the name of each Secret that records a Helm release, labelReleaseOf names the set that wrote it.
const (
	releasePrefix  = "sh.helm.release.v1."
	labelReleaseOf = "kyma.m.crossplane.io/set"

	statusDeployed   = "deployed"
	statusSuperseded = "superseded"
)

// recordRelease writes what was just installed as a Helm release, so that `helm list` and `helm history` in the cluster
// show the truth.
func (st *step) recordRelease(ctx context.Context, pl *planned, rec *partRecord) error {
	in := pl.install
	before, err := st.lastRevision(ctx, in, rec)
	if err != nil {
		return err
	}
	o := render.RecordOptions{
		Revision: before + 1, Status: statusDeployed, Description: "Install complete",
		FirstDeployed: st.e.now(), LastDeployed: st.e.now(), Labels: map[string]string{labelReleaseOf: st.id},
	}
	var superseded *render.RecordInfo
	if before > 0 {
		o.Description = "Upgrade complete"
		if superseded, err = st.release(ctx, in.Name, in.Namespace, before); err != nil {
			return err
		}
		if superseded != nil {
			o.FirstDeployed = superseded.FirstDeployed
		}
	}
	s, err := pl.rendered.Record(o)
	if err != nil {
		return err
	}
	if err := st.putSecret(ctx, s); err != nil {
		return errors.Wrapf(err, "cannot record revision %d of release %s", o.Revision, in.Name)
	}
	if superseded != nil && superseded.Status == statusDeployed {
		old, err := superseded.WithStatus(statusSuperseded)
		if err != nil {
			return err
		}
		if err := st.putSecret(ctx, old); err != nil {
			return errors.Wrapf(err, "cannot mark revision %d of release %s as superseded", before, in.Name)
		}
	}
	if old := o.Revision - st.e.history; old > 0 {
		k := Key{Kind: "Secret", Namespace: in.Namespace, Name: render.RecordName(in.Name, old)}
		if _, err := st.delete(ctx, secretKind, k, ""); err != nil {
			return err
		}
	}
	rec.Revision, rec.Namespace, rec.Chart, rec.Version = o.Revision, in.Namespace, pl.chart.Name(), pl.chart.Version()
	rec.Hooks = runnable(pl.rendered.Hooks)
	return nil
}

// lastRevision of a release: ours, or with adoption the last that somebody else installed.
func (st *step) lastRevision(ctx context.Context, in *Install, rec *partRecord) (int, error) {
	if rec.Revision > 0 && rec.Namespace != in.Namespace {
		// A release cannot move to another namespace: it ends in one and begins in the other.
		if err := st.deleteReleases(ctx, in.Name, *rec); err != nil {
			return 0, err
		}
		return 0, nil
	}
	if rec.Revision > 0 || !st.s.Adopt {
		return rec.Revision, nil
	}
	l, err := st.list(ctx, secretKind, in.Namespace, "owner=helm,name="+in.Name, 0)
	if err != nil {
		return 0, errors.Wrapf(err, "cannot look for a Helm release %s in namespace %s", in.Name, in.Namespace)
	}
	last := 0
	for i := range l.Items {
		if n, err := strconv.Atoi(l.Items[i].Labels["version"]); err == nil && n > last {
			last = n
		}
	}
	return last, nil
}

// runnable counts the hooks that Helm would have run on its own; tests are run on request only.
func runnable(hooks []render.Hook) int {
	n := 0
	for _, h := range hooks {
		for _, ev := range h.Events {
			if ev != "test" && ev != "test-success" && ev != "test-failure" {
				n++
				break
			}
		}
	}
	return n
}

// release is one recorded revision; nil where there is none.
func (w *work) release(ctx context.Context, name, namespace string, revision int) (*render.RecordInfo, error) {
	b, err := w.read(ctx, secretKind, Key{Kind: "Secret", Namespace: namespace, Name: render.RecordName(name, revision)}, acceptJSON)
	if err != nil || b == nil {
		return nil, err
	}
	s := &corev1.Secret{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, errors.Wrapf(err, "record of release %s revision %d", name, revision)
	}
	info, err := render.DecodeRecord(s.Data["release"])
	return info, errors.Wrapf(err, "record of release %s revision %d", name, revision)
}

// putSecret creates a Secret, or replaces the one that is there.
func (w *work) putSecret(ctx context.Context, s *corev1.Secret) error {
	s.APIVersion, s.Kind = "v1", "Secret"
	b, err := json.Marshal(s)
	if err != nil {
		return errors.Wrap(err, "cannot encode Secret")
	}
	send := func(verb, name string) error {
		return w.c.REST().Verb(verb).AbsPath(pathOf(secretKind.GroupVersion(), Mapping{Resource: "secrets", Namespaced: true}, s.Namespace, name)).
			Param("fieldManager", FieldManager).SetHeader("Content-Type", acceptJSON).SetHeader("Accept", acceptMetadata).
			Body(b).Do(ctx).Error()
	}
	err = send(http.MethodPost, "")
	if namespaceMissing(err, s.Namespace) {
		if err := w.createNamespace(ctx, s.Namespace); err != nil {
			return err
		}
		err = send(http.MethodPost, "")
	}
	if kerrors.IsAlreadyExists(err) {
		err = send(http.MethodPut, s.Name)
	}
	return explain(err)
}

// deleteReleases of a part: all recorded revisions.
func (w *work) deleteReleases(ctx context.Context, name string, rec partRecord) error {
	if rec.Revision == 0 {
		return nil
	}
	selector := fmt.Sprintf("owner=helm,name=%s,%s=%s", name, labelReleaseOf, w.id)
	if w.s.Adopt {
		selector = "owner=helm,name=" + name
	}
	err := w.c.REST().Delete().AbsPath(pathOf(secretKind.GroupVersion(), Mapping{Resource: "secrets", Namespaced: true}, rec.Namespace, "")).
		Param("labelSelector", selector).SetHeader("Accept", acceptMetadata).Do(ctx).Error()
	if kerrors.IsNotFound(err) {
		return nil
	}
	return errors.Wrapf(explain(err), "cannot delete the records of release %s in namespace %s", name, rec.Namespace)
}
