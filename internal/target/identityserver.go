// SPDX-License-Identifier: Apache-2.0

package target

import (
	"net"
	"net/url"
	"regexp"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// serversOf returns an expression for the hosts of API servers in the cloud of an identity. The clouds run these servers, and
// don't reveal tokens to their owners.
func serversOf(kind v1alpha1.IdentityType) string {
	switch kind {
	case v1alpha1.IdentityTypeGoogleApplicationCredentials:
		return `\.gke\.goog$`
	case v1alpha1.IdentityTypeAWSWebIdentityCredentials:
		return `\.eks\.amazonaws\.com(\.cn)?$|\.eks-cluster\.[a-z0-9-]+\.api\.(aws|amazonwebservices\.com\.cn)$`
	case v1alpha1.IdentityTypeAzureServicePrincipalCredentials, v1alpha1.IdentityTypeAzureWorkloadIdentityCredentials:
		return `\.azmk8s\.io$|\.cx\.prod\.service\.azk8s\.cn$|\.cx\.aks\.containerservice\.azure\.us$`
	case v1alpha1.IdentityTypeUpboundTokens:
		return `\.upbound\.io$`
	}
	return `$^`
}

// checkServer returns an error if tokens of the provider's own identity must not be sent to the server of a kubeconfig in a
// Secret. Otherwise, users who can write this Secret could choose the server that receives the tokens.
func (i *identity) checkServer(rc *rest.Config) error {
	u, err := url.Parse(rc.Host)
	if err != nil || u.Scheme != "https" {
		return errors.New("the server in the kubeconfig must be an https URL, because it receives tokens of the provider")
	}
	if rc.Proxy != nil || rc.Insecure {
		return errors.New("proxy-url and insecure-skip-tls-verify are not allowed in the kubeconfig, because the server " +
			"receives tokens of the provider: remove them")
	}
	if i.server != "" {
		if withPort(u.Host) == withPort(i.server) {
			return nil
		}
		return errors.New("server must be the host of the server in the kubeconfig, because it receives tokens of the provider")
	}
	if regexp.MustCompile(serversOf(i.kind)).MatchString(strings.ToLower(u.Hostname())) {
		return nil
	}
	return errors.Errorf("the server in the kubeconfig receives tokens of the provider, but is not a known host for "+
		"type %s: set server to the host and port of the API server", i.kind)
}

// withPort returns the normal form of host[:port].
func withPort(host string) string {
	host = strings.ToLower(host)
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), "443")
}
