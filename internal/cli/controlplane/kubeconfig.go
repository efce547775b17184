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

// targetKubeconfig reads a kubeconfig for the provider: one context, which is
// the current one unless it is named, with the content of all files that it
// refers to. It fails on what the provider would refuse. No error holds a value
// of the kubeconfig besides names and paths. The second result says whether it
// has a copy of a token that the owner of the file may renew.
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

// readBounded reads a file, or a pipe, that fits into a Secret.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // The user names their own file.
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, kubeconfig.MaxBytes+1))
	if err == nil && len(data) > kubeconfig.MaxBytes {
		err = errors.Errorf("%s is too large: at most %d bytes are read", path, kubeconfig.MaxBytes)
	}
	return data, err
}

// single is a kubeconfig with what the current context needs, and no extensions.
// What is missing stays missing, for the parser to name it.
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

// inlineUser says whether it copied a token.
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
	// The file is what clients use where there are both.
	user.Token = strings.TrimSpace(string(token))
	return true, nil
}

// inline the content of a file, whose path is relative to dir. As for every
// client, data that is there already wins, except over a tokenFile.
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
