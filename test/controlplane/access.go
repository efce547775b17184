// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"context"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Config returns the configuration of an administrator, without a client-side
// rate limit. Each call returns a copy.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.admin) }

// User returns the configuration of a user with a client certificate. What it
// may do is decided by RBAC.
func (c *Cluster) User(name string, groups ...string) (*rest.Config, error) {
	identity, err := c.ca.client(name, groups...)
	if err != nil {
		return nil, err
	}
	return c.config(identity), nil
}

// ServiceAccount returns the configuration of a service account, with a token
// that the API server issues for an hour.
func (c *Cluster) ServiceAccount(ctx context.Context, namespace, name string) (*rest.Config, error) {
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return nil, errors.Wrap(err, "cannot make a client")
	}
	req, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return nil, errors.Wrapf(err, "cannot get a token of service account %s/%s", namespace, name)
	}
	config := c.config(&pair{})
	config.BearerToken = req.Status.Token
	return config, nil
}

func (c *Cluster) config(identity *pair) *rest.Config {
	return &rest.Config{
		Host: c.URL(),
		QPS:  -1,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: c.ca.pem, CertData: identity.certificate, KeyData: identity.key,
		},
	}
}

// Kubeconfig returns the kubeconfig of an administrator.
func (c *Cluster) Kubeconfig() []byte { return bytes.Clone(c.kubeconfig) }

// KubeconfigOf returns a kubeconfig for a configuration of this cluster. Its
// only context is called after the cluster, and holds no path.
func (c *Cluster) KubeconfigOf(config *rest.Config) ([]byte, error) {
	name := c.options.Name
	data, err := clientcmd.Write(api.Config{
		Clusters: map[string]*api.Cluster{name: {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*api.AuthInfo{name: {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
		}},
		Contexts:       map[string]*api.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	})
	return data, errors.Wrap(err, "cannot write a kubeconfig")
}

// KubeconfigFile returns the path of the kubeconfig of an administrator.
func (c *Cluster) KubeconfigFile() string { return c.path("kubeconfig") }

func (c *Cluster) writeKubeconfig() error {
	data, err := c.KubeconfigOf(c.admin)
	if err != nil {
		return err
	}
	c.kubeconfig = data
	return errors.Wrap(os.WriteFile(c.KubeconfigFile(), data, 0o600), "cannot write a kubeconfig")
}
