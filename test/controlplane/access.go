// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"context"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// access provides the configurations of users and clients of a cluster.
type access struct {
	// name is the name of the cluster.
	name string
	ca   *authority
	// file is the path of the kubeconfig of an administrator.
	file string

	url   string
	admin *rest.Config
	// kubeconfig is the kubeconfig of admin.
	kubeconfig []byte
}

// reach sets the URL of the cluster, and creates the configuration of an administrator.
func (a *access) reach(url string) error {
	a.url = url
	var err error
	a.admin, err = a.User("admin", "system:masters")
	return err
}

// Name returns the name of the cluster.
func (a *access) Name() string { return a.name }

// URL returns the URL of the API server. It does not change when the server is stopped and started.
func (a *access) URL() string { return a.url }

// Config returns the configuration of an administrator, without a client-side
// rate limit. Each call returns a copy.
func (a *access) Config() *rest.Config { return rest.CopyConfig(a.admin) }

// User returns the configuration of a user with a client certificate. RBAC determines the user's permissions.
func (a *access) User(name string, groups ...string) (*rest.Config, error) {
	identity, err := a.ca.client(name, groups...)
	if err != nil {
		return nil, err
	}
	return a.config(identity), nil
}

// ServiceAccount returns the configuration of a service account, with a token that is valid for an hour.
func (a *access) ServiceAccount(ctx context.Context, namespace, name string) (*rest.Config, error) {
	client, err := kubernetes.NewForConfig(a.admin)
	if err != nil {
		return nil, errors.Wrap(err, "cannot create a client")
	}
	req, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return nil, errors.Wrapf(err, "cannot get a token of service account %s/%s", namespace, name)
	}
	config := a.config(&pair{})
	config.BearerToken = req.Status.Token
	return config, nil
}

func (a *access) config(identity *pair) *rest.Config {
	return &rest.Config{
		Host: a.url,
		QPS:  -1,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: a.ca.pem, CertData: identity.certificate, KeyData: identity.key,
		},
	}
}

// Kubeconfig returns the kubeconfig of an administrator.
func (a *access) Kubeconfig() []byte { return bytes.Clone(a.kubeconfig) }

// KubeconfigOf returns a kubeconfig for a configuration of this cluster. Its only context has the name of the cluster.
// The kubeconfig contains no file paths.
func (a *access) KubeconfigOf(config *rest.Config) ([]byte, error) {
	data, err := clientcmd.Write(api.Config{
		Clusters: map[string]*api.Cluster{a.name: {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*api.AuthInfo{a.name: {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
		}},
		Contexts:       map[string]*api.Context{a.name: {Cluster: a.name, AuthInfo: a.name}},
		CurrentContext: a.name,
	})
	return data, errors.Wrap(err, "cannot write a kubeconfig")
}

// KubeconfigFile returns the path of the kubeconfig of an administrator.
func (a *access) KubeconfigFile() string { return a.file }

func (a *access) writeKubeconfig() error {
	data, err := a.KubeconfigOf(a.admin)
	if err != nil {
		return err
	}
	a.kubeconfig = data
	return errors.Wrap(os.WriteFile(a.file, data, 0o600), "cannot write a kubeconfig")
}

// Client returns a client of an administrator, with the kinds of Kubernetes and of this repository. It reads from the API
// server, without a cache.
func (a *access) Client() (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, errors.Wrap(err, "cannot register the kinds of Kubernetes")
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, errors.Wrap(err, "cannot register the kinds of the provider")
	}
	made, err := client.NewWithWatch(a.admin, client.Options{Scheme: scheme})
	return made, errors.Wrapf(err, "cannot create a client for cluster %q", a.name)
}
