// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// One control plane for all tests, because starting it is slow. It has no controllers, and no CRDs at the beginning.
var (
	server *controlplane.Cluster
	plane  client.Client
	// documents of the control plane, such as its API groups.
	documents notfound.GetFunc
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(controlplane.RunTests(m, controlplane.Options{Name: "control"}, func(_ context.Context, c *controlplane.Cluster) (err error) {
		server = c
		if plane, err = client.New(c.Config(), client.Options{Scheme: runtime.NewScheme()}); err != nil {
			return err
		}
		documents, err = notfound.Getter(c.Config())
		return err
	}))
}

// A result contains the error and the output of a command.
type result struct {
	out, said string
	err       error
}

// run runs a command with a timeout for tests.
func run(t testing.TB, command func(*command.Environment) *cobra.Command, args ...string) result {
	t.Helper()
	return runFor(t, time.Minute, command, args...)
}

func runFor(t testing.TB, timeout time.Duration, of func(*command.Environment) *cobra.Command, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	var out, said bytes.Buffer
	e := &command.Environment{In: strings.NewReader(""), Out: &out, Err: &said, Timeout: timeout}
	c := of(e)
	c.SilenceErrors, c.SilenceUsage = true, true
	if !slices.Contains(args, "--kubeconfig") {
		args = append(args, "--kubeconfig", server.KubeconfigFile())
	}
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&said)
	err := c.ExecuteContext(ctx)
	r := result{out: out.String(), said: said.String(), err: err}
	if strings.Contains(r.out+r.said+fmt.Sprint(err), canary) {
		t.Errorf("%s %s: it shows a secret:\n%s%s%v", c.Name(), args, r.out, r.said, err)
	}
	return r
}

// timeOut runs a command that must time out, and checks the end of its error. On a busy machine, a short timeout can end before the
// command waits: then the command runs again with twice the time.
func timeOut(t testing.TB, of func(*command.Environment) *cobra.Command, why string, args ...string) {
	t.Helper()
	for timeout := 2 * time.Second; ; timeout *= 2 {
		err := runFor(t, timeout, of, args...).err
		if command.CodeOf(err) == command.ExitTimeout && strings.HasPrefix(err.Error(), "timed out waiting for ") && strings.HasSuffix(err.Error(), why) {
			return
		}
		if timeout > time.Minute {
			t.Errorf("%s: want exit code %d and an error that ends with %q, got %v", args, command.ExitTimeout, why, err)
			return
		}
	}
}

// succeed runs a command that must not fail.
func succeed(t testing.TB, of func(*command.Environment) *cobra.Command, args ...string) result {
	t.Helper()
	r := run(t, of, args...)
	if r.err != nil {
		t.Fatalf("%s: %v\n%s%s", args, r.err, r.out, r.said)
	}
	return r
}

// defined installs the CRDs.
func defined(t testing.TB) {
	t.Helper()
	a := &apply.Applier{Environment: &command.Environment{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, Plane: &apply.Plane{Client: plane, Document: documents}}
	a.Report = &apply.Report{Environment: a.Environment, Output: &command.Output{}}
	if err := (&installation{plane: a.Plane, applier: a}).define(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// target returns the path of a kubeconfig that contains a secret.
func target(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "target")
	write(t, path, twoContexts("server: 'https://api.example.org'", "token: "+canary))
	return path
}

// get returns an object, or nil if it does not exist.
func get(t testing.TB, o apply.Object) *unstructured.Unstructured {
	t.Helper()
	u, err := (&apply.Plane{Client: plane, Document: documents}).Live(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func mustGet(t testing.TB, o apply.Object) *unstructured.Unstructured {
	t.Helper()
	u := get(t, o)
	if u == nil {
		t.Fatalf("%s does not exist", o.Words())
	}
	return u
}

func kymaIn(namespace string) apply.Object {
	return apply.Object{GroupVersionKind: v1alpha1.KymaGroupVersionKind, Namespace: namespace, Name: "default"}
}

func configIn(namespace string) apply.Object {
	return reference{kind: v1alpha1.ProviderConfigKind, name: "default"}.object(namespace)
}

func secretIn(namespace string) apply.Object {
	return apply.Object{GroupVersionKind: apply.CoreKind("Secret"), Namespace: namespace, Name: "default-kubeconfig"}
}

func templateObject(name string) apply.Object {
	return apply.Object{GroupVersionKind: v1alpha1.ModuleTemplateGroupVersionKind, Name: name}
}

// lines returns the lines of an output, by their last word.
func lines(out string) map[string][]string {
	all := map[string][]string{}
	for l := range strings.Lines(out) {
		words := strings.Fields(l)
		all[strings.Join(words[1:], " ")] = append(all[strings.Join(words[1:], " ")], words[0])
	}
	return all
}

// certificate returns a certificate in PEM.
func certificate(t testing.TB) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
