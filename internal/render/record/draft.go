// SPDX-License-Identifier: Apache-2.0

package record

import (
	"compress/gzip"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"helm.sh/helm/v3/pkg/release"
	helmtime "helm.sh/helm/v3/pkg/time"
	corev1 "k8s.io/api/core/v1"
)

// Options hold the content of a release record besides the rendered release. The caller sets the times, so that the
// same call results in the same record.
type Options struct {
	Revision      int       // at least 1
	Status        string    // deployed, failed, superseded, or another of Helm's
	Description   string    // such as "Install complete"
	FirstDeployed time.Time // time of revision 1
	LastDeployed  time.Time // time of this revision; also label modifiedAt
	Labels        map[string]string
	Manifest      string // replaces the rendered manifest; empty for the rendered one
}

// A Draft is a rendered release without a record. It must not be used concurrently.
type Draft struct {
	release *release.Release
	// form is the index of the first form in which the record fits; valid if checked is true.
	form    int
	checked bool
}

// NewDraft returns the draft of a release. It ignores the fields of rel that Options set.
func NewDraft(rel *release.Release) *Draft { return &Draft{release: rel} }

// Manifest returns the text of all objects as Helm stores it: without crds/ and hooks.
func (d *Draft) Manifest() string { return d.release.Manifest }

// Hooks returns the hooks of the release, in Helm's order of kinds.
func (d *Draft) Hooks() []Hook { return hooksOf(d.release) }

// Encode returns the Secret that makes a release known to Helm 3, for helm list, history, status and get. Its
// namespace is that of the release. Labels must not contain Helm's own labels (driver.GetSystemLabels). If a record
// exceeds the size of a Secret, Encode leaves out the templates and files of the chart, and notes that in the
// description; it fails if the record is still too large (see Check).
func (d *Draft) Encode(o Options) (*corev1.Secret, error) {
	rel := *d.release
	info := *d.release.Info
	info.FirstDeployed = helmtime.Time{Time: o.FirstDeployed}
	info.LastDeployed = helmtime.Time{Time: o.LastDeployed}
	info.Description = o.Description
	info.Status = release.Status(o.Status)
	rel.Info = &info
	rel.Version = o.Revision
	rel.Labels = o.Labels
	if o.Manifest != "" {
		rel.Manifest = o.Manifest
	}
	return secretOf(&rel, d.form)
}

// Check returns an error, before anything is installed, if the record will not fit into a Secret. It is free for
// charts that are small enough in any case; otherwise it encodes a record, once per Draft, and Encode skips the forms
// that were too large. manifest is Options.Manifest, empty for the rendered one.
func (d *Draft) Check(manifest string) error {
	rel := d.release
	if manifest != "" {
		other := *d.release
		other.Manifest = manifest
		rel = &other
	}
	if d.checked || sizeOfRelease(rel) <= smallRecord {
		return nil
	}
	// The fastest compression is the weakest one, and enough for most charts.
	if _, err := encodeIn(rel, form{level: gzip.BestSpeed}, maxSecretSize-recordReserve); err == nil {
		d.checked = true
		return nil
	}
	_, f, err := encodeFrom(rel, d.form, maxSecretSize-recordReserve)
	if err != nil {
		return errors.Wrapf(err, "release record of chart %q", d.release.Chart.Name())
	}
	d.form, d.checked = f, true
	return nil
}
