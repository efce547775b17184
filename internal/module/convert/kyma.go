// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
)

const (
	// maxModules is the number of modules that a Kyma may have.
	maxModules = 64
	// maxModuleName bounds the name of a module, in bytes.
	maxModuleName = 63
)

// Kyma converts a Kyma of the original, operator.kyma-project.io/v1alpha1, v1beta1 or v1beta2, from YAML or JSON. The
// result refers to the ProviderConfig of the same name in its namespace, unless the options name one: that
// ProviderConfig replaces the Secret with the kubeconfig that the original finds by label. The label
// skip-reconciliation becomes Crossplane's annotation crossplane.io/paused.
//
// Lost has the format that ModuleTemplate returns. It includes a module that the original does not manage (managed:
// false), or that it identifies by its template. The error names the field that cannot be converted.
func Kyma(data []byte, o Options) (k *v1alpha1.Kyma, lost []string, err error) {
	in, err := decode(data)
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot convert Kyma")
	}
	c := &kymaConverter{in: in, out: &v1alpha1.Kyma{}}
	if err := c.convert(o); err != nil {
		return nil, nil, failed(err, v1alpha1.KymaKind, in)
	}
	return c.out, c.sorted(), nil
}

type kymaConverter struct {
	losses

	in, spec map[string]any
	version  string
	out      *v1alpha1.Kyma
}

func (c *kymaConverter) convert(o Options) (err error) {
	if c.version, err = versionOf(c.in, v1alpha1.KymaKind); err != nil {
		return err
	}
	c.out.APIVersion, c.out.Kind = v1alpha1.SchemeGroupVersion.String(), v1alpha1.KymaKind
	if err := c.managed(c.in, &c.out.ObjectMeta, o); err != nil {
		return err
	}
	if c.spec, err = object(c.in, "spec"); err != nil {
		return err
	}
	c.out.Spec.ManagedResourceSpec = reference(o, c.out.Name)
	for _, step := range []func() error{func() error { return c.channel(o.Channel) }, c.modules, c.sync} {
		if err := step(); err != nil {
			return errors.Wrap(err, "spec")
		}
	}
	c.unknown("", c.in, knownFields)
	c.unknown("spec.", c.spec, []string{"channel", "modules", "components", "sync"})
	return nil
}

func (c *kymaConverter) channel(given string) error {
	own, err := text(c.spec, "channel")
	if err != nil {
		return err
	}
	if own == "" {
		own = given
	}
	if own == "" {
		if c.version == "v1alpha1" {
			c.lose("spec.channel", "not set; the default is regular, but was stable in the first versions of Kyma: set --channel to keep it")
		}
		return nil
	}
	c.out.Spec.ForProvider.Channel = own
	return checkChannel(own)
}

func checkChannel(s string) error {
	if !definition.IsChannel(s) {
		return errors.Errorf("channel %q must be "+definition.ChannelForm, s)
	}
	return nil
}

// modules converts the modules, which the first version of the original called components.
func (c *kymaConverter) modules() error {
	for _, field := range []string{"components", "modules"} {
		in, err := list(c.spec, field)
		if err != nil {
			return err
		}
		for i, m := range in {
			at := fmt.Sprintf("%s[%d]", field, i)
			if err := c.module("spec."+at, m); err != nil {
				return errors.Wrap(err, at)
			}
		}
	}
	if n := len(c.out.Spec.ForProvider.Modules); n > maxModules {
		return errors.Errorf("modules: %d modules exceed the maximum of %d", n, maxModules)
	}
	return nil
}

func (c *kymaConverter) module(at string, in map[string]any) error {
	name, err := text(in, "name")
	if err != nil {
		return err
	}
	name, ok := c.moduleName(at, name)
	if !ok {
		return nil
	}
	if len(name) > maxModuleName || !isModule.MatchString(name) {
		return errors.Errorf("name: invalid value %q: must consist of at most %d lowercase letters, digits, '-' or '.'", name, maxModuleName)
	}
	if managed, ok, err := boolean(in, "managed"); err != nil {
		return err
	} else if ok && !managed {
		c.lose(at, "unmanaged module %q is omitted: all modules in the list are managed", name)
		return nil
	}
	if slices.ContainsFunc(c.out.Spec.ForProvider.Modules, func(m v1alpha1.Module) bool { return m.Name == name }) {
		c.lose(at, "module %q is listed twice; only the first entry is converted", name)
		return nil
	}
	out, err := moduleOf(name, in)
	if err != nil {
		return err
	}
	c.out.Spec.ForProvider.Modules = append(c.out.Spec.ForProvider.Modules, out)
	c.moduleRest(at, in)
	return nil
}

func moduleOf(name string, in map[string]any) (out v1alpha1.Module, err error) {
	out.Name = name
	if out.Channel, err = text(in, "channel"); err != nil {
		return out, err
	}
	if out.Channel != "" {
		if err := checkChannel(out.Channel); err != nil {
			return out, err
		}
	}
	out.CustomResourcePolicy, err = policy(in)
	return out, err
}

// moduleName returns the name of a module that may be identified by its component. It returns false for one that is
// identified by its template.
func (c *kymaConverter) moduleName(at, name string) (string, bool) {
	host, rest, ok := strings.Cut(name, "/")
	if !ok {
		return name, true
	}
	if !strings.Contains(host, ".") {
		c.lose(at+".name", "%q refers to a ModuleTemplate, so the module is omitted: use the name of the module", name)
		return "", false
	}
	short := rest[strings.LastIndex(rest, "/")+1:]
	c.lose(at+".name", "%q refers to a component; converted to %q, the default module name of its ModuleTemplates", name, short)
	return short, true
}

func (c *kymaConverter) moduleRest(at string, in map[string]any) {
	known := []string{"name", "channel", "customResourcePolicy", "managed"}
	for field, why := range map[string]string{
		"controller":              "the provider manages all modules",
		"version":                 "the channel determines the version",
		"remoteModuleTemplateRef": "a module is selected only by its channel",
	} {
		if v := in[field]; !empty(v) {
			c.lose(at+"."+field, "%q; %s", fmt.Sprint(v), why)
		}
		known = append(known, field)
	}
	c.unknown(at+".", in, known)
}

// sync records the settings of the target cluster, and of the objects that the original copies there, as lost.
func (c *kymaConverter) sync() error {
	sync, err := object(c.spec, "sync")
	if err != nil {
		return err
	}
	config := c.out.Spec.ProviderConfigReference.Name
	own := fmt.Sprintf("the target cluster is that of ProviderConfig %q; to target the control plane, set its "+
		"spec.credentials.source to InjectedIdentity", config)
	enabled, _, err := boolean(sync, "enabled")
	if err != nil {
		return errors.Wrap(err, "sync")
	}
	strategy, err := text(sync, "strategy")
	if err != nil {
		return errors.Wrap(err, "sync")
	}
	switch {
	case !enabled && (c.version == "v1alpha1" || len(sync) > 0):
		c.lose("spec.sync.enabled", "false; %s", own)
	case strategy == "local-client":
		c.lose("spec.sync.strategy", "%q; %s", strategy, own)
	case enabled:
		c.lose("spec.sync.strategy", "%q; the target cluster is that of ProviderConfig %q, which needs the kubeconfig "+
			"from the Secret with label %skyma-name=%s",
			strategy, config, prefix, c.out.Name)
	}
	for _, field := range []string{"namespace", "noModuleCopy", "moduleCatalog"} {
		if v, ok := sync[field]; ok && v != nil {
			c.lose("spec.sync."+field, "%q; Kymas and ModuleTemplates are not copied to the target cluster", fmt.Sprint(v))
		}
	}
	c.unknown("spec.sync.", sync, []string{"enabled", "strategy", "namespace", "noModuleCopy", "moduleCatalog"})
	return nil
}
