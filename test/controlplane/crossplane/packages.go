// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// Names of the packages of this repository, and of their files without .xpkg.
const (
	ProviderPackage      = "provider-kyma"
	ConfigurationPackage = "configuration-kyma"
)

// BuildPackages builds the packages of this repository into a folder, for this
// platform, with make's own program, and returns the digest of each by its name. The
// provider calls itself version.
func BuildPackages(ctx context.Context, dir, version string) (map[string]string, error) {
	root, err := tools.Root()
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, errors.Wrap(err, "cannot find the folder for packages")
	}
	program := filepath.Join(dir, ".images")
	defer func() { _ = os.Remove(program) }()
	if err := tools.Compile(ctx, tools.Program{Dir: root, Package: "./cluster/images", Output: program}); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program,
		"-dir="+dir, "-version="+version, "-platforms="+runtime.GOOS+"/"+runtime.GOARCH, "xpkg")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, errors.Wrapf(err, "cannot build the packages: %s", strings.TrimSpace(string(out)))
	}
	digests := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if name, digest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(digest, "sha256:") {
			digests[name] = digest
		}
	}
	return digests, nil
}

// Crank runs Crossplane's command line as an administrator of the control plane and
// returns what it printed.
func (x *Crossplane) Crank(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, x.crank, args...)
	cmd.Dir = x.dir
	cmd.Env = []string{"HOME=" + x.dir, "KUBECONFIG=" + x.options.Cluster.KubeconfigFile()}
	out, err := cmd.CombinedOutput()
	return string(out), errors.Wrapf(err, "crossplane %s: %s", strings.Join(args, " "), strings.TrimSpace(string(out)))
}

// Push pushes a package file to the registry of the test, with Crossplane's command
// line, and returns the name by which Crossplane finds it:
// xpkg.crossplane.io/crossplane-contrib/name:tag.
func (x *Crossplane) Push(ctx context.Context, file, name, tag string) (string, error) {
	path := "/" + Organization + "/" + name + ":" + tag
	_, err := x.Crank(ctx, "xpkg", "push", "--package-files="+file, x.options.Registry.Host()+path)
	return Host + path, err
}

// ObjectName is the name that the object of a package has, whether it is installed
// by InstallProvider and its like or as a dependency.
func ObjectName(pkg string) string { return Organization + "-" + pkg }

// InstallProvider installs or upgrades the provider from a name that Push returned,
// and returns once it is healthy.
func (x *Crossplane) InstallProvider(ctx context.Context, ref string) error {
	p := &pkgv1.Provider{ObjectMeta: metav1.ObjectMeta{Name: ObjectName(ProviderPackage)}}
	return x.installPackage(ctx, p, &p.Spec.PackageSpec, ref)
}

// InstallConfiguration does the same with the configuration. What it depends on must
// be in the registry.
func (x *Crossplane) InstallConfiguration(ctx context.Context, ref string) error {
	c := &pkgv1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: ObjectName(ConfigurationPackage)}}
	return x.installPackage(ctx, c, &c.Spec.PackageSpec, ref)
}

// InstallFunctions pushes the functions of the compositions, installs them, and
// returns once they are healthy.
func (x *Crossplane) InstallFunctions(ctx context.Context) error {
	if err := x.PushFunctions(ctx); err != nil {
		return err
	}
	for _, fn := range functions() {
		f := &pkgv1.Function{ObjectMeta: metav1.ObjectMeta{Name: ObjectName(string(fn.tool))}}
		if err := x.installPackage(ctx, f, &f.Spec.PackageSpec, fn.ref()); err != nil {
			return err
		}
	}
	return nil
}

// A pack is a package as it is installed.
type pack interface {
	client.Object
	GetCondition(t xpv2.ConditionType) xpv2.Condition
}

// installPackage creates or changes the object of a package. spec is that of o.
func (x *Crossplane) installPackage(ctx context.Context, o pack, spec *pkgv1.PackageSpec, ref string) error {
	if err := x.createOrUpdate(ctx, o, func() { spec.Package = ref }); err != nil {
		return errors.Wrapf(err, "cannot install package %q", ref)
	}
	return x.awaitPackage(ctx, o, nil)
}

// createOrUpdate creates an object, or changes it. Crossplane writes the same objects,
// so that a conflict is tried again.
func (x *Crossplane) createOrUpdate(ctx context.Context, o client.Object, change func()) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { //nolint:wrapcheck // Callers say what it is.
		_, err := controllerutil.CreateOrUpdate(ctx, x.client, o, func() error {
			change()
			return nil
		})
		return err //nolint:wrapcheck // It says whether there was a conflict.
	})
}

// AwaitInstalled waits until one of the packages of this repository is installed and
// healthy, whoever asked for it. onChange is called with what is seen, and may be nil.
func (x *Crossplane) AwaitInstalled(ctx context.Context, name string, onChange func(seen string)) error {
	var o pack = &pkgv1.Provider{}
	if name == ConfigurationPackage {
		o = &pkgv1.Configuration{}
	}
	o.SetName(ObjectName(name))
	return x.awaitPackage(ctx, o, onChange)
}

// awaitPackage waits until Crossplane says that the current generation of a package is
// installed and healthy.
func (x *Crossplane) awaitPackage(ctx context.Context, o pack, onChange func(seen string)) error {
	return x.wait("package "+o.GetName()+" is healthy", onChange).Until(ctx, func(ctx context.Context) (bool, string, error) {
		if err := x.client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
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

// Configure gives providers arguments, as users do: with the DeploymentRuntimeConfig
// that holds for all that name none. It replaces those of the last call.
func (x *Crossplane) Configure(ctx context.Context, args ...string) error {
	c := &pkgv1beta1.DeploymentRuntimeConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	err := x.createOrUpdate(ctx, c, func() {
		c.Spec.DeploymentTemplate = &pkgv1beta1.DeploymentTemplate{Spec: &appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "package-runtime", Args: args}}}},
		}}
	})
	return errors.Wrap(err, "cannot configure the runtime of providers")
}
