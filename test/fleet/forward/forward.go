// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"

	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// To returns a handler that sends requests to the API server of a config, with the identity of the config. It forwards each part of a
// response at once, as watches require.
func To(c *rest.Config) (http.Handler, error) {
	to, err := url.Parse(c.Host)
	if err != nil {
		return nil, errors.Wrap(err, "cannot parse the address of the API server")
	}
	transport, err := rest.TransportFor(c)
	if err != nil {
		return nil, errors.Wrap(err, "cannot create a transport")
	}
	out := httputil.NewSingleHostReverseProxy(to)
	out.Transport, out.FlushInterval, out.ErrorLog = transport, -1, log.New(io.Discard, "", 0)
	return out, nil
}

// WriteKubeconfig writes a kubeconfig to a file. Its server is the one with the URL, which needs no credentials.
func WriteKubeconfig(file, url string) error {
	return errors.Wrap(os.WriteFile(file, fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: forward
contexts: [{name: forward, context: {cluster: forward, user: forward}}]
users: [{name: forward, user: {token: unused}}]
clusters: [{name: forward, cluster: {server: %q}}]
`, url), 0o600), "cannot write a kubeconfig")
}
