// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"k8s.io/client-go/tools/clientcmd/api"
)

// exceptToken returns a hash of the cluster and the user of a kubeconfig without the token of the user, or an empty string if the user
// has no token, or has more than a token. It contains all fields but those listed here, so that a field that a later version of the
// library adds makes a difference too.
func exceptToken(cluster *api.Cluster, user *api.AuthInfo) string {
	c, u := cluster.DeepCopy(), user.DeepCopy()
	// Extensions concern other programs, which store times in them.
	c.Extensions, u.Extensions = nil, nil
	if u.Token == "" || c.CertificateAuthority != "" || hasMoreThanToken(u) {
		return ""
	}
	u.Token = ""
	b, err := json.Marshal([]any{c, u})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// hasMoreThanToken reports whether a user has a way to authenticate other than a token in the kubeconfig.
func hasMoreThanToken(u *api.AuthInfo) bool {
	certificate := u.ClientCertificate != "" || u.ClientKey != "" || len(u.ClientCertificateData) > 0 || len(u.ClientKeyData) > 0
	return certificate || u.TokenFile != "" || u.Username != "" || u.Password != "" || u.AuthProvider != nil || u.Exec != nil
}
