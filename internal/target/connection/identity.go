// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// connections counts the connections without a proven identity.
var connections atomic.Uint64 //nolint:gochecknoglobals // Each one is to differ from all others of the process.

// identityOf returns the identity of the cluster that a connection points to. Because anyone can write the address of another
// cluster into a kubeconfig and route it elsewhere with a proxy, the address counts only together with the certificate
// authorities that verify it. A connection that does not verify its server or has its own transport gets a unique identity.
// Credentials do not count, so that known data stays valid after a rotation.
func identityOf(rc *rest.Config, host string) string {
	tls := rc.TLSClientConfig
	if tls.Insecure || !strings.HasPrefix(host, "https://") || rc.Transport != nil || rc.WrapTransport != nil || rc.Dial != nil {
		return host + " #" + strconv.FormatUint(connections.Add(1), 10)
	}
	b, _ := json.Marshal([]any{host, rc.Host, tls.ServerName, tls.CAFile, tls.CAData}) //nolint:errchkjson // Texts can be encoded.
	sum := sha256.Sum256(b)
	return host + " " + hex.EncodeToString(sum[:])
}
