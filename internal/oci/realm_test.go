// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTokenHostsOf(t *testing.T) {
	cases := map[string]struct{ reason, registry, want string }{
		"DockerHub": {reason: "All names of Docker Hub have one token service.", registry: "docker.io", want: "auth.docker.io"},
		"GitLab":    {reason: "GitLab has its token service at its main host.", registry: "registry.gitlab.com", want: "gitlab.com"},
		"Google":    {reason: "A region of Google may have its token service at the main host.", registry: "eu.gcr.io", want: "gcr.io"},
		"Alibaba":   {reason: "Each region of Alibaba Cloud has its own token service.", registry: "registry.cn-hangzhou.aliyuncs.com", want: "dockerauth.cn-hangzhou.aliyuncs.com"},
		"GitHub":    {reason: "GitHub has its token service at the host of the registry.", registry: "ghcr.io"},
		"Suffix":    {reason: "A similar name isn't the registry.", registry: "registry.gitlab.com.example.org"},
		"Prefix":    {reason: "A similar name isn't the registry.", registry: "my-registry.gitlab.com"},
		"Port":      {reason: "Another port is another server.", registry: "registry.gitlab.com:5000"},
		"Other":     {reason: "Nothing is known of others.", registry: "registry.example.org"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, strings.Join(tokenHostsOf(normalHost(tc.registry)), ",")); diff != "" {
				t.Errorf("%s\ntokenHostsOf(%q): -want, +got:\n%s", tc.reason, tc.registry, diff)
			}
		})
	}
}
