// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"net"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// An endpoint is a running function.
type endpoint struct {
	process *process.Process
	// address is the address that Crossplane dials. The certificate is valid for its host.
	address string
	// secret is the name of the Secret with the certificate. Crossplane only checks that it exists.
	secret string
}

// endpoints contains the running functions. It is not safe for concurrent use.
type endpoints map[tools.Tool]*endpoint

// sync starts the functions of active revisions, and writes their addresses into the revisions.
func (e endpoints) sync(ctx context.Context, s host) error {
	found := &pkgv1.FunctionRevisionList{}
	if err := s.client.List(ctx, found); err != nil {
		return errors.Wrap(err, "cannot list FunctionRevisions")
	}
	for i := range found.Items {
		r := &found.Items[i]
		if r.DeletionTimestamp != nil || r.Spec.DesiredState != pkgv1.PackageRevisionActive {
			continue
		}
		for _, f := range functions() {
			if !strings.Contains(r.Spec.Package, "/"+string(f.tool)) {
				continue
			}
			if err := e.run(ctx, s, f.tool, r); err != nil {
				return errors.Wrapf(err, "cannot run function %q", r.Name)
			}
		}
	}
	return nil
}

func (e endpoints) run(ctx context.Context, s host, t tools.Tool, r *pkgv1.FunctionRevision) error {
	if e[t] == nil {
		started, err := startFunction(ctx, s, t)
		if err != nil {
			return err
		}
		e[t] = started
	}
	if err := e[t].process.Err(); err != nil {
		return err
	}
	return errors.Wrap(announce(ctx, s.client, r, e[t]), "cannot publish the endpoint")
}

func (e endpoints) stop() {
	for _, f := range e {
		f.process.Stop()
	}
}

// announce writes the address of a function into the status of its revision. It retries conflicts, because Crossplane
// writes the status, too.
func announce(ctx context.Context, c client.Client, r *pkgv1.FunctionRevision, e *endpoint) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { //nolint:wrapcheck // The caller says what it is.
		secret := r.GetObservedTLSServerSecretName()
		if r.Status.Endpoint == e.address && secret != nil && *secret == e.secret && r.GetCondition(pkgv1.TypeRuntimeHealthy).Status == "True" {
			return nil
		}
		r.Status.Endpoint = e.address
		r.SetObservedTLSServerSecretName(&e.secret)
		r.SetConditions(pkgv1.RuntimeHealthy())
		err := c.Status().Update(ctx, r)
		if !kerrors.IsConflict(err) {
			return err //nolint:wrapcheck // The caller says what it is.
		}
		// The next attempt updates the object that is read here.
		return errors.Join(err, c.Get(ctx, client.ObjectKeyFromObject(r), r))
	})
}

// startFunction starts a function with a certificate of Crossplane's authority, and returns when it accepts connections.
func startFunction(ctx context.Context, s host, t tools.Tool) (*endpoint, error) {
	binary, err := tools.Path(ctx, t)
	if err != nil {
		return nil, err
	}
	dir := s.path("functions", string(t))
	files, err := certify(ctx, s, dir)
	if err != nil {
		return nil, err
	}
	e := &endpoint{secret: string(t) + "-tls"}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: e.secret},
		Data:       map[string][]byte{corev1.TLSCertKey: files[corev1.TLSCertKey]},
	}
	if err := client.IgnoreAlreadyExists(s.client.Create(ctx, secret)); err != nil {
		return nil, errors.Wrap(err, "cannot create the Secret of a function")
	}
	port, err := process.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	listen := net.JoinHostPort(process.Loopback, strconv.Itoa(port))
	e.process, err = process.Start(dir, string(t), binary, []string{"HOME=" + dir},
		"--debug", "--address="+listen, "--tls-certs-dir="+dir)
	if err != nil {
		return nil, err
	}
	e.address = "dns:///" + net.JoinHostPort("localhost", strconv.Itoa(port))
	if err := e.process.Await(ctx, "listening", func(ctx context.Context) error { return dial(ctx, listen) }); err != nil {
		e.process.Stop()
		return nil, err
	}
	return e, nil
}

func dial(ctx context.Context, address string) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err //nolint:wrapcheck // It names the address.
	}
	return conn.Close() //nolint:wrapcheck // It names the address.
}
