// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/crossplane-contrib/provider-kyma/internal/target/kubeconfig"
)

// targetKubeconfig reads a kubeconfig and returns it for the provider: with only the given context, or the current one if context
// is empty, and with the content of all files that it refers to. It fails if the provider would reject the kubeconfig. Errors
// contain names and paths, but no other values of the kubeconfig. copied reports whether the result contains the content of a
// tokenFile, which can change later.
func targetKubeconfig(path, context string) (data []byte, copied bool, err error) {
	data, err = readBounded(path)
	if err != nil {
		return nil, false, err
	}
	c, err := kubeconfig.Load(data)
	if err != nil {
		return nil, false, err
	}
	if context != "" {
		c.CurrentContext = context
	}
	one := single(c)
	dir := filepath.Dir(path)
	for _, cluster := range one.Clusters {
		if err := inline(dir, "certificate-authority", &cluster.CertificateAuthority, &cluster.CertificateAuthorityData); err != nil {
			return nil, false, err
		}
	}
	for _, user := range one.AuthInfos {
		if copied, err = inlineUser(dir, user); err != nil {
			return nil, false, err
		}
	}
	data, err = clientcmd.Write(*one)
	if err != nil {
		return nil, false, errors.New("the kubeconfig cannot be written")
	}
	if _, err := kubeconfig.Parse(data, kubeconfig.Options{}); err != nil {
		return nil, false, err
	}
	return data, copied, nil
}

// readBounded reads a file or a pipe. It fails if the content doesn't fit in a Secret.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // The user names their own file.
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, kubeconfig.MaxBytes+1))
	if err == nil && len(data) > kubeconfig.MaxBytes {
		err = errors.Errorf("%s is too large: the maximum is %d bytes", path, kubeconfig.MaxBytes)
	}
	return data, err
}

// single returns a kubeconfig with only the current context, its cluster and its user, without extensions. If one of these is
// missing, it is missing in the result too, and the parser reports it.
func single(c *api.Config) *api.Config {
	one := api.NewConfig()
	one.CurrentContext = c.CurrentContext
	current := c.Contexts[c.CurrentContext]
	if current == nil {
		return one
	}
	one.Contexts[c.CurrentContext] = &api.Context{Cluster: current.Cluster, AuthInfo: current.AuthInfo}
	if cluster := c.Clusters[current.Cluster]; cluster != nil {
		cluster = cluster.DeepCopy()
		cluster.Extensions = nil
		one.Clusters[current.Cluster] = cluster
	}
	if user := c.AuthInfos[current.AuthInfo]; user != nil {
		user = user.DeepCopy()
		user.Extensions = nil
		one.AuthInfos[current.AuthInfo] = user
	}
	return one
}

// inlineUser embeds the files of a user, and reports whether it embedded a tokenFile.
func inlineUser(dir string, user *api.AuthInfo) (bool, error) {
	if err := inline(dir, "client-certificate", &user.ClientCertificate, &user.ClientCertificateData); err != nil {
		return false, err
	}
	if err := inline(dir, "client-key", &user.ClientKey, &user.ClientKeyData); err != nil {
		return false, err
	}
	var token []byte
	if err := inline(dir, "tokenFile", &user.TokenFile, &token); err != nil || token == nil {
		return false, err
	}
	// Clients prefer the file if both are set.
	user.Token = strings.TrimSpace(string(token))
	return true, nil
}

// inline replaces the path of a file, relative to dir, with the content of the file. As in client-go, existing data takes
// precedence over the file, except for a tokenFile, see inlineUser.
func inline(dir, field string, path *string, data *[]byte) error {
	if *path == "" {
		return nil
	}
	name := *path
	*path = ""
	if len(*data) > 0 {
		return nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	content, err := readBounded(name)
	if err != nil {
		return errors.Wrap(err, field)
	}
	if len(content) == 0 {
		return errors.Errorf("%s: %s is empty", field, name)
	}
	*data = content
	return nil
}
