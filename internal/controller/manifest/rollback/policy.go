// SPDX-License-Identifier: Apache-2.0

package rollback

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A Policy determines when an upgrade is rolled back.
type Policy struct {
	// OnNotReady rolls back an upgrade that is not Ready for any reason. Otherwise only an upgrade that failed is rolled back.
	OnNotReady bool
	// After is the time after which an upgrade is rolled back.
	After time.Duration
	// Atomic is set if the config of an install requests the rollback, and not the resource itself.
	Atomic bool
}

// PolicyOf returns the policy that a resource requests, or else the policy of its installs, or nil if there is none. atomic is
// the time that the installs in the cluster request, or zero: as with Helm, an upgrade that is not Ready in time failed. If the
// status contains such a time, it takes precedence, because the restored revision may not request a rollback itself.
func PolicyOf(spec *v1alpha1.Rollback, st *v1alpha1.RollbackStatus, atomic time.Duration) *Policy {
	if spec != nil {
		return &Policy{OnNotReady: spec.Trigger == v1alpha1.RollbackTriggerNotReady, After: spec.After.Duration}
	}
	if st != nil {
		if remembered := ParseDesired(st.Desired).Atomic; remembered != 0 {
			atomic = remembered
		}
	}
	if atomic == 0 {
		return nil
	}
	return &Policy{OnNotReady: true, After: atomic, Atomic: true}
}

// A Desired identifies what a resource requests. A status stores its text: "atomic90-<digest>-<token>". Only the digest is
// required.
type Desired struct {
	// Digest is the digest of the content.
	Digest string
	// Token identifies the last request to reconcile, or is empty. A new token requests another attempt.
	Token string
	// Atomic is the time that the installs request; zero if the resource itself requests a rollback.
	Atomic time.Duration
}

// atomicPrefix begins the text of a Desired with a time. The number of seconds follows.
const atomicPrefix = "atomic"

// String returns the text for a status.
func (d Desired) String() string {
	out := d.Digest
	if d.Token != "" {
		out += "-" + d.Token
	}
	if d.Atomic != 0 {
		out = fmt.Sprintf("%s%d-%s", atomicPrefix, int(d.Atomic.Seconds()), out)
	}
	return out
}

// ParseDesired parses the text of a status.
func ParseDesired(s string) Desired {
	out := Desired{}
	head, rest, _ := strings.Cut(s, "-")
	if text, ok := strings.CutPrefix(head, atomicPrefix); ok {
		if seconds, err := strconv.Atoi(text); err == nil {
			out.Atomic, s = time.Duration(seconds)*time.Second, rest
		}
	}
	out.Digest, out.Token, _ = strings.Cut(s, "-")
	return out
}

// continues reports whether a resource still requests the same as before. An annotation that was removed requests nothing.
func (d Desired) continues(before Desired) bool {
	return d.Digest == before.Digest && (d.Token == "" || d.Token == before.Token)
}

// TokenOf returns the token of a request, or an empty string if there is no request.
func TokenOf(request string) string {
	if request == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(request))
	return hex.EncodeToString(sum[:4])
}
