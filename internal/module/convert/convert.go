// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

const (
	group = "operator.kyma-project.io"
	// maxSize bounds an object, in bytes. It is more than any API server stores.
	maxSize = 4 << 20
)

// ModuleTemplate converts a ModuleTemplate of the original, operator.kyma-project.io/v1alpha1, v1beta1 or v1beta2, from
// YAML or JSON. The channel is for a template that has none: current versions of the original specify it in another
// object. The name then gets the channel as a suffix, as one template may be in several channels.
//
// Lost lists what cannot be converted, one line each, sorted. It excludes fields that an API server sets, such as uid,
// and empty ones. The error names the field that cannot be converted.
func ModuleTemplate(data []byte, channel string) (t *v1alpha1.ModuleTemplate, lost []string, err error) {
	o, err := decode(data)
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot convert ModuleTemplate")
	}
	c := &converter{in: o, out: &v1alpha1.ModuleTemplate{}}
	if err := c.convert(channel); err != nil {
		if name, _ := c.meta["name"].(string); name != "" {
			return nil, nil, errors.Wrapf(err, "cannot convert ModuleTemplate %q", name)
		}
		return nil, nil, errors.Wrap(err, "cannot convert ModuleTemplate")
	}
	return c.out, c.sorted(), nil
}

// decode decodes one object. It preserves numbers as they are written.
func decode(data []byte) (map[string]any, error) { return decodeUpTo(data, maxSize) }

// decodeUpTo decodes a document of at most limit bytes, including its expanded aliases.
func decodeUpTo(data []byte, limit int) (map[string]any, error) {
	b, err := yamlsize.Limits{Bytes: limit}.JSON(data)
	if yamlsize.Exceeds(err) {
		return nil, err
	}
	if err != nil {
		return nil, errors.Errorf("invalid YAML: %s", strings.Join(strings.Fields(err.Error()), " "))
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var o map[string]any
	if err := d.Decode(&o); err != nil || o == nil {
		return nil, errors.New("must be an object")
	}
	return o, nil
}

type converter struct {
	losses

	in, meta, spec map[string]any
	out            *v1alpha1.ModuleTemplate
}

func (c *converter) convert(channel string) error {
	version, err := versionOf(c.in, v1alpha1.ModuleTemplateKind)
	if err != nil {
		return err
	}
	if c.meta, err = object(c.in, "metadata"); err != nil {
		return err
	}
	if c.spec, err = object(c.in, "spec"); err != nil {
		return errors.Wrapf(err, "apiVersion %s", version)
	}
	c.out.APIVersion, c.out.Kind = v1alpha1.SchemeGroupVersion.String(), v1alpha1.ModuleTemplateKind
	for _, step := range []func() error{c.metadata, func() error { return c.channel(channel) }, c.target, c.moduleName, c.data, c.descriptor, c.readiness} {
		if err := step(); err != nil {
			return err
		}
	}
	c.rest()
	return nil
}

// versionOf returns the version of an object. It returns an error if the object is not of the wanted kind, or its
// version cannot be converted.
func versionOf(o map[string]any, want string) (string, error) {
	apiVersion, _ := o["apiVersion"].(string)
	kind, _ := o["kind"].(string)
	g, v, _ := strings.Cut(apiVersion, "/")
	if kind != want || g != group || !slices.Contains([]string{"v1alpha1", "v1beta1", "v1beta2"}, v) {
		return "", errors.Errorf("unsupported kind %q of apiVersion %q; must be %s of %s/v1alpha1, v1beta1 or v1beta2", kind, apiVersion, want, group)
	}
	return v, nil
}

// channel sets the channel of the template, by default the given one.
func (c *converter) channel(given string) error {
	own, err := text(c.spec, "channel")
	if err != nil {
		return errors.Wrap(err, "spec")
	}
	c.out.Spec.Channel = own
	if own == "" {
		if given == "" {
			return errors.New("spec.channel is missing: specify the channel of the ModuleTemplate")
		}
		c.out.Spec.Channel = given
		if !strings.HasSuffix(c.out.Name, "-"+given) {
			c.out.Name += "-" + given
		}
	}
	if !definition.IsChannel(c.out.Spec.Channel) {
		return errors.Errorf("channel %q must be "+definition.ChannelForm, c.out.Spec.Channel)
	}
	return nil
}

// target sets the target, by default remote: current versions of the original have no such field, and always use
// remote.
func (c *converter) target() error {
	s, err := text(c.spec, "target")
	if err != nil {
		return errors.Wrap(err, "spec")
	}
	switch v1alpha1.ModuleTarget(s) {
	case "":
		c.out.Spec.Target = v1alpha1.ModuleTargetRemote
	case v1alpha1.ModuleTargetRemote, v1alpha1.ModuleTargetControlPlane:
		c.out.Spec.Target = v1alpha1.ModuleTarget(s)
	default:
		return errors.Errorf("spec.target: invalid value %q: must be remote or control-plane", s)
	}
	return nil
}

func (c *converter) moduleName() error {
	s, err := text(c.spec, "moduleName")
	c.out.Spec.ModuleName = s
	return errors.Wrap(err, "spec")
}

// data sets the default custom resource. It removes fields that are null: they have no meaning, and a CRD may refuse
// them.
func (c *converter) data() error {
	data, err := object(c.spec, "data")
	if err != nil {
		return errors.Wrap(err, "spec")
	}
	if len(data) == 0 {
		return nil
	}
	withoutNull(data)
	for _, field := range []string{"apiVersion", "kind"} {
		if s, _ := data[field].(string); s == "" {
			return errors.Errorf("spec.data.%s is missing", field)
		}
	}
	c.out.Spec.Data, err = raw(data)
	return errors.Wrap(err, "spec.data")
}

// descriptor copies the descriptor unchanged, so that signatures stay valid.
func (c *converter) descriptor() error {
	d, err := object(c.spec, "descriptor")
	if err != nil {
		return errors.Wrap(err, "spec")
	}
	if len(d) == 0 {
		return errors.New("spec.descriptor is missing: newer versions of Kyma store it in a registry; create a ModuleTemplate with spec.component instead")
	}
	c.out.Spec.Descriptor, err = raw(d)
	return errors.Wrap(err, "spec.descriptor")
}

func raw(o map[string]any) (*runtime.RawExtension, error) {
	b, err := json.Marshal(o)
	return &runtime.RawExtension{Raw: b}, errors.Wrap(err, "cannot be encoded")
}

// withoutNull removes fields that are null. It keeps elements of lists, as their positions matter.
func withoutNull(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e == nil {
				delete(v, k)
				continue
			}
			withoutNull(e)
		}
	case []any:
		for _, e := range v {
			withoutNull(e)
		}
	}
}

// object returns the object in a field; nil if there is none.
func object(o map[string]any, field string) (map[string]any, error) {
	v, ok := o[field].(map[string]any)
	if !ok && o[field] != nil {
		return nil, errors.Errorf("%s must be an object", field)
	}
	return v, nil
}

// text returns the string in a field; "" if there is none.
func text(o map[string]any, field string) (string, error) {
	switch v := o[field].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	return "", errors.Errorf("%s must be a string", field)
}
