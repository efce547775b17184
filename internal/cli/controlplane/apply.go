// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// An applier puts objects into a control plane.
type applier struct {
	e      *command.Environment
	k      client.Client
	report *report
	// get a document of the control plane, such as its API groups.
	get notfound.GetFunc

	// dryRun has the API server check what would be done, and change nothing.
	dryRun bool
	// force takes fields from other field managers.
	force bool
	// absent is the namespace that a dry run would have made, and in which the API
	// server can check nothing.
	absent string
}

// apply an object by its own fields, and report what became of it.
func (a *applier) apply(ctx context.Context, want *unstructured.Unstructured) error {
	done, err := a.put(ctx, want)
	if err != nil {
		return err
	}
	return a.report.add(objectOf(want), done)
}

func (a *applier) applyAll(ctx context.Context, all []*unstructured.Unstructured) error {
	for _, u := range all {
		if err := a.apply(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// put an object there by its own fields. What is there already and was not made
// by kymactl does not get its label.
func (a *applier) put(ctx context.Context, want *unstructured.Unstructured) (action, error) {
	before, err := a.settled(ctx, want)
	switch {
	case a.dryRun && a.unseen(want, before, err):
		return created, nil
	case kmeta.IsNoMatchError(err):
		return "", unknownKind(objectOf(want))
	case err != nil:
		return "", err
	}
	if before == nil || ours(before) {
		want = labelled(want)
	}
	after, err := a.send(ctx, want)
	switch {
	case err != nil:
		return "", explain(err, objectOf(want))
	case before == nil:
		return created, nil
	case same(before, after):
		return unchanged, nil
	}
	return configured, nil
}

// unseen reports whether the API server cannot check an object in a dry run: its
// CRD or its namespace would have been made.
func (a *applier) unseen(want, before *unstructured.Unstructured, err error) bool {
	if err != nil {
		return kmeta.IsNoMatchError(err)
	}
	return before == nil && a.absent != "" && a.absent == want.GetNamespace()
}

// labelled as made by kymactl.
func labelled(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	labels := u.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelManagedBy] = command.FieldManager
	u.SetLabels(labels)
	return u
}

// send an object. Others may create or change it at the same time.
func (a *applier) send(ctx context.Context, want *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	options := []client.ApplyOption{client.FieldOwner(command.FieldManager)}
	if a.force {
		options = append(options, client.ForceOwnership)
	}
	if a.dryRun {
		options = append(options, client.DryRunAll)
	}
	var after *unstructured.Unstructured
	err := retry.OnError(patience(), passing, func() error {
		after = want.DeepCopy()
		return a.k.Apply(ctx, client.ApplyConfigurationFromUnstructured(after), options...)
	})
	return after, err
}

// patience is how long something is tried that others are about to change: some
// seconds.
func patience() wait.Backoff {
	return wait.Backoff{Steps: 20, Duration: 10 * time.Millisecond, Factor: 1.5, Jitter: 0.5, Cap: time.Second}
}

// passing reports whether an error goes away by itself: another writer was faster, or the
// API server has not taken up a CRD yet.
func passing(err error) bool {
	switch {
	case kerrors.IsConflict(err):
		return len(conflicts(err)) == 0
	case notfound.Foreign(err):
		return true
	}
	return kerrors.IsAlreadyExists(err)
}

// unserved is the error for a kind that was not found: that there is no such kind, if
// the control plane says so. The client takes any 404 on the way for its word.
func (a *applier) unserved(ctx context.Context, kind schema.GroupVersionKind) error {
	served, err := notfound.Served(ctx, a.get, kind)
	switch {
	case err != nil:
		return errors.Wrapf(err, "cannot ask the control plane for kind %s", kind.Kind)
	case served:
		return &notfound.Error{}
	}
	return &kmeta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
}

// live returns the object of that name, or nil where there is none. It fails
// where its kind is not served.
func (a *applier) live(ctx context.Context, o object) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(o.GroupVersionKind)
	err := a.k.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.Name}, u)
	switch {
	case err == nil:
		return u, nil
	case kmeta.IsNoMatchError(err), notfound.Foreign(err):
		return nil, a.unserved(ctx, o.GroupVersionKind)
	case notfound.Is(err):
		return nil, nil //nolint:nilnil // Nothing is an answer.
	}
	return nil, errors.Wrapf(err, "cannot get %s", o.words())
}

// settled is live, after what is being deleted is gone.
func (a *applier) settled(ctx context.Context, want *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	o := objectOf(want)
	u, err := a.live(ctx, o)
	if err != nil || u == nil || u.GetDeletionTimestamp() == nil {
		return u, err
	}
	if a.dryRun {
		return nil, nil //nolint:nilnil // It will have gone.
	}
	err = await(ctx, a.e, o.words()+" was gone, which is being deleted", func(ctx context.Context) (bool, string, error) {
		u, err = a.live(ctx, o)
		gone := err == nil && (u == nil || u.GetDeletionTimestamp() == nil)
		return gone, finalizers(u), err
	})
	return u, err
}

func finalizers(u *unstructured.Unstructured) string {
	if u == nil || len(u.GetFinalizers()) == 0 {
		return "it is about to go"
	}
	return "it waits for finalizer " + strings.Join(u.GetFinalizers(), ", ")
}

// same says whether nothing was changed. A dry run leaves the resource version as
// it is, so that it says nothing.
func same(before, after *unstructured.Unstructured) bool {
	return equality.Semantic.DeepEqual(essence(before), essence(after))
}

func essence(u *unstructured.Unstructured) map[string]any {
	u = u.DeepCopy()
	fields := u.GetManagedFields()
	for i := range fields {
		fields[i].Time = nil
	}
	u.SetManagedFields(fields)
	u.SetResourceVersion("")
	return u.Object
}

// A taken field belongs to another field manager.
type taken struct{ field, manager string }

var managerOfConflict = regexp.MustCompile(`^conflict with "((?:[^"\\]|\\.)*)"`)

// conflicts are the fields that an object was not given, because they belong to
// other field managers.
func conflicts(err error) []taken {
	var status kerrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var out []taken
	for _, c := range status.Status().Details.Causes {
		if c.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		manager := "somebody else"
		if m := managerOfConflict.FindStringSubmatch(c.Message); m != nil {
			manager = `"` + m[1] + `"`
		}
		out = append(out, taken{field: strings.TrimPrefix(c.Field, "."), manager: manager})
	}
	return out
}

// maxConflicts is how many fields an error names.
const maxConflicts = 5

// explain why an object could not be applied.
func explain(err error, o object) error {
	if kmeta.IsNoMatchError(err) || notfound.Foreign(err) {
		return unknownKind(o)
	}
	fields := conflicts(err)
	if len(fields) == 0 {
		return errors.Wrapf(err, "cannot apply %s", o.words())
	}
	var said []string
	for _, f := range fields[:min(len(fields), maxConflicts)] {
		said = append(said, "field "+f.field+" belongs to "+f.manager)
	}
	more := ""
	if n := len(fields) - maxConflicts; n > 0 {
		more = ", and others do"
	}
	return command.WithCode(command.ExitExists, errors.Errorf("%s: %s%s; take what differs over with --force-conflicts",
		o.words(), strings.Join(said, ", "), more))
}

// unknownKind says what to do where a kind is not served.
func unknownKind(o object) error {
	switch o.Group {
	case groupPackages, groupExtensions:
		return command.NotFoundf("%s: the control plane has no Crossplane 2: leave out --package", o.words())
	}
	return command.NotFoundf("%s: the control plane does not serve this kind: leave out --skip-crds", o.words())
}
