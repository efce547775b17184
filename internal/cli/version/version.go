// SPDX-License-Identifier: Apache-2.0

package version

import (
	"context"
	"io"
	"runtime"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serverversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	build "github.com/crossplane-contrib/provider-kyma/internal/version"
)

// providerName is the name of the package in a control plane.
const providerName = "provider-kyma"

// versions of all that takes part. The names are those of kubectl version.
type versions struct {
	Client clientVersion `json:"clientVersion"`
	// Provider is that of the control plane; none if it was not asked for, or if Crossplane has not installed it.
	Provider *providerVersion `json:"providerVersion,omitempty"`
	// Server is the API server of the control plane; none if it was not asked for.
	Server *serverversion.Info `json:"serverVersion,omitempty"`
}

// clientVersion is what kymactl was built from.
type clientVersion struct {
	GitVersion string `json:"gitVersion"`
	GitCommit  string `json:"gitCommit"`
	GoVersion  string `json:"goVersion"`
	Platform   string `json:"platform"`
}

// providerVersion is the package that Crossplane runs.
type providerVersion struct {
	GitVersion string `json:"gitVersion"` // The tag of the package, or its digest.
	Package    string `json:"package"`    // host/path:tag or host/path@digest.
}

// options are the flags of version.
type options struct {
	environment *command.Environment
	cluster     command.ClusterFlags
	output      command.Output
	provider    bool
}

// Command makes kymactl version.
func Command(e *command.Environment) *cobra.Command {
	o := &options{environment: e}
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version of kymactl, and of the provider in a control plane",
		Long: "Print the version of kymactl. With --provider, also print the version of the provider that Crossplane runs in the control plane, " +
			"and of the API server. If the control plane cannot be reached, the version of kymactl is printed all the same, and the exit code is 1.\n\n" +
			"--output json and yaml write one object with clientVersion, and with --provider also providerVersion and serverVersion. " +
			"Each has gitVersion.",
		Example: "  kymactl version\n" +
			"  kymactl version --provider\n" +
			"  kymactl version -o jsonpath='{.clientVersion.gitVersion}'",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.cluster.AddFlags(c.Flags())
	o.output.AddFlag(c.Flags(), false)
	c.Flags().BoolVar(&o.provider, "provider", false, "also print the versions of the provider and the API server in the control plane")
	return c
}

func (o *options) run(ctx context.Context) error {
	if err := o.output.Check(); err != nil {
		return err
	}
	b := build.Get()
	out := &versions{Client: clientVersion{
		GitVersion: build.Installed(), GitCommit: b.Commit, GoVersion: b.Go, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}}
	var unreached error
	if o.provider {
		unreached = o.ask(ctx, out)
	}
	if err := o.output.Write(o.environment.Out, out, out.write); err != nil {
		return err
	}
	return unreached
}

// ask the control plane for its versions.
func (o *options) ask(ctx context.Context, out *versions) error {
	c, err := o.cluster.Connect(o.environment)
	if err != nil {
		return err
	}
	d, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return errors.Wrap(err, "cannot talk to the control plane")
	}
	if out.Server, err = d.ServerVersionWithContext(ctx); err != nil {
		return errors.Wrap(err, "cannot get the version of the API server")
	}
	out.Provider, err = providerIn(ctx, c)
	if err == nil && out.Provider == nil {
		o.environment.Warnf("there is no Provider %s in the control plane: the version of a provider that Crossplane has not installed is not known", providerName)
	}
	return err
}

// providerIn returns the provider that Crossplane runs in a control plane, or nil.
func providerIn(ctx context.Context, c client.Reader) (*providerVersion, error) {
	p := &unstructured.Unstructured{}
	p.SetGroupVersionKind(schema.GroupVersionKind{Group: "pkg.crossplane.io", Version: "v1", Kind: "Provider"})
	err := c.Get(ctx, client.ObjectKey{Name: providerName}, p)
	if kmeta.IsNoMatchError(err) || notfound.Is(err) {
		return nil, nil //nolint:nilnil // That there is none is an answer.
	}
	if err != nil {
		return nil, errors.Wrapf(err, "cannot get Provider %s", providerName)
	}
	image, _, _ := unstructured.NestedString(p.Object, "status", "currentIdentifier")
	if image == "" {
		image, _, _ = unstructured.NestedString(p.Object, "spec", "package")
	}
	return &providerVersion{GitVersion: tagOf(image), Package: image}, nil
}

// tagOf returns the tag of an image, or its digest if it has no tag.
func tagOf(image string) string {
	image, digest, _ := strings.Cut(image, "@")
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	if tag == "" {
		return digest
	}
	return tag
}

func (v *versions) write(w io.Writer) error {
	lines := []string{"Client Version: " + v.Client.GitVersion}
	if v.Provider != nil {
		lines = append(lines, "Provider Version: "+v.Provider.GitVersion)
	}
	if v.Server != nil {
		lines = append(lines, "Server Version: "+v.Server.GitVersion)
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}
