// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// rightsPatience is the maximum time that a process waits for its permissions, on a busy machine. A kubelet would need some time to pull the image.
const rightsPatience = 2 * time.Minute

// A pod is the process of a Deployment.
type pod struct {
	process    *process.Process
	template   string
	kubeconfig string
	restarts   int
}

// ended reports whether the process has ended, expectedly or not.
func (p *pod) ended() bool {
	select {
	case <-p.process.Done():
		return true
	default:
		return false
	}
}

// mayStart reports whether the service account has its permissions, or rightsPatience has passed.
func mayStart(ctx context.Context, c client.Client, d *appsv1.Deployment) (bool, error) {
	if time.Since(d.CreationTimestamp.Time) > rightsPatience {
		return true, nil
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:" + Namespace + ":" + d.Spec.Template.Spec.ServiceAccountName,
		// All providers get these permissions at the same time.
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: Namespace, Verb: "create", Resource: "events"},
	}}
	err := c.Create(ctx, review)
	return review.Status.Allowed, errors.Wrap(err, "cannot check the permissions of the service account")
}

// startPod starts the program of the Deployment's image, with the arguments, environment, Secrets and service account of
// the Deployment, and returns when it is ready.
func startPod(ctx context.Context, s host, d *appsv1.Deployment) (*pod, error) {
	spec := d.Spec.Template.Spec
	if len(spec.Containers) != 1 {
		return nil, errors.Errorf("it has %d containers, but only one can be simulated", len(spec.Containers))
	}
	container := spec.Containers[0]
	dir := s.path("pods", d.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, errors.Wrap(err, "cannot create the directory of a pod")
	}
	binary, err := Unpack(ctx, container.Image, dir)
	if err != nil {
		return nil, err
	}
	mounts, err := mount(ctx, s, spec.Volumes, container.VolumeMounts, dir)
	if err != nil {
		return nil, err
	}
	p := &pod{kubeconfig: filepath.Join(dir, "kubeconfig")}
	config, err := s.cluster.ServiceAccount(ctx, Namespace, spec.ServiceAccountName)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := s.cluster.KubeconfigOf(config)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(p.kubeconfig, kubeconfig, 0o600); err != nil {
		return nil, errors.Wrap(err, "cannot write the kubeconfig of a pod")
	}
	p.process, err = controlplane.StartProvider(ctx, controlplane.ProviderOptions{
		Kubeconfig: p.kubeconfig, Dir: dir, Binary: binary, Args: container.Args, Env: environment(d, container.Env, mounts),
	})
	return p, err
}

// mount writes the mounted Secrets of a container to files, and returns the local directory of each mount path.
func mount(ctx context.Context, s host, volumes []corev1.Volume, mounts []corev1.VolumeMount, dir string) (map[string]string, error) {
	secrets := map[string]string{}
	for _, v := range volumes {
		if v.Secret != nil {
			secrets[v.Name] = v.Secret.SecretName
		}
	}
	out := map[string]string{}
	for _, m := range mounts {
		secret, ok := secrets[m.Name]
		if !ok {
			continue
		}
		out[m.MountPath] = filepath.Join(dir, m.Name)
		if err := s.writeSecret(ctx, secret, out[m.MountPath]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// environment returns the environment of a container, with the local directories in place of mount paths.
func environment(d *appsv1.Deployment, vars []corev1.EnvVar, mounts map[string]string) []string {
	values := map[string]string{}
	out := make([]string, 0, len(vars))
	for _, v := range vars {
		value := v.Value
		if v.ValueFrom != nil && v.ValueFrom.FieldRef != nil {
			value = field(d, v.ValueFrom.FieldRef.FieldPath)
		}
		for name, known := range values {
			value = strings.ReplaceAll(value, "$("+name+")", known)
		}
		if here, ok := mounts[value]; ok {
			value = here
		}
		values[v.Name] = value
		out = append(out, v.Name+"="+value)
	}
	return out
}

// field returns a field of the pod that a Deployment would create.
func field(d *appsv1.Deployment, path string) string {
	switch label, ok := strings.CutPrefix(path, "metadata.labels['"); {
	case ok:
		return d.Spec.Template.Labels[strings.TrimSuffix(label, "']")]
	case path == "metadata.namespace":
		return d.Namespace
	default:
		return ""
	}
}

// report writes the number of running processes into the status of a Deployment. A Deployment without replicas is
// available without a process.
func report(ctx context.Context, c client.Client, d *appsv1.Deployment, running int32) error {
	available := corev1.ConditionTrue
	if running == 0 && (d.Spec.Replicas == nil || *d.Spec.Replicas > 0) {
		available = corev1.ConditionFalse
	}
	if d.Status.ObservedGeneration == d.Generation && d.Status.AvailableReplicas == running && len(d.Status.Conditions) == 1 &&
		d.Status.Conditions[0].Status == available {
		return nil
	}
	before := d.DeepCopy()
	d.Status.ObservedGeneration = d.Generation
	d.Status.Replicas, d.Status.ReadyReplicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = running, running, running, running
	d.Status.Conditions = []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentAvailable, Status: available, Reason: "Played", Message: "this Deployment runs as a process",
		LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
	}}
	err := c.Status().Patch(ctx, d, client.MergeFrom(before))
	return errors.Wrap(client.IgnoreNotFound(err), "cannot update the status of a Deployment")
}
