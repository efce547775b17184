// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	appsv1 "k8s.io/api/apps/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// versionsIn returns the version of each module in a channel, by the name of the module.
func versionsIn(channel string) map[string]string {
	out := map[string]string{}
	for _, m := range modules() {
		out[m.name] = m.versions[channel]
	}
	return out
}

func switchTo(ctx context.Context, e *environment, channel string) error {
	return e.claim.edit(ctx, fmt.Sprintf(`{"spec":{"channel":%q}}`, channel))
}

// checkVersions checks the versions that run in the target, and the state that their operator reports.
func checkVersions(ctx context.Context, e *environment, channel string) error {
	for _, m := range modules() {
		d := &appsv1.Deployment{}
		if err := e.target.client.Get(ctx, m.deployment, d); err != nil {
			return errors.Wrapf(err, "cannot get Deployment %s", m.deployment)
		}
		image := d.Spec.Template.Spec.Containers[0].Image
		if want := ":" + m.versions[channel]; !strings.HasSuffix(image, want) {
			return errors.Errorf("Deployment %s: got image %q, want a name that ends with %q", m.deployment, image, want)
		}
		state, err := e.target.sampleState(ctx, m)
		if err != nil {
			return err
		}
		if state != string(v1alpha1.StateReady) {
			return errors.Errorf("the custom resource of module %q has state %q, not Ready", m.name, state)
		}
	}
	return checkListed(ctx, e, versionsIn(channel))
}

// checkWarning makes the operator of a module report a warning, and then removes the cause.
func checkWarning(ctx context.Context, e *environment) error {
	m := moduleNamed(templateOperator)
	c, err := e.target.samples(m)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		value string
		state v1alpha1.State
		code  int
		words []string
	}{
		{value: "", state: v1alpha1.StateWarning, code: 1, words: []string{m.name, m.needed}},
		{value: "./module-data/yaml", state: v1alpha1.StateReady},
	} {
		patch := fmt.Sprintf(`{"spec":{%q:%q}}`, m.needed, step.value)
		if _, err := c.Patch(ctx, m.sample.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			return errors.Wrapf(err, "cannot edit the custom resource of module %q", m.name)
		}
		if err := e.claim.await(ctx, step.state, nil); err != nil {
			return err
		}
		if err := checkStatus(ctx, e, step.code, step.words...); err != nil {
			return err
		}
	}
	return nil
}

func checkUpgrade(ctx context.Context, e *environment) error {
	if err := switchTo(ctx, e, fast); err != nil {
		return err
	}
	if err := e.claim.await(ctx, v1alpha1.StateReady, versionsIn(fast)); err != nil {
		return err
	}
	return checkVersions(ctx, e, fast)
}

// checkNoDowngrade switches to the channel with lower versions, and checks that the Kyma does not install them.
func checkNoDowngrade(ctx context.Context, e *environment) error {
	before, err := footprint(ctx, e)
	if err != nil {
		return err
	}
	if err := switchTo(ctx, e, regular); err != nil {
		return err
	}
	if err := e.claim.await(ctx, v1alpha1.StateWarning, versionsIn(fast)); err != nil {
		return err
	}
	after, err := footprint(ctx, e)
	if err != nil {
		return err
	}
	if before != after {
		return errors.Errorf("unexpected change from %s to %s", before, after)
	}
	return checkVersions(ctx, e, fast)
}

// footprint returns the UIDs and generations of the Deployments and Manifests of all modules. It changes if a client
// writes to them.
func footprint(ctx context.Context, e *environment) (string, error) {
	var seen []string
	for _, m := range modules() {
		for _, o := range []struct {
			client client.Client
			object client.Object
			name   types.NamespacedName
		}{
			{e.target.client, &appsv1.Deployment{}, m.deployment},
			{e.control, &v1alpha1.Manifest{}, types.NamespacedName{Namespace: team, Name: e.claim.composite + "-" + m.name}},
		} {
			if err := o.client.Get(ctx, o.name, o.object); err != nil {
				return "", errors.Wrapf(err, "cannot get %T %s", o.object, o.name)
			}
			seen = append(seen, fmt.Sprintf("%s %s generation %d", o.name, o.object.GetUID(), o.object.GetGeneration()))
		}
	}
	return strings.Join(seen, ", "), nil
}

// checkDowngrade allows lower versions with an annotation of the Kyma. The composition does not manage its annotations.
func checkDowngrade(ctx context.Context, e *environment) error {
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: e.claim.composite}}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.AnnotationAllowDowngrade, allowed(regular))
	if err := e.control.Patch(ctx, k, merge(patch)); err != nil {
		return errors.Wrapf(err, "cannot annotate Kyma %q", e.claim.composite)
	}
	if err := e.claim.await(ctx, v1alpha1.StateReady, versionsIn(regular)); err != nil {
		return err
	}
	return checkVersions(ctx, e, regular)
}

// allowed returns the value of the annotation that allows the versions of a channel.
func allowed(channel string) string {
	var out []string
	for _, m := range modules() {
		out = append(out, m.name+"@"+m.versions[channel])
	}
	return strings.Join(out, ",")
}

// checkDisable disables the greeter, and checks that the other module stays.
func checkDisable(ctx context.Context, e *environment) error {
	labels := client.MatchingLabels{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy, v1alpha1.LabelModuleName: greeter}
	before, err := e.target.leftovers(ctx, labels)
	if err != nil {
		return err
	}
	if len(before) == 0 {
		return errors.Errorf("no object in the target cluster has the labels of module %q", greeter)
	}
	other := moduleNamed(templateOperator).deployment
	kept := &appsv1.Deployment{}
	if err := e.target.client.Get(ctx, other, kept); err != nil {
		return errors.Wrapf(err, "cannot get Deployment %s", other)
	}
	if err := disableGreeter(ctx, e); err != nil {
		return err
	}
	left, err := e.target.leftovers(ctx, labels)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return errors.Errorf("objects left in the target cluster: %s", strings.Join(left, ", "))
	}
	gone := moduleNamed(greeter).deployment
	if err := e.target.client.Get(ctx, gone, &appsv1.Deployment{}); !kerrors.IsNotFound(err) {
		return errors.Errorf("Deployment %s still exists (%v)", gone, err)
	}
	now := &appsv1.Deployment{}
	if err := e.target.client.Get(ctx, other, now); err != nil {
		return errors.Wrapf(err, "cannot get Deployment %s", other)
	}
	if now.UID != kept.UID || now.Generation != kept.Generation {
		return errors.Errorf("Deployment %s was changed", other)
	}
	return nil
}

// disableGreeter disables the greeter in the claim, and waits until only the other module is enabled.
func disableGreeter(ctx context.Context, e *environment) error {
	if err := e.claim.edit(ctx, fmt.Sprintf(`{"spec":{"modules":[{"name":%q}]}}`, templateOperator)); err != nil {
		return err
	}
	if err := e.claim.await(ctx, v1alpha1.StateReady, versionsIn(regular)); err != nil {
		return err
	}
	return checkListed(ctx, e, map[string]string{templateOperator: moduleNamed(templateOperator).versions[regular]})
}
