// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// RecordPrefix is the prefix of the names of the Secrets that record revisions.
const RecordPrefix = "sh.helm.release.v1."

// These are the labels of a record.
const (
	// LabelRevision and LabelStatus are labels of Helm.
	LabelRevision = "version"
	LabelStatus   = "status"
	// LabelSet contains the ID of the ApplySet that wrote the record. LabelInputs contains the digest of the installed inputs.
	// LabelContent contains the digest without the labels of the bundle, which older versions did not record.
	LabelSet     = "kyma.m.crossplane.io/set"
	LabelInputs  = "kyma.m.crossplane.io/inputs"
	LabelContent = "kyma.m.crossplane.io/content"
)

// A History reads and writes the records of Helm releases in one cluster.
type History struct {
	Client *ssa.Client
	// Set is the ID of the ApplySet that writes records.
	Set string
	// Keep is the number of revisions to keep for each release.
	Keep int
	// Confirm is called before an existing record is replaced. It returns an error if another process works on the release, because
	// the record may be that of the other one. Nil confirms everything.
	Confirm func(ctx context.Context) error
}

// Next returns the next revision of a part, and the record of the part during its installation. It searches the cluster only if
// necessary.
func (h History) Next(ctx context.Context, d *Wanted, rec inventory.Part) (Next, inventory.Part, error) {
	var found []Revision
	if d.NeedsSearch(&rec) {
		var err error
		if found, err = h.List(ctx, d.Release); err != nil {
			return Next{}, rec, err
		}
	}
	return Follow(d, rec, found)
}

// List returns the recorded revisions of a release, including those of other tools.
func (h History) List(ctx context.Context, r inventory.Release) ([]Revision, error) {
	l, err := h.search(ctx, r)
	if err != nil {
		return nil, err
	}
	var out []Revision
	for i := range l.Items {
		if strings.HasPrefix(l.Items[i].Name, RecordPrefix) {
			out = append(out, h.revisionOf(l.Items[i].Labels))
		}
	}
	return out, nil
}

// FindRollback returns the last revision of a release that this ApplySet deployed with the given inputs, or 0. It also returns
// the manifest with the recorded objects, unless the chart is pure, which means that it always renders the same. As with helm
// rollback, a chart that renders differently every time, for example with random values, is restored from its record.
func (h History) FindRollback(
	ctx context.Context, r inventory.Release, inputs inventory.Inputs, pure bool,
) (revision int, manifest string, err error) {
	selector := fmt.Sprintf("%s,status in (%s,%s),%s=%s", selectorOf(r), record.StatusDeployed, record.StatusSuperseded, LabelSet, h.Set)
	l, err := h.Client.List(ctx, ssa.SecretKind, r.Namespace, selector, 0)
	if err != nil {
		return 0, "", errors.Wrapf(err, "cannot list the revisions of release %s in namespace %s", r.Name, r.Namespace)
	}
	for i := range l.Items {
		if found := h.revisionOf(l.Items[i].Labels); found.Inputs.SharesContent(inputs) {
			revision = max(revision, found.Number)
		}
	}
	if revision == 0 || pure {
		return revision, "", nil
	}
	info, err := h.Get(ctx, r, revision)
	if err != nil || info == nil {
		return revision, "", err
	}
	return revision, info.Manifest, nil
}

// Get returns a recorded revision, or nil if it has no record.
func (h History) Get(ctx context.Context, r inventory.Release, revision int) (*record.Info, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	b, err := h.Client.Read(ctx, ssa.SecretKind, recordOf(r, revision), ssa.JSON)
	if err != nil || b == nil {
		return nil, err
	}
	s := &corev1.Secret{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, errors.Wrapf(err, "record of release %s revision %d", r.Name, revision)
	}
	info, err := record.Decode(s.Data["release"])
	if err != nil {
		return nil, &ssa.RefusedError{Err: errors.Wrapf(err, "record of release %s revision %d", r.Name, revision)}
	}
	// Keep both for a change of the status: the labels identify the record as ours, and the version ensures that the record has not
	// changed.
	info.Labels, info.ResourceVersion = s.Labels, s.ResourceVersion
	return info, nil
}

// Describe sets the status and the description of a recorded revision. It reports false if the revision has no record. It returns
// an error if another client changed the record in the meantime. Only a revision whose installation has not completed can fail: another
// process may have completed it.
func (h History) Describe(ctx context.Context, r inventory.Release, revision int, status, description string) (bool, error) {
	info, err := h.Get(ctx, r, revision)
	if err != nil || info == nil {
		return false, err
	}
	if status == record.StatusFailed && !isPending(info.Status) {
		return true, nil
	}
	s, err := info.WithOutcome(status, description)
	if err != nil {
		return true, err
	}
	found, err := h.replace(ctx, s)
	return found || err != nil, errors.Wrapf(err, "cannot set the status of revision %d of release %s to %s", revision, r.Name, status)
}

// Delete deletes the records of a release that belong to this ApplySet, including records of interrupted calls that the inventory
// does not contain.
func (h History) Delete(ctx context.Context, r inventory.Release) error {
	return h.delete(ctx, r, selectorOf(r)+","+LabelSet+"="+h.Set)
}

// deleteAll deletes all records of a release, including those of other tools.
func (h History) deleteAll(ctx context.Context, r inventory.Release) error {
	return h.delete(ctx, r, selectorOf(r))
}

// delete deletes the records of a release that match a label selector.
func (h History) delete(ctx context.Context, r inventory.Release, selector string) error {
	err := h.Client.DeleteSecrets(ctx, r.Namespace, selector)
	return errors.Wrapf(err, "cannot delete the records of release %s in namespace %s", r.Name, r.Namespace)
}

// DeleteOf deletes the records of the current and the former release of a part. Adopts is true if the bundle adopts existing
// releases. For an adopted release, DeleteOf also deletes the records of other tools.
func (h History) DeleteOf(ctx context.Context, part object.PartID, rec *inventory.Part, adopts bool) error {
	for _, r := range []inventory.Release{rec.FormerReleaseOf(part), rec.ReleaseOf(part)} {
		if r.IsZero() {
			continue
		}
		remove := h.Delete
		if (adopts || rec.Own) && rec.Revision > 0 {
			remove = h.deleteAll
		}
		if err := remove(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// Objects returns the objects in the recorded manifest of a revision.
func Objects(manifest string, r inventory.Release, revision int) ([]*unstructured.Unstructured, error) {
	objects, err := yamldoc.ChartObjects([]byte(manifest))
	return objects, errors.Wrapf(err, "record of release %s revision %d", r.Name, revision)
}

// Releases returns the deployed revision of each release of this ApplySet, in all namespaces. If none is deployed, because the release is
// being installed or uninstalled, it returns the last recorded revision.
func (h History) Releases(ctx context.Context) (map[inventory.Release]int, error) {
	l, err := h.Client.List(ctx, ssa.SecretKind, "", "owner=helm,"+LabelSet+"="+h.Set, 0)
	if err != nil {
		return nil, errors.Wrap(err, "cannot list the records of Helm releases")
	}
	deployed, out := map[inventory.Release]int{}, map[inventory.Release]int{}
	for i := range l.Items {
		m := &l.Items[i]
		r, rev := inventory.Release{Namespace: m.Namespace, Name: m.Labels["name"]}, h.revisionOf(m.Labels)
		out[r] = max(out[r], rev.Number)
		if rev.Status == record.StatusDeployed {
			deployed[r] = max(deployed[r], rev.Number)
		}
	}
	maps.Copy(out, deployed)
	return out, nil
}

// recordOf returns the reference to the record of a revision.
func recordOf(r inventory.Release, revision int) cluster.ObjectRef {
	return cluster.ObjectRef{Kind: ssa.SecretKind.Kind, Namespace: r.Namespace, Name: record.Name(r.Name, revision)}
}

// HasForeign reports whether a release has a revision that another owner recorded.
func (h History) HasForeign(ctx context.Context, r inventory.Release) (bool, error) {
	l, err := h.search(ctx, r)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(l.Items, func(s metav1.PartialObjectMetadata) bool { return s.Labels[LabelSet] != h.Set }), nil
}

// search returns the metadata of the records of a release.
func (h History) search(ctx context.Context, r inventory.Release) (*metav1.PartialObjectMetadataList, error) {
	l, err := h.Client.List(ctx, ssa.SecretKind, r.Namespace, selectorOf(r), 0)
	return l, errors.Wrapf(err, "cannot list the records of Helm release %s in namespace %s", r.Name, r.Namespace)
}

// selectorOf returns the label selector of all records of a release.
func selectorOf(r inventory.Release) string { return "owner=helm,name=" + r.Name }

// revisionOf returns the revision that the labels of a record describe.
func (h History) revisionOf(labels map[string]string) Revision {
	n, err := strconv.Atoi(labels[LabelRevision])
	if err != nil {
		n = 0
	}
	r := Revision{Number: n, Status: labels[LabelStatus], Owner: labels[LabelSet]}
	r.Inputs = inventory.Inputs{Digest: labels[LabelInputs], Content: labels[LabelContent]}
	if r.Owner == h.Set {
		r.Ours, r.Owner = true, ""
	}
	return r
}
