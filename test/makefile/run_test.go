// SPDX-License-Identifier: Apache-2.0

package makefile

import (
	"context"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// exported matches a variable that make run prints.
var exported = regexp.MustCompile(`(?m)^demo:   export (\w+)=(\S+)$`)

// TestRunBare checks that make run without KUBECONFIG starts two clusters, and a provider that installs a Manifest from one into the
// other, and that nothing remains when it is terminated.
func TestRunBare(t *testing.T) {
	p := newClone(t).start(t, "run")
	if err := p.Await(t.Context(), "ready", func(context.Context) error { return contains(p, "press Ctrl-C to stop everything") }); err != nil {
		t.Fatal(err)
	}
	printed := variables(t, p)
	control, target := printed["KUBECONFIG"], printed["TARGET"]
	if control == "" || target == "" || printed["REGISTRY"] == "" {
		t.Fatalf("make run: want KUBECONFIG, TARGET and REGISTRY, got %v", printed)
	}

	in := &fixture{client: clientOf(t, control)}
	connectTo(t, in.client, target)
	in.create(t, "bare", "hello")
	out := clientOf(t, target)
	await(t, "ConfigMap bare is in the second cluster", func(ctx context.Context) (bool, string, error) {
		c := &corev1.ConfigMap{}
		err := out.Get(ctx, client.ObjectKey{Namespace: team, Name: "bare"}, c)
		return err == nil && c.Data["message"] == "hello", "", client.IgnoreNotFound(err)
	})

	hosts := []string{hostOf(t, control), hostOf(t, target)}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := p.Terminate(ctx); err != nil {
		t.Fatal(err)
	}
	for _, host := range hosts {
		if c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", host); err == nil {
			_ = c.Close()
			t.Errorf("make run was terminated, but a server still listens at %s", host)
		}
	}
	if _, err := os.Stat(control); !os.IsNotExist(err) {
		t.Errorf("make run was terminated, but its files remain: %s: %v", control, err)
	}
}

// contains returns an error unless the output of a process contains a text.
func contains(p *process.Process, what string) error {
	data, err := os.ReadFile(p.LogFile())
	if err == nil && !strings.Contains(string(data), what) {
		err = errors.Errorf("the output does not contain %q yet", what)
	}
	return err
}

// variables returns the variables that make run prints.
func variables(t *testing.T, p *process.Process) map[string]string {
	t.Helper()
	data, err := os.ReadFile(p.LogFile())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range exported.FindAllStringSubmatch(string(data), -1) {
		out[m[1]] = m[2]
	}
	return out
}

func clientOf(t *testing.T, kubeconfig string) client.Client {
	t.Helper()
	c, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	kinds := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(kinds), v1alpha1.AddToScheme(kinds)); err != nil {
		t.Fatal(err)
	}
	k, err := client.New(c, client.Options{Scheme: kinds})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// hostOf returns the host and port of the server of a kubeconfig.
func hostOf(t *testing.T, kubeconfig string) string {
	t.Helper()
	c, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(c.Host, "https://")
}

// connectTo creates the namespace and the ProviderConfig that fixture.create uses, for the cluster of a kubeconfig.
func connectTo(t *testing.T, control client.Client, kubeconfig string) {
	t.Helper()
	data, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: config}, Data: map[string][]byte{"kubeconfig": data}}
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: config}}
	pc.Spec.Credentials.Source = v1alpha1.CredentialsSourceSecret
	pc.Spec.Credentials.SecretRef = &v1alpha1.SecretKeySelector{Name: secret.Name, Key: "kubeconfig"}
	for _, o := range []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team}}, secret, pc} {
		if err := control.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}
