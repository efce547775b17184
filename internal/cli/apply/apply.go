// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
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
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// An Applier applies objects to a control plane, and reports the results.
type Applier struct {
	Environment *command.Environment
	Plane       *Plane
	Report      *Report

	// DryRun sends server-side dry runs, which change nothing.
	DryRun bool
	// Force takes over fields from other field managers.
	Force bool
	// Manager is the field manager. Defaults to that of kymactl.
	Manager string
	// absent is the namespace that a dry run would have created, or empty; the API server can't check objects in it.
	absent string
}

// Apply applies an object and reports the result.
func (a *Applier) Apply(ctx context.Context, want *unstructured.Unstructured) error {
	done, err := a.Put(ctx, want)
	if err != nil {
		return err
	}
	return a.Report.Add(ObjectOf(want), done)
}

// ApplyAll applies objects in order, until one fails.
func (a *Applier) ApplyAll(ctx context.Context, all []*unstructured.Unstructured) error {
	for _, u := range all {
		if err := a.Apply(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// Put applies the fields of an object with server-side apply. It adds the label of kymactl, unless the object already exists and
// was created by another client.
func (a *Applier) Put(ctx context.Context, want *unstructured.Unstructured) (Action, error) {
	before, err := a.awaitLive(ctx, want)
	switch {
	case a.DryRun && a.unseen(want, before, err):
		return Created, nil
	case kmeta.IsNoMatchError(err):
		return "", UnknownKind(ObjectOf(want))
	case err != nil:
		return "", err
	}
	if before == nil || Ours(before) {
		want = labelled(want)
	}
	after, err := a.send(ctx, want)
	switch {
	case err != nil:
		return "", explain(err, ObjectOf(want))
	case before == nil:
		return Created, nil
	case same(before, after):
		return Unchanged, nil
	}
	return Configured, nil
}

// unseen reports whether the API server can't check an object in a dry run, because its CRD or its namespace doesn't exist yet.
func (a *Applier) unseen(want, before *unstructured.Unstructured, err error) bool {
	if err != nil {
		return kmeta.IsNoMatchError(err)
	}
	return before == nil && a.absent != "" && a.absent == want.GetNamespace()
}

// labelled returns a copy of an object with the label that marks objects created by kymactl.
func labelled(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	labels := u.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[LabelManagedBy] = command.FieldManager
	u.SetLabels(labels)
	return u
}

// send applies an object. It retries while other clients create or change the object at the same time.
func (a *Applier) send(ctx context.Context, want *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	options := []client.ApplyOption{client.FieldOwner(cmp.Or(a.Manager, command.FieldManager))}
	if a.Force {
		options = append(options, client.ForceOwnership)
	}
	if a.DryRun {
		options = append(options, client.DryRunAll)
	}
	var after *unstructured.Unstructured
	err := retry.OnError(Patience(), Passing, func() error {
		after = want.DeepCopy()
		return a.Plane.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(after), options...)
	})
	return after, err
}

// Patience returns the backoff for conflicts with other clients. It ends after several seconds.
func Patience() wait.Backoff {
	return wait.Backoff{Steps: 20, Duration: 10 * time.Millisecond, Factor: 1.5, Jitter: 0.5, Cap: time.Second}
}

// Passing reports whether an error is temporary: another client was faster, or the API server doesn't serve a new CRD yet.
func Passing(err error) bool {
	switch {
	case kerrors.IsConflict(err):
		return len(conflicts(err)) == 0
	case notfound.Foreign(err):
		return true
	}
	return kerrors.IsAlreadyExists(err)
}

// awaitLive returns the current object like live. If the object is being deleted, it first waits for the end of the deletion.
func (a *Applier) awaitLive(ctx context.Context, want *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	o := ObjectOf(want)
	u, err := a.Plane.Live(ctx, o)
	if err != nil || u == nil || u.GetDeletionTimestamp() == nil {
		return u, err
	}
	if a.DryRun {
		return nil, nil //nolint:nilnil // It will have been deleted.
	}
	err = Await(ctx, a.Environment, o.Words()+" to be deleted", func(ctx context.Context) (bool, string, error) {
		u, err = a.Plane.Live(ctx, o)
		gone := err == nil && (u == nil || u.GetDeletionTimestamp() == nil)
		return gone, Finalizers(u), err
	})
	return u, err
}

// Finalizers describes what blocks the deletion of an object.
func Finalizers(u *unstructured.Unstructured) string {
	if u == nil || len(u.GetFinalizers()) == 0 {
		return "deletion in progress"
	}
	return "waiting for finalizer " + strings.Join(u.GetFinalizers(), ", ")
}

// same reports whether two versions of an object are equal, apart from timestamps. It can't compare resource versions, because a
// dry run doesn't change them.
func same(before, after *unstructured.Unstructured) bool {
	return equality.Semantic.DeepEqual(essence(before), essence(after))
}

// essence returns the content of an object without its resource version and the times of its field managers.
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

// A taken field is owned by another field manager.
type taken struct{ field, manager string }

var managerOfConflict = regexp.MustCompile(`^conflict with "((?:[^"\\]|\\.)*)"`)

// conflicts returns the fields that other field managers own, as reported by the error of a server-side apply.
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
		manager := "another manager"
		if m := managerOfConflict.FindStringSubmatch(c.Message); m != nil {
			manager = `"` + m[1] + `"`
		}
		out = append(out, taken{field: strings.TrimPrefix(c.Field, "."), manager: manager})
	}
	return out
}

// maxConflicts is the maximum number of fields in an error.
const maxConflicts = 5

// explain returns the error for an object that could not be applied. Conflicts have ExitExists, unknown kinds ExitNotFound.
func explain(err error, o Object) error {
	if kmeta.IsNoMatchError(err) || notfound.Foreign(err) {
		return UnknownKind(o)
	}
	fields := conflicts(err)
	if len(fields) == 0 {
		return errors.Wrapf(err, "cannot apply %s", o.Words())
	}
	var said []string
	for _, f := range fields[:min(len(fields), maxConflicts)] {
		said = append(said, "field "+f.field+" is owned by "+f.manager)
	}
	more := ""
	if n := len(fields) - maxConflicts; n > 0 {
		more = ", and more fields"
	}
	return command.WithCode(command.ExitExists, errors.Errorf("%s: %s%s; use --force-conflicts to take over these fields",
		o.Words(), strings.Join(said, ", "), more))
}

// UnknownKind returns the error for an object whose kind is not served, with a remedy.
func UnknownKind(o Object) error {
	remedy := ""
	switch o.Group {
	case GroupPackages, GroupExtensions:
		return command.NotFoundf("%s: the control plane does not run Crossplane 2: omit --package", o.Words())
	case v1alpha1.Group:
		remedy = ": omit --skip-crds"
	}
	return command.NotFoundf("%s: the control plane does not serve this kind%s", o.Words(), remedy)
}
