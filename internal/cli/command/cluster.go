// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// FieldManager is under which name kymactl writes to clusters.
const FieldManager = "kymactl"

// ClusterFlags say which control plane a command talks to, as those of kubectl.
type ClusterFlags struct {
	kubeconfig string
	context    string
	namespace  string
}

// AddFlags adds the flags to a command.
func (c *ClusterFlags) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig `FILE` of the control plane; default $KUBECONFIG, then ~/.kube/config")
	f.StringVar(&c.context, "context", "", "`CONTEXT` of the kubeconfig; default its current one")
	f.StringVarP(&c.namespace, "namespace", "n", "", "`NAMESPACE` to work in; default that of the context")
}

// A Cluster is the control plane of a command.
type Cluster struct {
	client.WithWatch

	Config    *rest.Config
	Namespace string // Of the flag, or else of the context; never empty.
	// Document is what the API server has at a path.
	Document notfound.GetFunc
}

// Connect to the control plane. It asks nothing of it yet. What the API server
// warns of is shown once; without an environment, as in a completion, it is not.
func (c *ClusterFlags) Connect(e *Environment) (*Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: c.context}
	overrides.Context.Namespace = c.namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, Usagef("there is no kubeconfig of a control plane in %s: use --kubeconfig FILE, or set KUBECONFIG",
			strings.Join(rules.GetLoadingPrecedence(), ", "))
	}
	if err != nil {
		return nil, WithCode(ExitUsage, errors.Wrap(err, "cannot read the kubeconfig of the control plane: use --kubeconfig and --context"))
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, WithCode(ExitUsage, errors.Wrap(err, "cannot tell the namespace: use --namespace"))
	}
	// A person waits, and the server protects itself.
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
		return nil, errors.Wrap(err, "cannot talk to the control plane")
	}
	get, err := notfound.Getter(config)
	if err != nil {
		return nil, errors.Wrap(err, "cannot talk to the control plane")
	}
	return &Cluster{WithWatch: k, Config: config, Namespace: namespace, Document: get}, nil
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
