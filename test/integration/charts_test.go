// SPDX-License-Identifier: Apache-2.0

package integration

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

// A chart is the files of a Helm chart. Its methods return changed copies.
type chart struct {
	files controlplane.Files
}

// webChart is the chart of testdata/web, version 1.0.0: a ConfigMap (<release>-settings), a ServiceAccount, a Service and
// a Deployment; see its values.yaml.
func webChart() chart {
	GinkgoHelper()
	files, err := controlplane.ReadFolder(filepath.Join("testdata", "web"))
	Expect(err).NotTo(HaveOccurred())
	return chart{files: files}
}

// webChart2 is version 2.0.0 of webChart: it has lost <release>-settings and got <release>-options.
func webChart2() chart {
	GinkgoHelper()
	return webChart().version("2.0.0").without("templates/settings.yaml").with("templates/options.yaml", `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-options
data:
  message: {{ .Values.message | quote }}
`)
}

// newChart without any templates.
func newChart(name, version string) chart {
	return chart{files: controlplane.Files{
		"Chart.yaml": []byte("apiVersion: v2\nname: " + name + "\nversion: " + version + "\n"),
	}}
}

// crossplaneChart is Crossplane's own, as it is.
func crossplaneChart(ctx context.Context) chart {
	GinkgoHelper()
	dir, err := tools.ModuleDir(ctx, tools.Crossplane, "github.com/crossplane/crossplane/v2")
	Expect(err).NotTo(HaveOccurred())
	files, err := controlplane.ReadFolder(filepath.Join(dir, "cluster", "charts", "crossplane"))
	Expect(err).NotTo(HaveOccurred())
	return chart{files: files}
}

// operatorChart is the chart of a module with a custom resource: the CRD of kind Widget in its crds directory, and a
// ConfigMap that stands for what serves it. The group must differ between specs, as it is one for the whole cluster.
func operatorChart(group string) chart {
	return newChart("operator", "1.0.0").with("crds/widgets.yaml", controlplane.WidgetDefinition(group)).with("templates/operator.yaml", `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-operator
data:
  group: {{ .Values.group | default "none" }}
`)
}

func (c chart) with(name, content string) chart {
	files := maps.Clone(c.files)
	files[name] = []byte(content)
	return chart{files: files}
}

func (c chart) without(name string) chart {
	files := maps.Clone(c.files)
	delete(files, name)
	return chart{files: files}
}

// version of the chart, instead of the one it has.
func (c chart) version(v string) chart {
	var lines [][]byte
	for line := range bytes.Lines(c.files["Chart.yaml"]) {
		if bytes.HasPrefix(line, []byte("version:")) {
			line = []byte("version: " + v + "\n")
		}
		lines = append(lines, line)
	}
	return c.with("Chart.yaml", string(bytes.Join(lines, nil)))
}

// pushLayer pushes the chart as the layer of a module, found by the digest of the layer.
func (c chart) pushLayer(ctx context.Context) v1alpha1.Source {
	GinkgoHelper()
	p, err := env.registry.PushModule(ctx, "component-descriptors/example.org/module/test", c.files)
	Expect(err).NotTo(HaveOccurred())
	return ociRef(p.Repository, p.Layer)
}

// push the chart as Helm does, into charts/<name of the chart>.
func (c chart) push(ctx context.Context) controlplane.Pushed {
	GinkgoHelper()
	p, err := env.registry.PushChart(ctx, "charts", c.files)
	Expect(err).NotTo(HaveOccurred())
	return p
}

// ociRef is the source of a blob or manifest by digest. The repository is host/path/name.
func ociRef(repository, digest string) v1alpha1.Source {
	host, path, _ := strings.Cut(repository, "/")
	first, rest, _ := strings.Cut(path, "/")
	return v1alpha1.Source{Type: v1alpha1.SourceTypeOCIRef, Repo: host + "/" + first, Name: rest, Ref: digest}
}

// helmChart is the source of a chart of a registry, oci://, or of a chart repository.
func helmChart(url, name, version string) v1alpha1.Source {
	return v1alpha1.Source{Type: v1alpha1.SourceTypeHelmChart, URL: url, ChartName: name, Version: version}
}

// charts is the URL of the charts in the registry.
func (e *environment) charts() string { return "oci://" + e.registry.Host() + "/charts" }
