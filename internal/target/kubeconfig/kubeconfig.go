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

// MaxBytes is the largest kubeconfig that is read. It is what a Secret can hold.
const MaxBytes = 1 << 20

// maxValues is how many commas, colons and line breaks a kubeconfig may have: those of some 2000 clusters with their users.
const maxValues = 50_000

// maxName is how much of a name from a kubeconfig is repeated in an error.
const maxName = 64

// Options say what a kubeconfig may do. The zero value is the strictest.
type Options struct {
	// AllowExec permits exec and auth-provider, which run code of the provider's image.
	AllowExec bool
	// AllowFiles permits tokenFile, client-certificate, client-key and certificate-authority, which read files of the
	// provider.
	AllowFiles bool
	// Identity says that an identity authenticates. The context then needs no user, and exec is accepted whatever
	// AllowExec says: several identities take their parameters from it. The caller must remove it from the REST config.
	Identity bool
}

// A Result is how the API server of the current context is reached.
type Result struct {
	// Config has no client-side rate limit and no timeout.
	Config *rest.Config
	// Cluster is the name of the cluster's entry.
	Cluster string
}

// Load a kubeconfig. What it becomes in memory is bounded before it is decoded: an alias stands for all that its anchor
// holds, also below fields that no one reads. Errors are one line, and hold nothing of the kubeconfig.
func Load(data []byte) (*api.Config, error) {
	if len(data) == 0 {
		return nil, errors.New("kubeconfig is empty")
	}
	if len(data) > MaxBytes {
		return nil, errors.Errorf("kubeconfig has %d bytes, and at most %d are read", len(data), MaxBytes)
	}
	if err := (yamlsize.Limits{Bytes: MaxBytes, Values: maxValues}).Check(data); err != nil {
		return nil, errors.Wrap(err, "kubeconfig cannot be read")
	}
	c, err := clientcmd.Load(data)
	if err != nil {
		return nil, unreadable(err)
	}
	return c, nil
}

// Parse a kubeconfig and choose its current context. Errors are one line, and hold names from the kubeconfig but none of
// its values.
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
		return nil, errors.Errorf("kubeconfig has no context %q, which is its current-context", shorten(c.CurrentContext))
	}
	cluster := c.Clusters[kctx.Cluster]
	if cluster == nil {
		return nil, errors.Errorf("kubeconfig has no cluster %q, which context %q uses", shorten(kctx.Cluster), shorten(c.CurrentContext))
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
	return &Result{Config: rc, Cluster: kctx.Cluster}, nil
}

func userOf(c *api.Config, kctx *api.Context, o Options) (*api.AuthInfo, error) {
	if user := c.AuthInfos[kctx.AuthInfo]; user != nil {
		return user, nil
	}
	if o.Identity {
		return &api.AuthInfo{}, nil
	}
	if kctx.AuthInfo == "" {
		return nil, errors.Errorf("context %q of the kubeconfig has no user; add one, or an identity to the provider config",
			shorten(c.CurrentContext))
	}
	return nil, errors.Errorf("kubeconfig has no user %q, which context %q uses", shorten(kctx.AuthInfo), shorten(c.CurrentContext))
}

var lineNumber = regexp.MustCompile(`line \d+`)

// unreadable keeps only the line of the decoder's error, because decoders quote the input that they cannot read, which
// may be a password.
func unreadable(err error) error {
	if line := lineNumber.FindString(err.Error()); line != "" {
		return errors.Errorf("kubeconfig cannot be read: %s is not valid YAML", line)
	}
	return errors.New("kubeconfig cannot be read: it is not a Config of v1 in YAML or JSON, or a field has the wrong type")
}

func shorten(name string) string {
	if len(name) <= maxName {
		return name
	}
	return name[:maxName] + "…"
}
