// SPDX-License-Identifier: Apache-2.0

package record

import (
	"compress/gzip"
	"encoding/json"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"

	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

const (
	// smallRecord is the size of chart and manifest, in bytes, up to which a record always fits, however badly they
	// compress: the content of the chart is base64-encoded twice, which makes it 16/9 as large.
	smallRecord = 512 << 10

	// recordReserve is kept free for content that Check cannot know: another status, a longer description, and the
	// last run of each hook.
	recordReserve = 8 << 10

	// leanNote is added to the description of a record without the files of its chart.
	leanNote = " (recorded without the templates and files of the chart, to fit into a Secret)"
)

// A form describes a record: its compression level, and whether it omits the templates and files of the chart.
type form struct {
	level int
	lean  bool
}

// forms returns the forms in the order in which they are tried. Most records are much smaller than a Secret, and the
// best compression takes several times as long for a few percent. Helm itself needs templates and files least: list,
// history, status, get, rollback and uninstall work without them.
func forms() []form {
	return []form{
		{level: gzip.DefaultCompression},
		{level: gzip.BestCompression},
		{level: gzip.DefaultCompression, lean: true},
		{level: gzip.BestCompression, lean: true},
	}
}

// encodeFrom encodes a release as base64 of gzip of JSON, in the first form, starting at index from, that results in
// no more than most bytes, and returns the index of that form.
func encodeFrom(rel *release.Release, from, most int) ([]byte, int, error) {
	all := forms()
	var err error
	for i := from; i < len(all); i++ {
		var out []byte
		if out, err = encodeIn(rel, all[i], most); err == nil {
			return out, i, nil
		}
		if large := (*sizeError)(nil); !errors.As(err, &large) {
			break
		}
	}
	return nil, 0, err
}

func encodeIn(rel *release.Release, f form, most int) ([]byte, error) {
	if f.lean {
		rel = lean(rel)
	}
	plain, err := json.Marshal(rel)
	if err != nil {
		return nil, err
	}
	if err := yamlsize.CheckItems(plain, maxItems); err != nil {
		return nil, errors.Wrap(err, "the record could not be read again")
	}
	out, err := pack(plain, f.level)
	if err == nil && len(out) > most {
		err = &sizeError{size: len(out)}
	}
	return out, err
}

// A sizeError is the error of a record that is too large; size is in bytes.
type sizeError struct{ size int }

func (e *sizeError) Error() string {
	return fmt.Sprintf("the record has %d bytes, even without the templates and files of the chart, but a Secret can "+
		"store at most %d; split the chart into smaller ones, or install its objects as raw or kustomize, which have no record", e.size, maxSecretSize)
}

// lean returns a copy of a release without templates and files of the chart. It keeps the values, because helm get
// values and helm upgrade --reuse-values read them.
func lean(rel *release.Release) *release.Release {
	out, info := *rel, *rel.Info
	out.Chart = &chart.Chart{Metadata: rel.Chart.Metadata, Values: rel.Chart.Values}
	info.Description += leanNote
	out.Info = &info
	return &out
}

// sizeOfRelease returns the approximate number of bytes to encode.
func sizeOfRelease(rel *release.Release) int {
	n := len(rel.Manifest) + len(rel.Info.Notes) + len(rel.Chart.Schema) + sizeOfValue(rel.Chart.Values) + sizeOfValue(rel.Config)
	for _, f := range rel.Chart.Templates {
		n += len(f.Data)
	}
	for _, f := range rel.Chart.Files {
		n += len(f.Data)
	}
	for _, h := range rel.Hooks {
		n += len(h.Manifest)
	}
	return n
}

func sizeOfValue(v any) int {
	const scalar = 8
	n := scalar
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for _, e := range v {
			n += sizeOfValue(e)
		}
	case map[string]any:
		for k, e := range v {
			n += len(k) + sizeOfValue(e)
		}
	}
	return n
}
