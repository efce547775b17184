// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"regexp"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// MaxBytes is the maximum size of a kubeconfig, which is the maximum size of a Secret.
const MaxBytes = 1 << 20

// maxValues is the maximum number of commas, colons and line breaks in a kubeconfig: enough for about 2000 clusters with
// their users.
const maxValues = 50_000

// maxName is the maximum length, in bytes, of a name from a kubeconfig in an error.
const maxName = 64

// Options define what a kubeconfig may do. The zero value is the strictest.
type Options struct {
	// AllowExec permits exec and auth-provider, which run code of the provider's image.
	AllowExec bool
	// AllowFiles permits tokenFile, client-certificate, client-key and certificate-authority, which read files of the
	// provider.
	AllowFiles bool
	// Identity means that an identity authenticates instead of the user. The context then needs no user, and exec is
	// accepted regardless of AllowExec, because several identities take parameters from it. The caller must remove exec
	// from the REST config.
	Identity bool
}

// A Result describes the connection to the API server of the current context.
type Result struct {
	// Config is a REST config without a client-side rate limit and without a timeout.
	Config *rest.Config
	// Cluster is the name of the cluster entry.
	Cluster string
	// ExceptToken is equal for two kubeconfigs that only differ in the token of the user, and reveals nothing about them. It is empty if
	// the user authenticates with anything but a token in the kubeconfig, or if the kubeconfig names files, which can change too.
	ExceptToken string
}

// Load decodes a kubeconfig. Before that, it bounds the decoded size, because an alias is replaced by all that its anchor
// contains, even in unused fields. Errors are one line without any contents of the kubeconfig.
func Load(data []byte) (*api.Config, error) {
	if len(data) == 0 {
		return nil, errors.New("kubeconfig is empty")
	}
	if len(data) > MaxBytes {
		return nil, errors.Errorf("kubeconfig has %d bytes: the maximum is %d", len(data), MaxBytes)
	}
	if err := (yamlsize.Limits{Bytes: MaxBytes, Values: maxValues}).Check(data); err != nil {
		return nil, errors.Wrap(err, "cannot read kubeconfig")
	}
	c, err := clientcmd.Load(data)
	if err != nil {
		return nil, unreadable(err)
	}
	return c, nil
}

// Parse decodes a kubeconfig and selects its current context. Errors are one line. They contain names from the
// kubeconfig, but no values.
func Parse(data []byte, o Options) (*Result, error) {
	c, err := Load(data)
	if err != nil {
		return nil, err
	}
	if c.CurrentContext == "" {
		return nil, errors.New("kubeconfig has no current-context")
	}
	kctx := c.Contexts[c.CurrentContext]
	if kctx == nil {
		return nil, errors.Errorf("kubeconfig has no context %q, which current-context refers to", shorten(c.CurrentContext))
	}
	cluster := c.Clusters[kctx.Cluster]
	if cluster == nil {
		return nil, errors.Errorf("kubeconfig has no cluster %q, which context %q refers to", shorten(kctx.Cluster), shorten(c.CurrentContext))
	}
	user, err := userOf(c, kctx, o)
	if err != nil {
		return nil, err
	}

	rc := &rest.Config{QPS: -1}
	if err := setCluster(rc, cluster, o); err != nil {
		return nil, errors.Wrapf(err, "cluster %q of the kubeconfig", shorten(kctx.Cluster))
	}
	if err := setUser(rc, user, o); err != nil {
		return nil, errors.Wrapf(err, "user %q of the kubeconfig", shorten(kctx.AuthInfo))
	}
	return &Result{Config: rc, Cluster: kctx.Cluster, ExceptToken: exceptToken(cluster, user)}, nil
}

func userOf(c *api.Config, kctx *api.Context, o Options) (*api.AuthInfo, error) {
	if user := c.AuthInfos[kctx.AuthInfo]; user != nil {
		return user, nil
	}
	if o.Identity {
		return &api.AuthInfo{}, nil
	}
	if kctx.AuthInfo == "" {
		return nil, errors.Errorf("context %q of the kubeconfig has no user; add a user, or set spec.identity of the ProviderConfig",
			shorten(c.CurrentContext))
	}
	return nil, errors.Errorf("kubeconfig has no user %q, which context %q refers to", shorten(kctx.AuthInfo), shorten(c.CurrentContext))
}

var lineNumber = regexp.MustCompile(`line \d+`)

// unreadable returns an error with only the line number of the decoder's error, because decoders quote invalid input,
// which may be a password.
func unreadable(err error) error {
	if line := lineNumber.FindString(err.Error()); line != "" {
		return errors.Errorf("cannot read kubeconfig: invalid YAML in %s", line)
	}
	return errors.New("cannot read kubeconfig: must be a v1 Config in YAML or JSON with valid field types")
}

func shorten(name string) string {
	if len(name) <= maxName {
		return name
	}
	return name[:maxName] + "…"
}
