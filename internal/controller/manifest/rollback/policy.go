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

// A Policy says when an upgrade is rolled back.
type Policy struct {
	// OnNotReady rolls back what is not Ready for any reason; otherwise only what failed.
	OnNotReady bool
	// After this time.
	After time.Duration
	// Atomic says that the config of an install asks for the rollback, and not the resource itself.
	Atomic bool
}

// PolicyOf returns the policy that a resource asks for, or else that of its installs; nil for none. Atomic is the time
// that the installs in the cluster ask for, zero for none: as with Helm, what is not Ready in time failed. While the
// status remembers such a time, that counts: what was brought back need not ask for a rollback itself.
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

// A Desired identifies what a resource asks for. A status stores its text: "atomic90-<digest>-<token>", of which only the
// digest must be there.
type Desired struct {
	// Digest of the content.
	Digest string
	// Token of the last request to reconcile, which is one to try again; empty for none.
	Token string
	// Atomic is the time that the installs ask for; zero if the resource itself asks for a rollback.
	Atomic time.Duration
}

// atomicPrefix begins the text of a Desired with a time. The seconds follow.
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

// continues reports whether a resource still asks for what it asked for before. An annotation that was removed asks for
// nothing.
func (d Desired) continues(before Desired) bool {
	return d.Digest == before.Digest && (d.Token == "" || d.Token == before.Token)
}

// TokenOf returns the token of a request; empty for none.
func TokenOf(request string) string {
	if request == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(request))
	return hex.EncodeToString(sum[:4])
}
