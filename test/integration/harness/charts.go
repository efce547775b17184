// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"context"
	"maps"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// A Chart holds the files of a Helm chart. With, Without and Version return changed copies.
type Chart struct {
	Files controlplane.Files
}

// WebChart returns the chart in testdata/web, version 1.0.0: a ConfigMap (<release>-settings), a ServiceAccount, a Service and
// a Deployment; see its values.yaml.
func WebChart() Chart {
	GinkgoHelper()
	files, err := controlplane.ReadDir(filepath.Join("testdata", "web"))
	Expect(err).NotTo(HaveOccurred())
	return Chart{Files: files}
}

// WebChart2 returns WebChart in version 2.0.0, which has <release>-options instead of <release>-settings.
func WebChart2() Chart {
	GinkgoHelper()
	return WebChart().Version("2.0.0").Without("templates/settings.yaml").With("templates/options.yaml", `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-options
data:
  message: {{ .Values.message | quote }}
`)
}

// NewChart returns a chart without templates.
func NewChart(name, version string) Chart {
	return Chart{Files: controlplane.Files{
		"Chart.yaml": []byte("apiVersion: v2\nname: " + name + "\nversion: " + version + "\n"),
	}}
}

// CrossplaneChart returns Crossplane's own chart, unchanged.
func CrossplaneChart(ctx context.Context) Chart {
	GinkgoHelper()
	dir, err := tools.ModuleDir(ctx, tools.Crossplane, "github.com/crossplane/crossplane/v2")
	Expect(err).NotTo(HaveOccurred())
	files, err := controlplane.ReadDir(filepath.Join(dir, "cluster", "charts", "crossplane"))
	Expect(err).NotTo(HaveOccurred())
	return Chart{Files: files}
}

// OperatorChart returns the chart of a module with a custom resource: the CRD of kind Widget in crds/, and a ConfigMap that
// stands in for the operator. Each spec must use its own group, because CRDs are cluster-scoped.
func OperatorChart(group string) Chart {
	return NewChart("operator", "1.0.0").With("crds/widgets.yaml", controlplane.WidgetCRD(group)).With("templates/operator.yaml", `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-operator
data:
  group: {{ .Values.group | default "none" }}
`)
}

func (c Chart) With(name, content string) Chart {
	files := maps.Clone(c.Files)
	files[name] = []byte(content)
	return Chart{Files: files}
}

func (c Chart) Without(name string) Chart {
	files := maps.Clone(c.Files)
	delete(files, name)
	return Chart{Files: files}
}

// Version returns the chart with another version.
func (c Chart) Version(v string) Chart {
	var lines [][]byte
	for line := range bytes.Lines(c.Files["Chart.yaml"]) {
		if bytes.HasPrefix(line, []byte("version:")) {
			line = []byte("version: " + v + "\n")
		}
		lines = append(lines, line)
	}
	return c.With("Chart.yaml", string(bytes.Join(lines, nil)))
}

// PushLayer pushes the chart as the layer of a module, and returns its source by the digest of the layer.
func (c Chart) PushLayer(ctx context.Context) v1alpha1.Source {
	GinkgoHelper()
	p, err := Env.Registry.PushModule(ctx, "component-descriptors/example.org/module/test", c.Files)
	Expect(err).NotTo(HaveOccurred())
	return OciRef(p.Repository, p.Layer)
}

// Push pushes the chart as Helm does, into charts/<name of the chart>.
func (c Chart) Push(ctx context.Context) controlplane.Pushed {
	GinkgoHelper()
	p, err := Env.Registry.PushChart(ctx, "charts", c.Files)
	Expect(err).NotTo(HaveOccurred())
	return p
}

// OciRef returns the source of a blob or manifest by digest. The repository is host/path/name.
func OciRef(repository, digest string) v1alpha1.Source {
	host, path, _ := strings.Cut(repository, "/")
	first, rest, _ := strings.Cut(path, "/")
	return v1alpha1.Source{Type: v1alpha1.SourceTypeOCIRef, Repo: host + "/" + first, Name: rest, Ref: digest}
}

// HelmChart returns the source of a chart in a registry (oci://) or in a chart repository.
func HelmChart(url, name, version string) v1alpha1.Source {
	return v1alpha1.Source{Type: v1alpha1.SourceTypeHelmChart, URL: url, ChartName: name, Version: version}
}

// Charts returns the URL of the charts in the registry.
func (e *Environment) Charts() string { return "oci://" + e.Registry.Host() + "/charts" }
