// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strconv"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	helmtime "helm.sh/helm/v3/pkg/time"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// recordType, recordKey and the name below are those of Helm's driver for
	// Secrets, pkg/storage/driver/secrets.go, and of pkg/storage/storage.go.
	recordType = corev1.SecretType("helm.sh/release.v1")
	recordKey  = "release"

	labelName       = "name"
	labelOwner      = "owner"
	labelStatus     = "status"
	labelVersion    = "version"
	labelModifiedAt = "modifiedAt"
	ownerHelm       = "helm"
	kindSecret      = "Secret"

	// maxSecretSize is what the API server allows for the data of a Secret.
	maxSecretSize = corev1.MaxSecretSize

	// maxRecordSize bounds a record that is read, unpacked.
	maxRecordSize = 64 << 20
)

// Statuses of a release, as Helm writes them.
const (
	StatusDeployed        = string(release.StatusDeployed)
	StatusFailed          = string(release.StatusFailed)
	StatusSuperseded      = string(release.StatusSuperseded)
	StatusPendingInstall  = string(release.StatusPendingInstall)
	StatusPendingUpgrade  = string(release.StatusPendingUpgrade)
	StatusPendingRollback = string(release.StatusPendingRollback)
	StatusUninstalling    = string(release.StatusUninstalling)
)

// RecordName is the name of the Secret that holds revision of a release.
func RecordName(releaseName string, revision int) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", releaseName, revision)
}

// RecordOptions say what a release record holds beside what was rendered. Times
// are the caller's, so that the same call gives the same record.
type RecordOptions struct {
	Revision      int       // at least 1
	Status        string    // deployed, failed, superseded, or another of Helm's
	Description   string    // e.g. "Install complete"
	FirstDeployed time.Time // of revision 1
	LastDeployed  time.Time // of this revision; also label modifiedAt
	Labels        map[string]string
	Manifest      string // instead of the one that was rendered; empty for that one
}

// Record returns the Secret by which Helm 3 knows a release, for helm list,
// history, status and get. Its namespace is that of the release. Helm's own
// labels (driver.GetSystemLabels) cannot be set by Labels. A record that is larger
// than a Secret may be leaves out the templates and files of the chart, and says so
// in its description; one that is still too large is refused (see CheckRecord).
func (r *Rendered) Record(o RecordOptions) (*corev1.Secret, error) {
	rel := *r.release
	info := *r.release.Info
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
	return recordSecret(&rel, r.recordForm)
}

// Manifest is the text of all objects as Helm keeps it: without crds/ and hooks.
func (r *Rendered) Manifest() string { return r.release.Manifest }

func recordSecret(rel *release.Release, form int) (*corev1.Secret, error) {
	if driver.ContainsSystemLabels(rel.Labels) {
		return nil, errors.Errorf("labels of a release record must not be any of %v", driver.GetSystemLabels())
	}
	data, _, err := encodeRecord(rel, form, maxSecretSize)
	if err != nil {
		return nil, errors.Wrapf(err, "release record of chart %q", rel.Chart.Name())
	}

	labels := map[string]string{}
	maps.Copy(labels, rel.Labels)
	maps.Copy(labels, map[string]string{
		labelName:       rel.Name,
		labelOwner:      ownerHelm,
		labelStatus:     rel.Info.Status.String(),
		labelVersion:    strconv.Itoa(rel.Version),
		labelModifiedAt: strconv.FormatInt(rel.Info.LastDeployed.Unix(), 10),
	})
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: kindSecret},
		ObjectMeta: metav1.ObjectMeta{
			Name:      RecordName(rel.Name, rel.Version),
			Namespace: rel.Namespace,
			Labels:    labels,
		},
		Type: recordType,
		Data: map[string][]byte{recordKey: data},
	}, nil
}

func pack(plain []byte, level int) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	out := make([]byte, base64.StdEncoding.EncodedLen(b.Len()))
	base64.StdEncoding.Encode(out, b.Bytes())
	return out, nil
}

// RecordInfo is what a release record says.
type RecordInfo struct {
	Name          string
	Namespace     string
	Revision      int
	Status        string
	Description   string
	ChartName     string
	ChartVersion  string
	AppVersion    string
	Manifest      string // YAML, for Objects
	FirstDeployed time.Time
	LastDeployed  time.Time

	// Labels are the caller's to set from those of the Secret, because the
	// record does not hold them; WithStatus writes them back. Helm's own among
	// them are ignored.
	Labels map[string]string

	release *release.Release
}

// DecodeRecord reads the value under "release" of a Secret that Record or Helm
// wrote.
func DecodeRecord(data []byte) (*RecordInfo, error) {
	plain, err := unpack(data)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read release record")
	}
	rel := &release.Release{}
	if err := json.Unmarshal(plain, rel); err != nil {
		return nil, errors.Errorf("cannot read release record: %s", oneLine(err.Error()))
	}
	if rel.Name == "" || rel.Info == nil || rel.Chart == nil || rel.Chart.Metadata == nil {
		return nil, errors.New("cannot read release record: name, info or chart is missing")
	}
	return &RecordInfo{
		Name:          rel.Name,
		Namespace:     rel.Namespace,
		Revision:      rel.Version,
		Status:        rel.Info.Status.String(),
		Description:   rel.Info.Description,
		ChartName:     rel.Chart.Metadata.Name,
		ChartVersion:  rel.Chart.Metadata.Version,
		AppVersion:    rel.Chart.Metadata.AppVersion,
		Manifest:      rel.Manifest,
		FirstDeployed: rel.Info.FirstDeployed.Time,
		LastDeployed:  rel.Info.LastDeployed.Time,
		release:       rel,
	}, nil
}

// Hooks of the release, in the order of Rendered.Hooks.
func (i *RecordInfo) Hooks() []Hook {
	out := make([]Hook, 0, len(i.release.Hooks))
	for _, h := range i.release.Hooks {
		if h != nil {
			out = append(out, newHook(h))
		}
	}
	return out
}

// unpack undoes pack. Helm before 3 did not compress.
func unpack(data []byte) ([]byte, error) {
	b := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
	n, err := base64.StdEncoding.Decode(b, data)
	if err != nil {
		return nil, err
	}
	b = b[:n]
	if !bytes.HasPrefix(b, []byte{0x1f, 0x8b, 0x08}) {
		return b, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, maxRecordSize+1))
	if err != nil {
		return nil, err
	}
	if len(out) > maxRecordSize {
		return nil, errors.Errorf("it is larger than %d bytes unpacked", maxRecordSize)
	}
	return out, nil
}

// WithStatus returns the Secret of the same record with another status, e.g.
// superseded.
func (i *RecordInfo) WithStatus(status string) (*corev1.Secret, error) {
	return i.WithOutcome(status, i.Description)
}

// WithOutcome is WithStatus with another description, too.
func (i *RecordInfo) WithOutcome(status, description string) (*corev1.Secret, error) {
	rel := *i.release
	info := *i.release.Info
	info.Status, info.Description = release.Status(status), description
	rel.Info = &info
	rel.Labels = maps.Clone(i.Labels)
	for _, l := range driver.GetSystemLabels() {
		delete(rel.Labels, l)
	}
	return recordSecret(&rel, 0)
}
