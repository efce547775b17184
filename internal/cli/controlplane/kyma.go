// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// kymaObject returns the identity of the Kyma.
func (d *deployment) kymaObject() apply.Object {
	return apply.Object{GroupVersionKind: v1alpha1.KymaGroupVersionKind, Namespace: d.namespace, Name: d.o.kyma}
}

// refer determines the config of the Kyma before anything is changed: the config that deploy creates, the config of the existing
// Kyma, or an existing config with the given name. It fails if an existing Kyma uses another config.
func (d *deployment) refer(ctx context.Context) error {
	kyma, err := d.plane.Live(ctx, d.kymaObject())
	if err != nil && !kmeta.IsNoMatchError(err) {
		return err
	}
	name := d.o.configName()
	switch {
	case d.o.target != "":
		d.ref = reference{kind: v1alpha1.ProviderConfigKind, name: name}
	case d.o.inCluster:
		d.ref = reference{kind: v1alpha1.ClusterProviderConfigKind, name: name}
	case kyma != nil && kyma.GetDeletionTimestamp() == nil && d.o.config == "":
		d.ref = referenceOf(kyma)
		return nil
	default:
		if d.ref, err = d.find(ctx, name); err != nil {
			return err
		}
	}
	if kyma == nil || kyma.GetDeletionTimestamp() != nil {
		return nil
	}
	if has := referenceOf(kyma); has != d.ref {
		return command.WithCode(command.ExitExists, errors.Errorf("%s uses %s %s and cannot be changed to %s %s: undeploy it first, or use another --kyma",
			d.kymaObject().Words(), has.kind, has.name, d.ref.kind, d.ref.name))
	}
	return nil
}

// referenceOf returns the config that a Kyma or a Manifest refers to.
func referenceOf(kyma *unstructured.Unstructured) reference {
	kind, _, _ := unstructured.NestedString(kyma.Object, "spec", "providerConfigRef", "kind")
	name, _, _ := unstructured.NestedString(kyma.Object, "spec", "providerConfigRef", "name")
	return reference{kind: kind, name: name}
}

// find returns the ProviderConfig with the given name, or else the ClusterProviderConfig. If neither exists, it fails with
// ExitNotFound.
func (d *deployment) find(ctx context.Context, name string) (reference, error) {
	for _, kind := range []string{v1alpha1.ProviderConfigKind, v1alpha1.ClusterProviderConfigKind} {
		ref := reference{kind: kind, name: name}
		u, err := d.plane.Live(ctx, ref.object(d.namespace))
		if err != nil && !kmeta.IsNoMatchError(err) {
			return reference{}, err
		}
		if u != nil {
			return ref, nil
		}
	}
	return reference{}, command.NotFoundf("there is no ProviderConfig %s/%s and no ClusterProviderConfig %s: "+
		"use --target-kubeconfig FILE, --in-cluster, or --provider-config with the name of an existing one", d.namespace, name, name)
}

// wantedKyma returns the fields of the Kyma that deploy applies: the config if deploy creates the Kyma or has set it before, and
// the channel if --channel is set or deploy has set it before. The fields never include modules.
func (d *deployment) wantedKyma(before *unstructured.Unstructured) *unstructured.Unstructured {
	spec := map[string]any{}
	if before == nil || apply.Owned(before, "spec", "providerConfigRef") {
		spec["providerConfigRef"] = d.ref.fields()
	}
	channel := d.o.channel
	if channel == "" && before != nil && apply.Owned(before, "spec", "forProvider", "channel") {
		channel, _, _ = unstructured.NestedString(before.Object, "spec", "forProvider", "channel")
	}
	if channel != "" {
		spec["forProvider"] = map[string]any{"channel": channel}
	}
	return apply.Wanted(d.kymaObject(), map[string]any{"spec": spec})
}

// applyKyma applies the Kyma and enables the modules of the command line.
func (d *deployment) applyKyma(ctx context.Context) error {
	before, err := d.plane.Live(ctx, d.kymaObject())
	if err != nil && !kmeta.IsNoMatchError(err) {
		return err
	}
	if before != nil && before.GetDeletionTimestamp() != nil {
		before = nil
	}
	done, err := d.applier.Put(ctx, d.wantedKyma(before))
	if err != nil {
		return err
	}
	// In a dry run, a Kyma that doesn't exist yet can't be patched.
	if len(d.o.modules) == 0 || d.o.dryRun && done == apply.Created {
		return d.applier.Report.Add(d.kymaObject(), done)
	}
	more, err := d.enable(ctx)
	if err != nil {
		return err
	}
	if more && done == apply.Unchanged {
		done = apply.Configured
	}
	return d.applier.Report.Add(d.kymaObject(), done)
}

// enable enables the modules of the command line that are not enabled yet, or are in another channel. It reports whether it
// changed the Kyma. The patch fails if the Kyma has changed since it was read; enable then retries.
func (d *deployment) enable(ctx context.Context) (bool, error) {
	changed := false
	var live *unstructured.Unstructured
	err := retry.OnError(apply.Patience(), apply.Passing, func() error {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(v1alpha1.KymaGroupVersionKind)
		if err := d.plane.Client.Get(ctx, client.ObjectKey{Namespace: d.namespace, Name: d.o.kyma}, u); err != nil {
			return err
		}
		live = u.DeepCopy()
		patch := enabling(u, d.o.modules)
		if changed = len(patch) > 0; !changed {
			return nil
		}
		data, err := json.Marshal(patch)
		if err != nil {
			return err
		}
		options := []client.PatchOption{client.FieldOwner(command.FieldManager)}
		if d.o.dryRun {
			options = append(options, client.DryRunAll)
		}
		return d.plane.Client.Patch(ctx, u, client.RawPatch(types.JSONPatchType, data), options...)
	})
	if err != nil {
		return changed, errors.Wrapf(err, "cannot enable modules of %s", d.kymaObject().Words())
	}
	// In a dry run, the ModuleTemplates have not been applied.
	if !d.o.dryRun {
		d.warnMissing(ctx, live)
	}
	return changed, nil
}

// An operation is one operation of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// enabling returns the patch that enables modules of a Kyma, or nil if there is nothing to change.
func enabling(kyma *unstructured.Unstructured, modules []moduleArg) []operation {
	const list = "/spec/forProvider/modules"
	has, found, _ := unstructured.NestedSlice(kyma.Object, "spec", "forProvider", "modules")
	var out []operation
	for _, m := range modules {
		i, channel := listed(has, m.name)
		switch {
		case i < 0 && m.channel == "":
			out = append(out, operation{Op: "add", Path: list + "/-", Value: map[string]any{"name": m.name}})
		case i < 0:
			out = append(out, operation{Op: "add", Path: list + "/-", Value: map[string]any{"name": m.name, "channel": m.channel}})
		case m.channel != "" && m.channel != channel:
			out = append(out, operation{Op: "add", Path: list + "/" + strconv.Itoa(i) + "/channel", Value: m.channel})
		}
	}
	if len(out) == 0 {
		return nil
	}
	first := []operation{{Op: "replace", Path: "/metadata/resourceVersion", Value: kyma.GetResourceVersion()}}
	if !found {
		first = append(first, operation{Op: "add", Path: list, Value: []any{}})
	}
	return append(first, out...)
}

// listed returns the index and the channel of a module in a list of modules. The index is -1 if the list doesn't contain it.
func listed(modules []any, name string) (index int, channel string) {
	index = catalog.IndexOf(modules, name)
	if index < 0 {
		return index, ""
	}
	if m, ok := modules[index].(map[string]any); ok {
		channel, _ = m["channel"].(string)
	}
	return index, channel
}

// awaitReady waits until the Kyma is Ready with its current spec.
func (d *deployment) awaitReady(ctx context.Context) error {
	return apply.Await(ctx, d.applier.Environment, d.kymaObject().Words()+" to become Ready", func(ctx context.Context) (bool, string, error) {
		u, err := d.plane.Live(ctx, d.kymaObject())
		if err != nil || u == nil {
			return false, "does not exist yet", err
		}
		done, state := ready(u)
		return done, state, nil
	})
}

// awaitAnswer waits until a provider has processed the current spec of the Kyma, and prints a warning if none does in time.
func (d *deployment) awaitAnswer(ctx context.Context) error {
	if d.o.dryRun || d.o.answer == 0 {
		return nil
	}
	short, cancel := context.WithTimeout(ctx, d.o.answer)
	defer cancel()
	err := apply.Await(short, d.applier.Environment, "the provider to process "+d.kymaObject().Words(), func(ctx context.Context) (bool, string, error) {
		u, err := d.plane.Live(ctx, d.kymaObject())
		if err != nil || u == nil {
			return false, "does not exist yet", err
		}
		synced, _ := apply.Condition(u, "Synced")
		return synced != "", "not processed yet", nil
	})
	if ctx.Err() != nil || err == nil || command.CodeOf(err) != command.ExitTimeout {
		return err
	}
	d.applier.Environment.Warnf("no provider has processed %s within %s: check that it runs in this control plane, and that its kinds are active",
		d.kymaObject().Words(), d.o.answer)
	return nil
}

// ready reports whether a Kyma is Ready with its current spec. If not, the string explains why. The condition Synced takes
// precedence, because its message contains the cause.
func ready(kyma *unstructured.Unstructured) (bool, string) {
	synced, failure := apply.Condition(kyma, "Synced")
	status, message := apply.Condition(kyma, "Ready")
	switch {
	case synced == "":
		return false, "the current spec has not been reconciled: is the provider running?"
	case synced != "True":
		return false, failure
	}
	return status == "True", message
}
