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

// providerName is the name of the Provider object in a control plane.
const providerName = "provider-kyma"

// versions is the output of the command. The names of the fields follow kubectl version.
type versions struct {
	Client clientVersion `json:"clientVersion"`
	// Provider is nil without --provider, or if Crossplane has not installed the provider.
	Provider *providerVersion `json:"providerVersion,omitempty"`
	// Server is nil without --provider.
	Server *serverversion.Info `json:"serverVersion,omitempty"`
}

// clientVersion describes the build of kymactl.
type clientVersion struct {
	GitVersion string `json:"gitVersion"`
	GitCommit  string `json:"gitCommit"`
	GoVersion  string `json:"goVersion"`
	Platform   string `json:"platform"`
}

// providerVersion describes the package that Crossplane runs.
type providerVersion struct {
	GitVersion string `json:"gitVersion"` // Tag or digest of the package.
	Package    string `json:"package"`    // Reference of the package, host/path:tag or host/path@digest.
}

// options holds the flags of kymactl version.
type options struct {
	environment *command.Environment
	cluster     command.ClusterFlags
	output      command.Output
	provider    bool
}

// Command returns the command kymactl version.
func Command(e *command.Environment) *cobra.Command {
	o := &options{environment: e}
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version of kymactl and of the provider in a control plane",
		Long: "Print the version of kymactl. With --provider, also print the version of the provider that Crossplane runs in the " +
			"control plane, and the version of the API server. If kymactl can't reach the control plane, it still prints its own " +
			"version, and fails with exit code 1.\n\n" +
			"With --output json or yaml, the command prints an object with the field clientVersion. With --provider, the object also " +
			"has the fields providerVersion and serverVersion. Each of these fields contains the field gitVersion.",
		Example: "  kymactl version\n" +
			"  kymactl version --provider\n" +
			"  kymactl version -o jsonpath='{.clientVersion.gitVersion}'",
		Args: command.Args(0, 0),
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

// ask adds the versions of the provider and the API server to out.
func (o *options) ask(ctx context.Context, out *versions) error {
	c, err := o.cluster.Connect(o.environment)
	if err != nil {
		return err
	}
	d, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return errors.Wrap(err, "cannot connect to the control plane")
	}
	if out.Server, err = d.ServerVersionWithContext(ctx); err != nil {
		return errors.Wrap(err, "cannot get the version of the API server")
	}
	out.Provider, err = providerIn(ctx, c)
	if err == nil && out.Provider == nil {
		o.environment.Warnf("there is no Provider %s in the control plane: kymactl only knows the version of a provider that Crossplane installed", providerName)
	}
	return err
}

// providerIn returns the provider that Crossplane runs in a control plane, or nil if there is none.
func providerIn(ctx context.Context, c client.Reader) (*providerVersion, error) {
	p := &unstructured.Unstructured{}
	p.SetGroupVersionKind(schema.GroupVersionKind{Group: "pkg.crossplane.io", Version: "v1", Kind: "Provider"})
	err := c.Get(ctx, client.ObjectKey{Name: providerName}, p)
	if kmeta.IsNoMatchError(err) || notfound.Is(err) {
		return nil, nil //nolint:nilnil // No provider is a valid result.
	}
	if err != nil {
		return nil, errors.Wrapf(err, "cannot get Provider %s", providerName)
	}
	// In the CRD of Crossplane, both fields are strings.
	image, _, _ := unstructured.NestedString(p.Object, "status", "currentIdentifier")
	if image == "" {
		image, _, _ = unstructured.NestedString(p.Object, "spec", "package")
	}
	return &providerVersion{GitVersion: tagOf(image), Package: image}, nil
}

// tagOf returns the tag of an image, or the digest if the image has no tag.
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
