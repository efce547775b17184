// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// packages pushes packages to a registry and installs them in a control plane.
type packages struct {
	at       host
	servers  *servers
	registry *controlplane.Registry
	// crank is the path of Crossplane's command line.
	crank string
}

// Crank runs Crossplane's command line as an administrator of the control plane and returns its output.
func (p *packages) Crank(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, p.crank, args...)
	cmd.Dir = p.at.dir
	cmd.Env = []string{"HOME=" + p.at.dir, "KUBECONFIG=" + p.at.cluster.KubeconfigFile()}
	out, err := cmd.CombinedOutput()
	return string(out), errors.Wrapf(err, "crossplane %s: %s", strings.Join(args, " "), strings.TrimSpace(string(out)))
}

// Push pushes a package file to the registry of the test, with Crossplane's command
// line, and returns the name by which Crossplane finds it:
// xpkg.crossplane.io/crossplane-contrib/name:tag.
func (p *packages) Push(ctx context.Context, file, name, tag string) (string, error) {
	path := "/" + Organization + "/" + name + ":" + tag
	_, err := p.Crank(ctx, "xpkg", "push", "--package-files="+file, p.registry.Host()+path)
	return Host + path, err
}

// PushFunctions pushes the packages of the functions, so that compositions and configurations find them. It omits their
// images, which only a node would pull.
func (p *packages) PushFunctions(ctx context.Context) error {
	for _, f := range functions() {
		source, err := tools.ModuleDir(ctx, f.tool, f.module)
		if err != nil {
			return err
		}
		file := p.at.path(string(f.tool) + ".xpkg")
		if _, err := p.Crank(ctx, "xpkg", "build", "--package-root="+filepath.Join(source, "package"), "--package-file="+file); err != nil {
			return err
		}
		if _, err := p.Push(ctx, file, string(f.tool), f.version); err != nil {
			return err
		}
	}
	return nil
}

// ObjectName returns the name of the object of a package, which is the same for an explicit installation and a
// dependency.
func ObjectName(pkg string) string { return Organization + "-" + pkg }

// InstallProvider installs or upgrades the provider from a name that Push returned, and returns when it is healthy.
func (p *packages) InstallProvider(ctx context.Context, ref string) error {
	o := &pkgv1.Provider{ObjectMeta: metav1.ObjectMeta{Name: ObjectName(ProviderPackage)}}
	return p.installPackage(ctx, o, &o.Spec.PackageSpec, ref)
}

// InstallConfiguration installs or upgrades the configuration, and returns when it is healthy. The registry must contain
// its dependencies.
func (p *packages) InstallConfiguration(ctx context.Context, ref string) error {
	o := &pkgv1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: ObjectName(ConfigurationPackage)}}
	return p.installPackage(ctx, o, &o.Spec.PackageSpec, ref)
}

// InstallFunctions pushes the functions of the compositions, installs them, and returns when they are healthy.
func (p *packages) InstallFunctions(ctx context.Context) error {
	if err := p.PushFunctions(ctx); err != nil {
		return err
	}
	for _, fn := range functions() {
		f := &pkgv1.Function{ObjectMeta: metav1.ObjectMeta{Name: ObjectName(string(fn.tool))}}
		if err := p.installPackage(ctx, f, &f.Spec.PackageSpec, fn.ref()); err != nil {
			return err
		}
	}
	return nil
}

// A pack is the object of an installed package.
type pack interface {
	client.Object
	GetCondition(t xpv2.ConditionType) xpv2.Condition
}

// installPackage creates or updates the object of a package. spec must point to the package spec of o.
func (p *packages) installPackage(ctx context.Context, o pack, spec *pkgv1.PackageSpec, ref string) error {
	if err := createOrUpdate(ctx, p.at.client, o, func() { spec.Package = ref }); err != nil {
		return errors.Wrapf(err, "cannot install package %q", ref)
	}
	return p.awaitPackage(ctx, o, nil)
}

// createOrUpdate creates or updates an object. It retries conflicts, because Crossplane writes the same objects.
func createOrUpdate(ctx context.Context, c client.Client, o client.Object, change func()) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { //nolint:wrapcheck // Callers say what it is.
		_, err := controllerutil.CreateOrUpdate(ctx, c, o, func() error {
			change()
			return nil
		})
		return err //nolint:wrapcheck // It says whether there was a conflict.
	})
}

// AwaitInstalled waits until a package of this repository is installed and healthy, regardless of who created its object.
// onChange is called with each new state, and may be nil.
func (p *packages) AwaitInstalled(ctx context.Context, name string, onChange func(seen string)) error {
	var o pack = &pkgv1.Provider{}
	if name == ConfigurationPackage {
		o = &pkgv1.Configuration{}
	}
	o.SetName(ObjectName(name))
	return p.awaitPackage(ctx, o, onChange)
}

// awaitPackage waits until Crossplane reports that the current generation of a package is installed and healthy.
func (p *packages) awaitPackage(ctx context.Context, o pack, onChange func(seen string)) error {
	return p.servers.wait("package "+o.GetName()+" is healthy", onChange).Until(ctx, func(ctx context.Context) (bool, string, error) {
		if err := p.at.client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return false, "", err //nolint:wrapcheck // It names the object.
		}
		for _, t := range []xpv2.ConditionType{pkgv1.TypeInstalled, pkgv1.TypeHealthy} {
			c := o.GetCondition(t)
			if c.Status != "True" || c.ObservedGeneration != o.GetGeneration() {
				return false, strings.TrimSpace(fmt.Sprintf("%s is %s: %s %s", t, c.Status, c.Reason, c.Message)), nil
			}
		}
		return true, "installed and healthy", nil
	})
}

// Configure sets the arguments of providers in the default DeploymentRuntimeConfig, as users do. It applies to providers
// without their own configuration, and replaces the arguments of the previous call.
func (p *packages) Configure(ctx context.Context, args ...string) error {
	c := &pkgv1beta1.DeploymentRuntimeConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	err := createOrUpdate(ctx, p.at.client, c, func() {
		c.Spec.DeploymentTemplate = &pkgv1beta1.DeploymentTemplate{Spec: &appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "package-runtime", Args: args}}}},
		}}
	})
	return errors.Wrap(err, "cannot configure the runtime of providers")
}

// mirror rewrites the names of packages to the registry of the test.
func (p *packages) mirror(ctx context.Context) error {
	config := &pkgv1beta1.ImageConfig{ObjectMeta: metav1.ObjectMeta{Name: "mirror"}}
	config.Spec.MatchImages = []pkgv1beta1.ImageMatch{{Type: pkgv1beta1.Prefix, Prefix: Host}}
	config.Spec.RewriteImage = &pkgv1beta1.ImageRewrite{Prefix: p.registry.Host()}
	return p.servers.await(ctx, "ImageConfigs are served", func(ctx context.Context) error {
		if err := p.at.client.Create(ctx, config); !kerrors.IsAlreadyExists(err) {
			return err //nolint:wrapcheck // It names the object.
		}
		return nil
	})
}
