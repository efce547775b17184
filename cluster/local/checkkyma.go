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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// versionsIn are the versions of all modules in a channel.
func versionsIn(channel string) map[string]string {
	out := map[string]string{}
	for _, m := range modules() {
		out[m.name] = m.versions[channel]
	}
	return out
}

func (e *environment) switchTo(ctx context.Context, channel string) error {
	return e.editClaim(ctx, fmt.Sprintf(`{"spec":{"channel":%q}}`, channel))
}

// checkVersions checks what runs in the target, and what its operator says.
func (e *environment) checkVersions(ctx context.Context, channel string) error {
	for _, m := range modules() {
		d := &appsv1.Deployment{}
		if err := e.targetClient.Get(ctx, m.deployment, d); err != nil {
			return errors.Wrapf(err, "cannot get Deployment %s", m.deployment)
		}
		image := d.Spec.Template.Spec.Containers[0].Image
		if want := ":" + m.versions[channel]; !strings.HasSuffix(image, want) {
			return errors.Errorf("Deployment %s: the image is %q, which does not end with %q", m.deployment, image, want)
		}
		state, err := e.sampleState(ctx, m)
		if err != nil {
			return err
		}
		if state != string(v1alpha1.StateReady) {
			return errors.Errorf("the custom resource of module %q is %q", m.name, state)
		}
	}
	return e.checkListed(ctx, versionsIn(channel))
}

// samples are the custom resources of a module.
func (e *environment) samples(m module) (dynamic.ResourceInterface, error) {
	c, err := dynamic.NewForConfig(e.target.Config())
	if err != nil {
		return nil, errors.Wrap(err, "cannot make a client of the target")
	}
	return c.Resource(m.resource).Namespace(m.sample.Namespace), nil
}

func (e *environment) sampleState(ctx context.Context, m module) (string, error) {
	c, err := e.samples(m)
	if err != nil {
		return "", err
	}
	u, err := c.Get(ctx, m.sample.Name, metav1.GetOptions{})
	if err != nil {
		return "", errors.Wrapf(err, "cannot get the custom resource of module %q", m.name)
	}
	state, _, err := unstructured.NestedString(u.Object, "status", "state")
	return state, errors.Wrapf(err, "cannot read the custom resource of module %q", m.name)
}

// checkWarning has an operator warn, and takes the cause away again.
func (e *environment) checkWarning(ctx context.Context) error {
	m := moduleNamed(templateOperator)
	c, err := e.samples(m)
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
		if err := e.awaitClaim(ctx, step.state, nil); err != nil {
			return err
		}
		if err := e.checkStatus(ctx, step.code, step.words...); err != nil {
			return err
		}
	}
	return nil
}

func (e *environment) checkUpgrade(ctx context.Context) error {
	if err := e.switchTo(ctx, fast); err != nil {
		return err
	}
	if err := e.awaitClaim(ctx, v1alpha1.StateReady, versionsIn(fast)); err != nil {
		return err
	}
	return e.checkVersions(ctx, fast)
}

// checkNoDowngrade goes back to the lower versions, which is refused.
func (e *environment) checkNoDowngrade(ctx context.Context) error {
	before, err := e.footprint(ctx)
	if err != nil {
		return err
	}
	if err := e.switchTo(ctx, regular); err != nil {
		return err
	}
	if err := e.awaitClaim(ctx, v1alpha1.StateWarning, versionsIn(fast)); err != nil {
		return err
	}
	after, err := e.footprint(ctx)
	if err != nil {
		return err
	}
	if before != after {
		return errors.Errorf("something changed: it was %s, and is %s", before, after)
	}
	return e.checkVersions(ctx, fast)
}

// footprint tells whether somebody wrote to what runs, or to what asks for it.
func (e *environment) footprint(ctx context.Context) (string, error) {
	var seen []string
	for _, m := range modules() {
		for _, o := range []struct {
			client client.Client
			object client.Object
			name   types.NamespacedName
		}{
			{e.targetClient, &appsv1.Deployment{}, m.deployment},
			{e.controlClient, &v1alpha1.Manifest{}, types.NamespacedName{Namespace: team, Name: e.composite + "-" + m.name}},
		} {
			if err := o.client.Get(ctx, o.name, o.object); err != nil {
				return "", errors.Wrapf(err, "cannot get %T %s", o.object, o.name)
			}
			seen = append(seen, fmt.Sprintf("%s %s generation %d", o.name, o.object.GetUID(), o.object.GetGeneration()))
		}
	}
	return strings.Join(seen, ", "), nil
}

// checkDowngrade says that lower versions are meant, to the Kyma: the composition
// leaves its annotations to others.
func (e *environment) checkDowngrade(ctx context.Context) error {
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: e.composite}}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.AnnotationAllowDowngrade, allowed(regular))
	if err := e.controlClient.Patch(ctx, k, merge(patch)); err != nil {
		return errors.Wrapf(err, "cannot annotate Kyma %q", e.composite)
	}
	if err := e.awaitClaim(ctx, v1alpha1.StateReady, versionsIn(regular)); err != nil {
		return err
	}
	return e.checkVersions(ctx, regular)
}

// allowed is the value of the annotation that allows the versions of a channel.
func allowed(channel string) string {
	var out []string
	for _, m := range modules() {
		out = append(out, m.name+"@"+m.versions[channel])
	}
	return strings.Join(out, ",")
}

// checkDisable disables the greeter.
func (e *environment) checkDisable(ctx context.Context) error {
	labels := client.MatchingLabels{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy, v1alpha1.LabelModuleName: greeter}
	before, err := e.leftovers(ctx, labels)
	if err != nil {
		return err
	}
	if len(before) == 0 {
		return errors.Errorf("nothing in the target has the labels of module %q", greeter)
	}
	other := moduleNamed(templateOperator).deployment
	kept := &appsv1.Deployment{}
	if err := e.targetClient.Get(ctx, other, kept); err != nil {
		return errors.Wrapf(err, "cannot get Deployment %s", other)
	}
	if err := e.disableGreeter(ctx); err != nil {
		return err
	}
	left, err := e.leftovers(ctx, labels)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return errors.Errorf("left in the target: %s", strings.Join(left, ", "))
	}
	gone := moduleNamed(greeter).deployment
	if err := e.targetClient.Get(ctx, gone, &appsv1.Deployment{}); !kerrors.IsNotFound(err) {
		return errors.Errorf("Deployment %s is still there (%v)", gone, err)
	}
	now := &appsv1.Deployment{}
	if err := e.targetClient.Get(ctx, other, now); err != nil {
		return errors.Wrapf(err, "cannot get Deployment %s", other)
	}
	if now.UID != kept.UID || now.Generation != kept.Generation {
		return errors.Errorf("Deployment %s was touched", other)
	}
	return nil
}

// disableGreeter in the claim, and wait until only the other module is enabled.
func (e *environment) disableGreeter(ctx context.Context) error {
	if err := e.editClaim(ctx, fmt.Sprintf(`{"spec":{"modules":[{"name":%q}]}}`, templateOperator)); err != nil {
		return err
	}
	if err := e.awaitClaim(ctx, v1alpha1.StateReady, versionsIn(regular)); err != nil {
		return err
	}
	return e.checkListed(ctx, map[string]string{templateOperator: moduleNamed(templateOperator).versions[regular]})
}
