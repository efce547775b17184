// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/crossplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

const (
	firstVersion  = "v0.0.1-e2e"
	secondVersion = "v0.0.2-e2e"
	// registriesConfig is the ClusterProviderConfig that allows the registry of the components of ModuleTemplates.
	registriesConfig = "registries"
	// olderCrossplane is the environment variable with an older minor version of Crossplane. See make test-matrix.
	olderCrossplane = "OLDER_CROSSPLANE"
)

// An environment holds the servers that all specs share, and Crossplane with the provider.
type environment struct {
	dir string
	// control is the control plane, target the cluster that modules are installed into.
	control, target *controlplane.Cluster
	// controlClient and targetClient have the permissions of administrators.
	controlClient, targetClient client.WithWatch
	registry                    *controlplane.Registry
	crossplane                  *crossplane.Crossplane
	// kymactl is the path of the kymactl binary.
	kymactl string
	changes *changeLog
	// digests maps the names of the packages of the first build to their digests.
	digests map[string]string
	// retired lists the Deployments of the revisions that were replaced or deleted.
	retired []string
	// metrics is the address of the provider's metrics, host:port.
	metrics string
}

// start builds everything, starts the servers and installs the packages, and returns once the provider runs.
func start(ctx context.Context) (*environment, error) {
	dir, err := os.MkdirTemp("", "provider-kyma-e2e-")
	if err != nil {
		return nil, errors.Wrap(err, "cannot make a directory")
	}
	e := &environment{dir: dir}
	err = e.build(ctx)
	if err == nil {
		err = e.startServers(ctx)
	}
	if err == nil {
		err = e.configure(ctx)
	}
	if err == nil {
		err = e.install(ctx)
	}
	if err != nil {
		e.stop()
		return nil, err
	}
	return e, nil
}

// build builds the packages of both versions, and kymactl.
func (e *environment) build(ctx context.Context) error {
	var err error
	if e.digests, err = crossplane.BuildPackages(ctx, e.packages(firstVersion), firstVersion); err != nil {
		return err
	}
	if _, err = crossplane.BuildPackages(ctx, e.packages(secondVersion), secondVersion); err != nil {
		return err
	}
	e.kymactl, err = controlplane.BuildKymactl(ctx, e.dir)
	return err
}

// packages returns the directory of the packages of a version.
func (e *environment) packages(version string) string {
	return filepath.Join(e.dir, "packages", version)
}

func (e *environment) startServers(ctx context.Context) error {
	options, err := crossplane.ClusterOptions(filepath.Join(e.dir, "control-plane"))
	if err != nil {
		return err
	}
	clusters, err := controlplane.StartAll(ctx, options, controlplane.Options{Name: "target"}.Complete())
	if err != nil {
		return err
	}
	e.control, e.target = clusters[0], clusters[1]
	if e.controlClient, err = e.control.Client(); err != nil {
		return err
	}
	for _, add := range []func(*runtime.Scheme) error{pkgv1.SchemeBuilder.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(e.controlClient.Scheme()); err != nil {
			return errors.Wrap(err, "cannot register the kinds of packages")
		}
	}
	if e.targetClient, err = e.target.Client(); err != nil {
		return err
	}
	if e.registry, err = controlplane.StartRegistry(controlplane.WebOptions{}); err != nil {
		return err
	}
	e.crossplane, err = crossplane.Start(ctx, crossplane.Options{
		Cluster: e.control, Registry: e.registry, Dir: filepath.Join(e.dir, "crossplane"), ProtectProviders: true, Version: os.Getenv(olderCrossplane),
	})
	return err
}

// configure sets how the provider will run: as one of several that elect a leader, with the address of its metrics.
func (e *environment) configure(ctx context.Context) error {
	port, err := process.FreePort(ctx)
	if err != nil {
		return err
	}
	e.metrics = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	socket := filepath.Join(e.dir, "changes.sock")
	if e.changes, err = startChangeLog(ctx, socket); err != nil {
		return err
	}
	return e.crossplane.Configure(ctx,
		"--debug", "--leader-election", "--min-poll-interval=1s",
		"--module-registry-config="+registriesConfig, "--metrics-bind-address="+e.metrics,
		"--enable-changelogs", "--changelogs-socket-path="+socket)
}

// install installs the packages as users do: the provider by the command line, the configuration as an object. Crossplane
// fetches the other dependencies of the configuration.
func (e *environment) install(ctx context.Context) error {
	ref, err := e.pushProvider(ctx, firstVersion)
	if err != nil {
		return err
	}
	name := crossplane.ObjectName(crossplane.ProviderPackage)
	if _, err := e.crossplane.Crank(ctx, "xpkg", "install", "provider", ref, name); err != nil {
		return err
	}
	if err := e.crossplane.AwaitInstalled(ctx, crossplane.ProviderPackage, nil); err != nil {
		return err
	}
	if err := e.crossplane.PushFunctions(ctx); err != nil {
		return err
	}
	ref, err = e.crossplane.Push(ctx, e.file(crossplane.ConfigurationPackage, firstVersion), crossplane.ConfigurationPackage, firstVersion)
	if err != nil {
		return err
	}
	if err := e.crossplane.InstallConfiguration(ctx, ref); err != nil {
		return err
	}
	if err := e.crossplane.InstallFunctions(ctx); err != nil {
		return err
	}
	if _, err := e.crossplane.AwaitPod(ctx); err != nil {
		return err
	}
	return e.allowRegistry(ctx)
}

// allowRegistry creates the ClusterProviderConfig with which components are fetched from the registry.
func (e *environment) allowRegistry(ctx context.Context) error {
	config := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: registriesConfig}}
	config.Spec.Credentials.Source = v1alpha1.CredentialsSourceNone
	config.Spec.Registries = []v1alpha1.Registry{{Host: e.registry.Host(), PlainHTTP: true}}
	return errors.Wrap(e.controlClient.Create(ctx, config), "cannot create a ClusterProviderConfig")
}

func (e *environment) file(name, version string) string {
	return filepath.Join(e.packages(version), name+".xpkg")
}

// pushProvider pushes the package of the provider in a version, and returns its reference for Crossplane.
func (e *environment) pushProvider(ctx context.Context, version string) (string, error) {
	return e.crossplane.Push(ctx, e.file(crossplane.ProviderPackage, version), crossplane.ProviderPackage, version)
}

// providerLogs returns the logs of all revisions of the provider.
func (e *environment) providerLogs() string {
	files, err := filepath.Glob(filepath.Join(e.crossplane.Dir(), "pods", "*", "provider.log"))
	if err != nil {
		return err.Error()
	}
	out := &strings.Builder{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return err.Error()
		}
		_, _ = out.Write(data)
	}
	return out.String()
}

// stop stops everything and removes its data.
func (e *environment) stop() {
	e.crossplane.Stop()
	e.changes.stop()
	if e.registry != nil {
		e.registry.Stop()
	}
	e.target.Stop()
	e.control.Stop()
	_ = os.RemoveAll(e.dir)
}

// namespaceOf returns a Namespace with a name.
func namespaceOf(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// providerClient returns a client with the identity of the provider.
func (e *environment) providerClient(ctx context.Context) (client.Client, error) {
	pod, err := e.crossplane.AwaitPod(ctx)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", pod.Kubeconfig)
	if err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: e.controlClient.Scheme()})
}

// may reports whether the provider has a permission, by a review with its own identity.
func (e *environment) may(ctx context.Context, what *authorizationv1.ResourceAttributes) (bool, error) {
	c, err := e.providerClient(ctx)
	if err != nil {
		return false, err
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: what}}
	err = c.Create(ctx, review)
	return review.Status.Allowed, err
}

// mayDelete reports whether the provider may delete Manifests.
func (e *environment) mayDelete(ctx context.Context) (bool, error) {
	return e.may(ctx, &authorizationv1.ResourceAttributes{Group: v1alpha1.Group, Resource: "manifests", Verb: "delete"})
}

// refused returns the requests for which the provider had no permission. It omits those in terminating namespaces, in which
// nothing can be created, and those of retired revisions, which lose their permissions before they end.
func (e *environment) refused() ([]crossplane.Refusal, error) {
	all, err := crossplane.Refused(e.control)
	return slices.DeleteFunc(all, func(r crossplane.Refusal) bool {
		return strings.Contains(r.Reason, "because it is being terminated") || slices.Contains(e.retired, r.User[strings.LastIndexByte(r.User, ':')+1:])
	}), err
}

// retire marks a revision that will be replaced or deleted. No request of it may have been refused so far.
func (e *environment) retire(p crossplane.Pod) {
	GinkgoHelper()
	Expect(e.refused()).To(BeEmpty())
	e.retired = append(e.retired, p.Deployment)
}
