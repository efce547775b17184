// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	// Namespace is the namespace of Crossplane.
	Namespace = "crossplane-system"
	// Host is the registry in the names of packages. It receives no requests.
	Host = "xpkg.crossplane.io"
	// Organization is the first part of the names of the packages.
	Organization = "crossplane-contrib"

	auditLog = "audit.log"
)

// auditPolicy records the requests of service accounts in Crossplane's namespace after the response.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  userGroups: ["system:serviceaccounts:` + Namespace + `"]
- level: None
`

// Options configure where and how Crossplane runs.
type Options struct {
	// Cluster is the control plane, which must have been started with the result of ClusterOptions.
	Cluster *controlplane.Cluster
	// Registry holds the packages. It must have neither TLS nor a password.
	Registry *controlplane.Registry
	// Dir is the directory for logs, certificates and caches. It is created if it does not exist.
	Dir string
	// Activate lists the patterns of the managed resources that are active from the start. The default is "*", as in the
	// chart of Crossplane.
	Activate []string
	// ProtectProviders enables an alpha feature of Crossplane: it refuses to delete a provider while its managed
	// resources exist.
	ProtectProviders bool
	// Version is an older minor version of Crossplane, such as 2.3, which must have been built. The default is
	// tools.CrossplaneVersion.
	Version string
	// CoreArgs are additional flags of core.
	CoreArgs []string
}

// ClusterOptions returns the options of a control plane for Crossplane, with its data in a directory. They disable the
// controllers of Deployments, because the simulated node replaces them. The requests of service accounts are recorded for
// Refused.
func ClusterOptions(dir string) (controlplane.Options, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return controlplane.Options{}, errors.Wrap(err, "cannot determine the directory of the control plane")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return controlplane.Options{}, errors.Wrap(err, "cannot create the directory of the control plane")
	}
	policy := filepath.Join(dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return controlplane.Options{}, errors.Wrap(err, "cannot write the audit policy")
	}
	return controlplane.Options{
		Name:              "control-plane",
		Dir:               dir,
		ControllerManager: true,
		Controllers: []string{
			"garbage-collector-controller", "namespace-controller", "serviceaccount-controller",
			"root-ca-certificate-publisher-controller", "clusterrole-aggregation-controller",
		},
		APIServerArgs: []string{"--audit-policy-file=" + policy, "--audit-log-path=" + filepath.Join(dir, auditLog)},
	}, nil
}
