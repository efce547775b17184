// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"path"

	kmeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

func providerObject() apply.Object {
	return apply.Object{GroupVersionKind: providerKind(), Name: providerName}
}

// install creates the Provider, so that Crossplane installs the package, and activates its kinds. Crossplane starts the provider
// once the first kind is active. brought lists the CRDs that belong to packages: install fails if one belongs to another
// Provider.
func (i *installation) install(ctx context.Context, brought []apply.Packaged) error {
	for _, p := range brought {
		if p.Provider != "" && p.Provider != providerName {
			return command.WithCode(command.ExitExists, errors.Errorf("CRD %s belongs to Provider %s: "+
				"omit --package, which would install the package a second time", p.Name, p.Provider))
		}
	}
	provider := apply.Wanted(providerObject(), map[string]any{"spec": map[string]any{"package": i.image}})
	if _, err := i.plane.Live(ctx, providerObject()); kmeta.IsNoMatchError(err) {
		return apply.UnknownKind(providerObject())
	}
	if err := i.applier.Apply(ctx, provider); err != nil {
		return err
	}
	return i.activate(ctx)
}

// managed returns the names of the CRDs that Crossplane serves only if a ManagedResourceActivationPolicy activates them: all but
// those of the kinds of the ProviderConfig.
func managed() ([]string, error) {
	all, err := apply.ReadCRDs()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, d := range all {
		switch apply.KindOf(d).Kind {
		case v1alpha1.ProviderConfigKind, v1alpha1.ClusterProviderConfigKind, v1alpha1.ProviderConfigUsageKind:
		default:
			out = append(out, d.GetName())
		}
	}
	return out, nil
}

// activate creates a ManagedResourceActivationPolicy for the kinds, unless existing policies activate them: most control planes
// have a policy that activates everything. It creates none if the control plane does not serve policies.
func (i *installation) activate(ctx context.Context) error {
	list := apply.ListOf(policyKind())
	err := i.plane.Client.List(ctx, list)
	if kmeta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return errors.Wrap(err, "cannot list ManagedResourceActivationPolicies")
	}
	names, err := managed()
	if err != nil || activated(list.Items, names) {
		return err
	}
	wanted := make([]any, 0, len(names))
	for _, n := range names {
		wanted = append(wanted, n)
	}
	return i.applier.Apply(ctx, apply.Wanted(apply.Object{GroupVersionKind: policyKind(), Name: providerName},
		map[string]any{"spec": map[string]any{"activate": wanted}}))
}

// activated reports whether policies activate the CRDs with the given names. It ignores the policy of deploy, so that deploy
// applies it again and keeps it up to date.
func activated(policies []unstructured.Unstructured, names []string) bool {
	for _, name := range names {
		found := false
		for i := range policies {
			found = found || !apply.Ours(&policies[i]) && activates(&policies[i], name)
		}
		if !found {
			return false
		}
	}
	return true
}

// activates reports whether a policy activates the CRD with the given name.
func activates(policy *unstructured.Unstructured, name string) bool {
	patterns, _, _ := unstructured.NestedStringSlice(policy.Object, "spec", "activate")
	for _, p := range patterns {
		if ok, err := path.Match(p, name); ok && err == nil {
			return true
		}
	}
	return false
}

// awaitHealthy waits until Crossplane has installed the package of --package and reports it as Healthy.
func (i *installation) awaitHealthy(ctx context.Context) error {
	return apply.Await(ctx, i.applier.Environment, "Provider "+providerName+" to become Healthy", func(ctx context.Context) (bool, string, error) {
		u, err := i.plane.Live(ctx, providerObject())
		if err != nil || u == nil {
			return false, "does not exist yet", err
		}
		installed, _, _ := unstructured.NestedString(u.Object, "status", "currentIdentifier")
		if installed != i.image {
			return false, unhealthy(u), nil
		}
		for _, c := range []string{"Installed", "Healthy"} {
			if status, _ := apply.Condition(u, c); status != "True" {
				return false, unhealthy(u), nil
			}
		}
		return true, "", nil
	})
}

// unhealthy returns the message of the condition that explains why a package is not Installed or Healthy.
func unhealthy(u *unstructured.Unstructured) string {
	for _, c := range []string{"Installed", "Healthy"} {
		if status, message := apply.Condition(u, c); status != "True" && message != "" {
			return c + ": " + message
		}
	}
	return "Crossplane has not reported a status yet"
}

// why adds the status of the Provider to state, if deploy installs the package.
func (i *installation) why(ctx context.Context, state string) string {
	if i.image == "" {
		return state
	}
	u, err := i.plane.Live(ctx, providerObject())
	if err != nil || u == nil {
		return state
	}
	return state + "; Provider " + providerName + ": " + unhealthy(u)
}
