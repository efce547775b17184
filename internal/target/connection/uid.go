// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"encoding/json"
	"regexp"
	"sync/atomic"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

const (
	// unknownUIDFor is the time after which the UID of a cluster is requested again if it could not be determined.
	unknownUIDFor = time.Hour
	// acceptMetadata requests only the metadata of an object.
	acceptMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
)

// validUID matches the UIDs that are accepted, because a server can return any text.
var validUID = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)

// A uid stores what is known about the UID of a cluster.
type uid struct {
	// known is the UID, or nil.
	known atomic.Pointer[string]
	asked *remembered[string]
}

// UID returns the UID of the namespace kube-system. It sends one request for each connection. If the credentials don't allow
// reading the namespace, or the cluster doesn't have it, the result is empty, and UID requests it again after an hour.
func (c *Cluster) UID(ctx context.Context) (string, error) {
	u := c.uid.Load()
	if known := u.known.Load(); known != nil {
		return *known, nil
	}
	return u.asked.get(ctx, unknownUIDFor, func(ctx context.Context) (string, error) {
		found, err := c.askUID(ctx)
		if err == nil && found != "" {
			u.known.Store(&found)
		}
		return found, errors.Wrap(err, "cannot get the UID of namespace kube-system, which identifies the cluster")
	})
}

// forgetUID makes the next call of UID request the UID again, because a different cluster might have the same address.
func (c *Cluster) forgetUID() { c.uid.Store(&uid{asked: newRemembered[string]()}) }

func (c *Cluster) askUID(ctx context.Context) (string, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	r := c.rest.Get().AbsPath("/api/v1/namespaces/kube-system").SetHeader("Accept", acceptMetadata).Do(ctx)
	switch err := r.Error(); {
	case err == nil:
	case kerrors.IsForbidden(err), notfound.IsObject(err, "namespaces", "kube-system"):
		return "", nil
	case notfound.Foreign(err), notfound.Is(err):
		return "", c.foreign()
	default:
		return "", err
	}
	data, err := r.Raw()
	if err != nil {
		return "", err
	}
	m := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(data, m); err != nil || m.Name != "kube-system" || !validUID.MatchString(string(m.UID)) {
		return "", errors.New("the response is not from a Kubernetes API server; check the server in the kubeconfig, and any proxies in between")
	}
	return string(m.UID), nil
}
