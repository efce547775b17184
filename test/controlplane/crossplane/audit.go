// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// A Refusal is a request that the API server rejected with 403.
type Refusal struct {
	// User is the name of the user, in the form system:serviceaccount:<namespace>:<name>.
	User string
	// Verb and Path identify the request, and Reason is why it is forbidden.
	Verb, Path, Reason string
}

// Refused returns the forbidden requests of service accounts in Crossplane's namespace since the control plane started,
// in order. These are the service accounts of providers.
func Refused(c *controlplane.Cluster) ([]Refusal, error) {
	f, err := os.Open(filepath.Join(c.Dir(), auditLog))
	if err != nil {
		return nil, errors.Wrap(err, "cannot open the audit log: was the cluster started with ClusterOptions?")
	}
	defer func() { _ = f.Close() }()
	var out []Refusal
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb string `json:"verb"`
			URI  string `json:"requestURI"`
			User struct {
				Name string `json:"username"`
			} `json:"user"`
			Status struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"responseStatus"`
		}
		// The last line may be incomplete.
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil || event.Status.Code != http.StatusForbidden {
			continue
		}
		out = append(out, Refusal{User: event.User.Name, Verb: event.Verb, Path: event.URI, Reason: event.Status.Message})
	}
	return out, errors.Wrap(lines.Err(), "cannot read the audit log")
}
