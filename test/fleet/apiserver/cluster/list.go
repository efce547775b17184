// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/record"
)

// ListOptions are the options of a list or a watch.
type ListOptions struct {
	Labels labels.Selector
	Fields fields.Selector
	// Limit is the maximum number of objects, or 0. Continue is the token of the next page.
	Limit    int
	Continue string
	// Version and Match are the parameters resourceVersion and resourceVersionMatch.
	Version, Match string
}

// Matches reports whether the options select an object.
func (o *ListOptions) Matches(k record.Key, r *record.Record) bool {
	if o.Fields != nil && !o.Fields.Empty() && !o.Fields.Matches(fields.Set{"metadata.name": k.Name, "metadata.namespace": k.Namespace}) {
		return false
	}
	return o.Labels == nil || o.Labels.Empty() || o.Labels.Matches(labels.Set(r.Labels()))
}

// A List is the result of a list request.
type List struct {
	Keys    []record.Key
	Records []*record.Record
	Version uint64
	// Continue is the token of the next page, and Remaining the number of objects after this page, or nil.
	Continue  string
	Remaining *int64
}

// A position is the content of the token of a page. Its form is not that of a real API server: clients must not read it.
type position struct {
	Version   uint64 `json:"version"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// covers reports whether an object is on an earlier page. A nil position covers nothing.
func (p *position) covers(k record.Key) bool {
	return p != nil && record.Compare(k, record.Key{Namespace: p.Namespace, Name: p.Name}) <= 0
}

// selectsAll reports whether the options have no selectors.
func (o *ListOptions) selectsAll() bool {
	return (o.Labels == nil || o.Labels.Empty()) && (o.Fields == nil || o.Fields.Empty())
}

// List returns the objects of a collection. Pages are of the version of the first one.
func (c *Cluster) List(t Target, o ListOptions) (*List, error) {
	if err := o.checkFields(); err != nil {
		return nil, err
	}
	at, after, err := c.start(o)
	if err != nil {
		return nil, err
	}
	keys, records, version, ok := c.store.List(t.Kind.GroupResource(), t.Namespace, at)
	if !ok {
		return nil, expired(after != nil)
	}
	out := &List{Version: version}
	for i, r := range records {
		if after.covers(keys[i]) {
			continue
		}
		if o.Limit > 0 && len(out.Records) == o.Limit {
			last := out.Keys[len(out.Keys)-1]
			b, _ := json.Marshal(position{version, last.Namespace, last.Name}) //nolint:errchkjson // It can be encoded.
			out.Continue = base64.RawURLEncoding.EncodeToString(b)
			if left := int64(len(records) - i); o.selectsAll() {
				out.Remaining = &left
			}
			break
		}
		if !o.Matches(keys[i], r) {
			continue
		}
		out.Keys, out.Records = append(out.Keys, keys[i]), append(out.Records, r)
	}
	return out, nil
}

// checkFields returns an error for a field selector that no kind supports here.
func (o *ListOptions) checkFields() error {
	if o.Fields == nil {
		return nil
	}
	for _, r := range o.Fields.Requirements() {
		if r.Field != "metadata.name" && r.Field != "metadata.namespace" {
			return kerrors.NewBadRequest(fmt.Sprintf(
				"%q is not a known field selector: only \"metadata.name\", \"metadata.namespace\"", r.Field))
		}
	}
	return nil
}

// start returns the version of a list, or 0 for the latest one, and the position after which a page begins.
func (c *Cluster) start(o ListOptions) (uint64, *position, error) {
	if o.Continue != "" {
		p := &position{}
		b, err := base64.RawURLEncoding.DecodeString(o.Continue)
		if err == nil {
			err = json.Unmarshal(b, p)
		}
		if err != nil {
			return 0, nil, kerrors.NewBadRequest(fmt.Sprintf("invalid continue token: continue key is not valid: %v", err))
		}
		return p.Version, p, nil
	}
	if o.Version == "" || o.Version == "0" {
		return 0, nil, nil
	}
	version, err := ParseVersion(o.Version)
	if err != nil {
		return 0, nil, err
	}
	if latest := c.store.Version(); version > latest {
		return 0, nil, TooLarge(version, latest)
	}
	if o.Match == string(metav1.ResourceVersionMatchExact) {
		return version, nil, nil
	}
	return 0, nil, nil
}

// ParseVersion parses the parameter resourceVersion.
func ParseVersion(s string) (uint64, error) {
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, kerrors.NewBadRequest("Invalid value: " + strconv.Quote(s) + ": " + err.Error())
	}
	return v, nil
}

// TooLarge returns the error for a version that does not exist yet.
func TooLarge(version, latest uint64) error {
	const retry = 1
	err := kerrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", version, latest), retry)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}

func expired(page bool) error {
	if page {
		return kerrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. You can start a new list " +
			"without the continue parameter.")
	}
	return kerrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
}
