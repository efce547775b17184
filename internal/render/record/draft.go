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

// Options say what a release record holds beside what was rendered. Times are
// the caller's, so that the same call gives the same record.
type Options struct {
	Revision      int       // at least 1
	Status        string    // deployed, failed, superseded, or another of Helm's
	Description   string    // e.g. "Install complete"
	FirstDeployed time.Time // of revision 1
	LastDeployed  time.Time // of this revision; also label modifiedAt
	Labels        map[string]string
	Manifest      string // instead of the one that was rendered; empty for that one
}

// A Draft is a release that was rendered and has no record yet. It must not be
// used concurrently.
type Draft struct {
	release *release.Release
	// form is the first form of a record that fits, once checked.
	form    int
	checked bool
}

// NewDraft returns the draft of a release. What Options say does not matter in it.
func NewDraft(rel *release.Release) *Draft { return &Draft{release: rel} }

// Manifest is the text of all objects as Helm keeps it: without crds/ and hooks.
func (d *Draft) Manifest() string { return d.release.Manifest }

// Hooks of the release, in Helm's order of kinds.
func (d *Draft) Hooks() []Hook { return hooksOf(d.release) }

// Encode returns the Secret by which Helm 3 knows a release, for helm list,
// history, status and get. Its namespace is that of the release. Helm's own
// labels (driver.GetSystemLabels) cannot be set by Labels. A record that is larger
// than a Secret may be leaves out the templates and files of the chart, and says so
// in its description; one that is still too large is refused (see Check).
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

// Check returns an error, before anything is installed, if the record will not fit
// into a Secret. It costs nothing for charts that are small enough for any record;
// of others it makes one, once for each Draft, and Encode will not try again what
// was too large. The manifest is that of Options, empty for the rendered one.
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
