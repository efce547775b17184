// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var greeter = controlplane.Files{
	"Chart.yaml":        []byte("apiVersion: v2\nname: greeter\nversion: 1.2.0\n"),
	"templates/cm.yaml": []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: greeter}}"),
}

func TestOCI(t *testing.T) {
	r := controlplane.RegistryFor(t, controlplane.WebOptions{Username: "robot", Password: "secret"})
	chart, err := r.PushChart(t.Context(), "charts", greeter)
	if err != nil {
		t.Fatal(err)
	}
	other, err := r.PushBlob(t.Context(), "other", []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}"))
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"greeter/Chart.yaml", "greeter/templates/cm.yaml"}
	login := []RemoteOption{WithBasicAuth("robot", "secret")}
	cases := map[string]struct {
		reason string
		ref    string
		o      []RemoteOption
		want   []string
		err    string
	}{
		"Tag":    {reason: "A chart is pulled by version.", ref: "oci://" + r.Host() + "/charts/greeter:1.2.0", o: login, want: files},
		"Digest": {reason: "A chart is pulled by the digest of its manifest.", ref: r.Host() + "/charts/greeter@" + chart.Manifest, o: login, want: files},
		"Layer":  {reason: "A chart is pulled by the digest of its archive.", ref: r.Host() + "/charts/greeter@" + chart.Layer, o: login, want: files},
		"Text":   {reason: "Objects are pulled by the digest of their layer.", ref: r.Host() + "/other@" + other.Layer, o: login, want: []string{"layer.yaml"}},
		"Plain":  {reason: "A chart is pulled without TLS if the option allows it.", ref: r.Host() + "/charts/greeter:1.2.0", o: append(login, WithPlainHTTP()), want: files},
		"Docker": {
			reason: "A chart is pulled with a pull secret.", ref: r.Host() + "/charts/greeter:1.2.0", want: files,
			o: []RemoteOption{WithDockerConfig([]byte(`{"auths":{"` + r.Host() + `":{"username":"robot","password":"secret"}}}`))},
		},
		"Manifest": {reason: "Any other artifact is refused.", ref: r.Host() + "/other@" + other.Manifest, o: login, err: "not a chart"},
		"Refused":  {reason: "A wrong password is reported, but not repeated.", ref: r.Host() + "/charts/greeter:1.2.0", o: []RemoteOption{WithBasicAuth("robot", "wrong")}, err: "401"},
		"NoTag":    {reason: "The error names a missing tag.", ref: r.Host() + "/charts/greeter:v2", o: login, err: `has no tag "v2"`},
		"Neither":  {reason: "A reference has no default tag.", ref: r.Host() + "/charts/greeter", err: "has neither a tag nor a digest"},
		"Invalid":  {reason: "A reference is validated immediately.", ref: "flux", err: "malformed reference"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := namesOf(t, func() (Layer, error) { return OCI(tc.ref, tc.o...) })
			check(t, tc.reason, tc.want, got, tc.err, err)
		})
	}
}

func TestChartRepository(t *testing.T) {
	r, err := controlplane.StartChartRepository(controlplane.WebOptions{TLS: true, Username: "robot", Password: "secret"}, greeter)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	files := []string{"greeter/Chart.yaml", "greeter/templates/cm.yaml"}
	login := []RemoteOption{WithBasicAuth("robot", "secret"), WithCABundle(r.CA())}
	cases := map[string]struct {
		reason              string
		url, chart, version string
		want                []string
		err                 string
	}{
		"Version":  {reason: "A chart is pulled by version.", url: r.URL(), chart: "greeter", version: "1.2.0", want: files},
		"Range":    {reason: "A chart is pulled by a range.", url: r.URL(), chart: "greeter", version: "^1.0.0", want: files},
		"Missing":  {reason: "The error names a missing version.", url: r.URL(), chart: "greeter", version: "2.0.0", err: "2.0.0"},
		"Scheme":   {reason: "Registries have their own function.", url: "oci://x/y", chart: "greeter", version: "1.0.0", err: "http(s)://"},
		"Password": {reason: "The error does not repeat a password.", url: "https://a:hunter2@x/y", chart: "greeter", version: "1.0.0", err: "use WithBasicAuth"},
		"NoChart":  {reason: "A chart is required, because a repository has many.", url: r.URL(), version: "1.0.0", err: "the chart name and the version are required"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := namesOf(t, func() (Layer, error) { return ChartRepository(tc.url, tc.chart, tc.version, login...) })
			check(t, tc.reason, tc.want, got, tc.err, err)
		})
	}
}

// namesOf returns the names of the files of a source.
func namesOf(t *testing.T, source func() (Layer, error)) ([]string, error) {
	t.Helper()
	l, err := source()
	if err != nil {
		return nil, err
	}
	if l.Digest == "" {
		t.Error("a layer must have a digest")
	}
	c, err := l.Fetch(t.Context())
	if err != nil {
		return nil, err
	}
	files, err := c.Files()
	var out []string
	for _, f := range files {
		out = append(out, f.Name)
	}
	return out, errors.Wrap(err, "files")
}

func check(t *testing.T, reason string, want, got []string, wantErr string, err error) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\n%s\n-want, +got:\n%s", reason, diff)
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	if (wantErr == "") != (err == nil) || !strings.Contains(text, wantErr) || strings.Contains(text, "hunter2") {
		t.Errorf("\n%s\nwant an error with %q, got %v", reason, wantErr, err)
	}
}
