// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bufio"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// A request tells a child to render a chart, to read plain objects or, otherwise, to build a kustomization. The contents of the
// files follow it.
type request struct {
	Chart     *chartRequest `json:"chart,omitempty"`
	Plain     bool          `json:"plain,omitempty"`
	Directory string        `json:"directory,omitempty"` // of the kustomization
	Files     []fileHeader  `json:"files"`
}

type fileHeader struct {
	Name string `json:"name"`
	Size int    `json:"size"`
}

// A chartRequest contains the render.Options that a child needs.
type chartRequest struct {
	Digest      string         `json:"digest"`
	ReleaseName string         `json:"releaseName"`
	Namespace   string         `json:"namespace"`
	Upgrade     bool           `json:"upgrade,omitempty"`
	Revision    int            `json:"revision"`
	Values      map[string]any `json:"values,omitempty"`
	Overrides   map[string]any `json:"overrides,omitempty"`
	KubeVersion string         `json:"kubeVersion,omitempty"`
	APIVersions []string       `json:"apiVersions"` // null differs from an empty list
	SkipCRDs    bool           `json:"skipCRDs,omitempty"`
	SkipSchema  bool           `json:"skipSchema,omitempty"`
}

func newChartRequest(c *render.Chart, o render.Options) *chartRequest {
	return &chartRequest{
		Digest: c.Digest(), ReleaseName: o.ReleaseName, Namespace: o.Namespace, Upgrade: o.Upgrade, Revision: o.Revision,
		Values: exact(o.Values), Overrides: exact(o.Overrides), KubeVersion: o.KubeVersion, APIVersions: o.APIVersions,
		SkipCRDs: o.SkipCRDs, SkipSchema: o.SkipSchema,
	}
}

func (r *chartRequest) options() render.Options {
	return render.Options{
		ReleaseName: r.ReleaseName, Namespace: r.Namespace, Upgrade: r.Upgrade, Revision: r.Revision,
		Values: r.Values, Overrides: r.Overrides, KubeVersion: r.KubeVersion, APIVersions: r.APIVersions,
		SkipCRDs: r.SkipCRDs, SkipSchema: r.SkipSchema,
	}
}

// decodeRequest decodes a request, with the types of the numbers in its values.
func decodeRequest(data []byte) (*request, error) {
	r := &request{}
	if err := decodeNumbers(data, r); err != nil {
		return nil, err
	}
	if r.Chart == nil {
		return r, nil
	}
	for _, m := range []map[string]any{r.Chart.Values, r.Chart.Overrides} {
		if err := json.ConvertMapNumbers(m, 0); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// write writes the request and its files with few system calls.
func (r *request) write(to io.Writer, files []input.File) error {
	w := bufio.NewWriterSize(to, pipeSize)
	r.Files = make([]fileHeader, len(files))
	for i, f := range files {
		r.Files[i] = fileHeader{Name: f.Name, Size: len(f.Data)}
	}
	head, err := json.Marshal(r)
	if err != nil {
		return errors.Wrap(err, "cannot encode the values")
	}
	if err := writeFrame(w, kindRequest, head); err != nil {
		return err
	}
	for _, f := range files {
		if _, err := w.Write(f.Data); err != nil {
			return err
		}
	}
	return w.Flush()
}

// readFiles reads the files that follow a request.
func (r *request) readFiles(in io.Reader) ([]input.File, error) {
	out := make([]input.File, len(r.Files))
	for i, f := range r.Files {
		out[i] = input.File{Name: f.Name, Data: make([]byte, f.Size)}
		if _, err := io.ReadFull(in, out[i].Data); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// A lookupRequest contains the arguments of the template function lookup.
type lookupRequest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

// A lookupAnswer is the result of lookup.
type lookupAnswer struct {
	Object map[string]any `json:"object"` // Empty, and not nil, if there is no such object.
	Error  string         `json:"error,omitempty"`
}
