// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// FieldManager is the field manager and the user agent of kymactl.
const FieldManager = "kymactl"

// ClusterFlags holds the flags that select the control plane and the user of a command. They work as in kubectl.
type ClusterFlags struct {
	config *genericclioptions.ConfigFlags
}

// AddFlags adds the flags to a command. It omits the flags of kubectl for credentials and certificates: they belong in a
// kubeconfig, because other users can read a command line. See
// docs/decisions/0070-flags-that-kymactl-shares-with-kubectl.md.
func (c *ClusterFlags) AddFlags(f *pflag.FlagSet) {
	c.config = genericclioptions.NewConfigFlags(false)
	c.config.BearerToken, c.config.CertFile, c.config.KeyFile, c.config.CAFile, c.config.Insecure = nil, nil, nil, nil, nil
	c.config.CacheDir, c.config.DisableCompression, c.config.ImpersonateUserExtra = nil, nil, nil
	c.config.AddFlags(f)
	for name, usage := range map[string]string{
		"kubeconfig":      "kubeconfig `FILE` of the control plane (default $KUBECONFIG, then ~/.kube/config)",
		"context":         "`CONTEXT` in the kubeconfig (default: the current context)",
		"cluster":         "`CLUSTER` in the kubeconfig (default: the cluster of the context)",
		"user":            "`USER` in the kubeconfig (default: the user of the context)",
		"namespace":       "`NAMESPACE` for this command (default: the namespace of the context)",
		"server":          "`URL` of the API server (default: the server of the cluster)",
		"tls-server-name": "server `NAME` in the certificate of the API server (default: the host of its URL)",
		"proxy-url":       "`URL` of the proxy for requests to the API server (default: the proxy of the cluster)",
		"as":              "`USER` to impersonate, such as jane or system:serviceaccount:team-a:deployer",
		"as-uid":          "`UID` to impersonate",
		"as-group":        "`GROUP` to impersonate; can be repeated",
		"request-timeout": "maximum `DURATION` of a single request, such as 10s; 0 means no limit",
	} {
		f.Lookup(name).Usage = usage
	}
}

// A Cluster is a client for the control plane of a command.
type Cluster struct {
	client.WithWatch

	Config    *rest.Config
	Namespace string // Namespace from the flag or the context; never empty.
	// Document gets a document from the API server by its path.
	Document notfound.GetFunc
}

// Connect returns a client for the control plane, without sending a request. It shows each warning of the API server once, or
// none if e is nil, as in completions.
func (c *ClusterFlags) Connect(e *Environment) (*Cluster, error) {
	config, namespace, err := c.load()
	if err != nil {
		return nil, err
	}
	// Don't limit the rate: a user is waiting, and the API server protects itself against too many requests.
	config.QPS = -1
	config.UserAgent = FieldManager
	config.WarningHandler = rest.NoWarnings{}
	if e != nil {
		config.WarningHandler = &warnings{show: e.Warnf}
	}
	s, err := newScheme()
	if err != nil {
		return nil, err
	}
	k, err := client.NewWithWatch(config, client.Options{Scheme: s})
	if err != nil {
		return nil, errors.Wrap(err, "cannot connect to the control plane")
	}
	get, err := notfound.Getter(config)
	if err != nil {
		return nil, errors.Wrap(err, "cannot connect to the control plane")
	}
	return &Cluster{WithWatch: k, Config: config, Namespace: namespace, Document: get}, nil
}

// load returns the client configuration and the namespace from the flags and the kubeconfig.
func (c *ClusterFlags) load() (*rest.Config, string, error) {
	loader := c.config.ToRawKubeConfigLoader()
	config, err := c.config.ToRESTConfig()
	// Without a kubeconfig, kubectl would connect to localhost.
	if err == nil && *c.config.APIServer == "" && config.Host == clientcmd.ClusterDefaults.Server && !hasClusters(loader) {
		err = clientcmd.ErrEmptyConfig
	}
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", Usagef("no kubeconfig found in %s: use --kubeconfig FILE, or set KUBECONFIG",
			strings.Join(loader.ConfigAccess().GetLoadingPrecedence(), ", "))
	}
	if err != nil {
		return nil, "", WithCode(ExitUsage, errors.Wrap(err, "cannot read the kubeconfig of the control plane: use --kubeconfig and --context"))
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", WithCode(ExitUsage, errors.Wrap(err, "cannot determine the namespace: use --namespace"))
	}
	return config, namespace, nil
}

// hasClusters reports whether a kubeconfig contains clusters.
func hasClusters(loader clientcmd.ClientConfig) bool {
	raw, err := loader.RawConfig()
	return err == nil && len(raw.Clusters) > 0
}

func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}
