// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/yaml"
)

// A ChartRepository is an http(s) repository of charts with an index.yaml, as
// described at https://helm.sh/docs/topics/chart_repository.
type ChartRepository struct {
	*webServer
}

// StartChartRepository starts a repository with charts.
func StartChartRepository(o WebOptions, charts ...Files) (*ChartRepository, error) {
	files, err := repositoryFiles(charts)
	if err != nil {
		return nil, errors.Wrap(err, "cannot start a chart repository")
	}
	begin := time.Now()
	s, err := newWebServer(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		sum := sha256.Sum256(data)
		w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
		http.ServeContent(w, r, r.URL.Path, begin, bytes.NewReader(data))
	}))
	return &ChartRepository{webServer: s}, errors.Wrap(err, "cannot start a chart repository")
}

// repositoryFiles returns the files that the repository serves, by path.
func repositoryFiles(charts []Files) (map[string][]byte, error) {
	files := map[string][]byte{}
	entries := map[string][]map[string]any{}
	for _, c := range charts {
		m, err := c.chart()
		if err != nil {
			return nil, err
		}
		archive, err := c.Archive(m.Name)
		if err != nil {
			return nil, err
		}
		file := m.Name + "-" + m.Version + ".tgz"
		files["/"+file] = archive
		sum := sha256.Sum256(archive)
		entry := m.all
		entry["urls"] = []string{file}
		entry["digest"] = hex.EncodeToString(sum[:])
		entry["created"] = "2020-01-01T00:00:00Z"
		entries[m.Name] = append(entries[m.Name], entry)
	}
	index, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "generated": "2020-01-01T00:00:00Z", "entries": entries,
	})
	files["/index.yaml"] = index
	return files, errors.Wrap(err, "cannot encode the index")
}
