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
	// Host is the registry in the names of packages. It is never asked.
	Host = "xpkg.crossplane.io"
	// Organization is the first part of the names of the packages.
	Organization = "crossplane-contrib"

	auditLog = "audit.log"
)

// auditPolicy records what service accounts in Crossplane's namespace ask for,
// once it is answered.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  userGroups: ["system:serviceaccounts:` + Namespace + `"]
- level: None
`

// Options say where Crossplane runs.
type Options struct {
	// Cluster is the control plane, started with what ClusterOptions returns.
	Cluster *controlplane.Cluster
	// Registry holds the packages. It must have neither TLS nor a password.
	Registry *controlplane.Registry
	// Dir is the directory for logs, certificates and caches. It is made when it does
	// not exist.
	Dir string
	// Activate lists the patterns of managed resources that are active from the
	// start. Default "*", as the chart of Crossplane has it.
	Activate []string
	// ProtectProviders has Crossplane refuse to delete a provider while managed
	// resources of it exist, which is an alpha feature.
	ProtectProviders bool
	// CoreArgs are appended to the flags of core.
	CoreArgs []string
}

// ClusterOptions returns the options of a control plane that Crossplane can use,
// with its data in a directory. The controllers that would play Deployments are off:
// the played node does that. Requests of service accounts are recorded for Refused.
func ClusterOptions(dir string) (controlplane.Options, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return controlplane.Options{}, errors.Wrap(err, "cannot find the directory of the control plane")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return controlplane.Options{}, errors.Wrap(err, "cannot make the directory of the control plane")
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
