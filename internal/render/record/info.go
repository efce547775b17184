// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// Info is the content of a release record.
type Info struct {
	Name          string
	Namespace     string
	Revision      int
	Status        string
	Description   string
	ChartName     string
	ChartVersion  string
	AppVersion    string
	Manifest      string // YAML
	FirstDeployed time.Time
	LastDeployed  time.Time

	// Labels are set by the caller from the labels of the Secret, because the record does not contain them;
	// WithStatus writes them back. Helm's own labels among them are ignored.
	Labels map[string]string
	// ResourceVersion is also set by the caller, from the Secret that was read. WithStatus writes it back, so that an
	// API server refuses to replace a Secret that has changed; empty replaces any.
	ResourceVersion string

	release *release.Release
}

// Decode decodes the value under "release" of a Secret that Encode or Helm wrote.
func Decode(data []byte) (*Info, error) {
	plain, err := unpack(data)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read release record")
	}
	if err := yamlsize.CheckItems(plain, maxItems); err != nil {
		return nil, errors.Wrap(err, "cannot read release record")
	}
	rel := &release.Release{}
	if err := json.Unmarshal(plain, rel); err != nil {
		return nil, errors.Errorf("cannot read release record: %s", input.Line(err.Error()))
	}
	if rel.Name == "" || rel.Info == nil || rel.Chart == nil || rel.Chart.Metadata == nil {
		return nil, errors.New("cannot read release record: name, info or chart is missing")
	}
	return &Info{
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

// Hooks returns the hooks of the release, in the order of Draft.Hooks.
func (i *Info) Hooks() []Hook { return hooksOf(i.release) }

// WithStatus returns the Secret of the same record with another status, e.g. superseded.
func (i *Info) WithStatus(status string) (*corev1.Secret, error) {
	return i.WithOutcome(status, i.Description)
}

// WithOutcome is like WithStatus, and also sets the description.
func (i *Info) WithOutcome(status, description string) (*corev1.Secret, error) {
	rel := *i.release
	info := *i.release.Info
	info.Status, info.Description = release.Status(status), description
	rel.Info = &info
	rel.Labels = maps.Clone(i.Labels)
	for _, l := range driver.GetSystemLabels() {
		delete(rel.Labels, l)
	}
	s, err := secretOf(&rel, 0)
	if err != nil {
		return nil, err
	}
	s.ResourceVersion = i.ResourceVersion
	return s, nil
}
