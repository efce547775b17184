// SPDX-License-Identifier: Apache-2.0

package version

import (
	"context"
	"io"
	"runtime"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serverversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	build "github.com/crossplane-contrib/provider-kyma/internal/version"
)

// providerName is the name of the Provider object in a control plane, and of the Helm chart.
const providerName = "provider-kyma"

// labelName is the label of the chart's objects with the name of the chart.
const labelName = "app.kubernetes.io/name"

// versions is the output of the command. The names of the fields follow kubectl version.
type versions struct {
	Client clientVersion `json:"clientVersion"`
	// Provider is nil without --provider, or if the provider was not found.
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

// providerVersion describes the package that Crossplane runs, or the image of a Deployment of the Helm chart.
type providerVersion struct {
	GitVersion string `json:"gitVersion"` // Tag or digest of the package or image.
	// Package or Image is the reference, host/path:tag or host/path@digest.
	Package string `json:"package,omitempty"`
	Image   string `json:"image,omitempty"`
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
		Long: "Print the version of kymactl. With --provider, also print the version of the provider that Crossplane or the Helm chart runs " +
			"in the control plane, and the version of the API server. If kymactl can't reach the control plane, it still prints its own " +
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
	if out.Provider, err = providerIn(ctx, c); err == nil && out.Provider == nil {
		out.Provider, err = deploymentIn(ctx, c)
	}
	if err == nil && out.Provider == nil {
		o.environment.Warnf("the control plane has neither a Provider %s nor a Deployment of the chart %s", providerName, providerName)
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

// deploymentIn returns the provider that a Deployment of the Helm chart runs in any namespace, or nil if there is none.
func deploymentIn(ctx context.Context, c client.Reader) (*providerVersion, error) {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("DeploymentList"))
	if err := c.List(ctx, l, client.MatchingLabels{labelName: providerName}); err != nil {
		return nil, errors.Wrapf(err, "cannot list Deployments with the label %s=%s", labelName, providerName)
	}
	for i := range l.Items {
		d := &appsv1.Deployment{}
		if err := kruntime.DefaultUnstructuredConverter.FromUnstructured(l.Items[i].Object, d); err != nil {
			return nil, errors.Wrapf(err, "cannot read Deployment %s/%s", l.Items[i].GetNamespace(), l.Items[i].GetName())
		}
		if containers := d.Spec.Template.Spec.Containers; len(containers) > 0 {
			return &providerVersion{GitVersion: tagOf(containers[0].Image), Image: containers[0].Image}, nil
		}
	}
	return nil, nil //nolint:nilnil // No provider is a valid result.
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
