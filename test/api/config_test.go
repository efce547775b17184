// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

const hostPattern = `^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$|^\[[0-9a-fA-F:]+\](:[0-9]{1,5})?$`

func TestProviderConfigRules(t *testing.T) {
	testBreaches(t, "providerconfigs", fullConfig, statusOfConfig, configBreaches())
}

// A ClusterProviderConfig has no default namespace for Secrets.
func TestClusterProviderConfigRules(t *testing.T) {
	breaches := configBreaches()
	for _, at := range []string{"spec.credentials.secretRef", "spec.identity.secretRef"} {
		breaches[at+".namespace cel the namespace is required in a ClusterProviderConfig"] = missing(at + ".namespace")
	}
	const each = " cel the namespace of each secret is required in a ClusterProviderConfig"
	breaches["spec.registries"+each] = breach{
		set: fields{"spec.registries[0].caBundleSecretRef.namespace": gone{}}, field: "spec.registries",
	}
	breaches["spec.verification.keys"+each] = breach{
		set: fields{"spec.verification.keys[1].publicKeySecretRef.namespace": gone{}}, field: "spec.verification.keys",
	}
	const allowed = "spec.allowedNamespaces"
	maps.Copy(breaches, map[string]breach{
		allowed + ".names maxItems 256":                            tooMany(allowed+".names", 256, func(i int) any { return fmt.Sprint("n", i) }),
		allowed + ".names[] minLength 1":                           empty(allowed + ".names[0]"),
		allowed + ".names[] maxLength 63":                          tooLong(allowed+".names[0]", "", 63),
		allowed + ".selector.matchExpressions[] required key":      missing(allowed + ".selector.matchExpressions[0].key"),
		allowed + ".selector.matchExpressions[] required operator": missing(allowed + ".selector.matchExpressions[0].operator"),
	})
	testBreaches(t, "clusterproviderconfigs", clusterConfig(fullConfig), statusOfConfig, breaches)

	full := object(t, clusterConfig(fullConfig))
	namespaces := namespacesIn("spec", full.Object["spec"])
	if len(namespaces) < 5 {
		t.Errorf("only %d references to Secrets were found: %v", len(namespaces), namespaces)
	}
	for _, at := range namespaces {
		if strings.HasPrefix(at, "spec.impersonate.") {
			continue // This is a namespace of the target cluster.
		}
		t.Run(at, func(t *testing.T) {
			o := full.DeepCopy()
			set(t, o, fields{at: gone{}})
			if _, err := dryRun(t.Context(), o); err == nil || !strings.Contains(err.Error(), " is required in a ClusterProviderConfig") {
				t.Errorf("a Secret in no namespace: got %v", err)
			}
		})
	}
}

func TestProviderConfigUsageRules(t *testing.T) {
	testBreaches(t, "providerconfigusages", fullUsage, "", map[string]breach{
		"required providerConfigRef":      missing("providerConfigRef"),
		"required resourceRef":            missing("resourceRef"),
		"providerConfigRef required kind": missing("providerConfigRef.kind"),
		"providerConfigRef required name": missing("providerConfigRef.name"),
		"resourceRef required apiVersion": missing("resourceRef.apiVersion"),
		"resourceRef required kind":       missing("resourceRef.kind"),
		"resourceRef required name":       missing("resourceRef.name"),
	})
}

// namespacesIn returns the paths of the fields called namespace below a path.
func namespacesIn(at string, node any) []string {
	var out []string
	switch n := node.(type) {
	case []any:
		for i, child := range n {
			out = append(out, namespacesIn(fmt.Sprintf("%s[%d]", at, i), child)...)
		}
	case map[string]any:
		for name, child := range n {
			if name == "namespace" {
				out = append(out, at+"."+name)
			}
			out = append(out, namespacesIn(at+"."+name, child)...)
		}
	}
	return out
}

func configBreaches() map[string]breach {
	host := func(i int) any { return map[string]any{"host": fmt.Sprint("h", i)} }
	key := func(i int) any {
		ref := map[string]any{"namespace": "n", "name": "n", "key": "k"}
		return map[string]any{"signatureName": fmt.Sprint("s", i), "publicKeySecretRef": ref}
	}
	out := map[string]breach{
		"required spec":                         missing("spec"),
		"status.kubernetesVersion maxLength 64": tooLong("status.kubernetesVersion", "", 64),
		"status.clusterUID maxLength 64":        tooLong("status.clusterUID", "", 64),
		"status.endpoint maxLength 512":         tooLong("status.endpoint", "", 512),
		"spec required credentials":             missing("spec.credentials"),
		"spec.identity required type":           missing("spec.identity.type"),
		"spec.identity.server maxLength 253":    tooLong("spec.identity.server", "", 253),
		"spec.identity.server pattern " + hostPattern: {
			set: fields{"spec.identity.server": "https://api.example.org"}, ok: fields{"spec.identity.server": "[::1]:6443"},
		},
		"spec.registries maxItems 64":          tooMany("spec.registries", 64, host),
		"spec.registries keys host":            twice("spec.registries", "host", "registry.example.org:5000"),
		"spec.registries[] required host":      missing("spec.registries[0].host"),
		"spec.registries[].host minLength 1":   {elsewhere: "TestTwoComplaints"},
		"spec.registries[].host maxLength 253": tooLong("spec.registries[0].host", "", 253),
		"spec.registries[].host pattern " + hostPattern: {
			set: fields{"spec.registries[0].host": "https://registry.example.org"}, ok: fields{"spec.registries[0].host": "[::1]:5000"},
		},
		"spec.registries[].tokenHosts maxItems 8": tooMany("spec.registries[0].tokenHosts", 8, func(i int) any {
			return fmt.Sprint("auth", i, ".example.org")
		}),
		"spec.registries[].tokenHosts[] maxLength 253": tooLong("spec.registries[0].tokenHosts[0]", "", 253),
		"spec.registries[].tokenHosts[] pattern " + hostPattern: {
			set: fields{"spec.registries[0].tokenHosts[0]": "https://auth.example.org"}, ok: fields{"spec.registries[0].tokenHosts[0]": "[::1]:5000"},
		},
		"spec.registries[] cel provider and pullSecretRef are mutually exclusive; remove one of them": {
			set: fields{"spec.registries[0].provider": "aws", "spec.registries[0].plainHTTP": false}, field: "spec.registries[0]",
			ok: fields{"spec.registries[1].provider": "gcp"},
		},
		"spec.registries[] cel provider requires HTTPS; remove plainHTTP": {
			set: fields{"spec.registries[0].provider": "aws", "spec.registries[0].pullSecretRef": gone{}}, field: "spec.registries[0]",
			ok: fields{"spec.registries[2].provider": "azure", "spec.registries[2].plainHTTP": false},
		},
		"spec.registries[].provider enum aws,azure,gcp": unknown("spec.registries[2].provider"),
		"spec.verification cel keys are required when mode is Enforce or Warn": {
			set: fields{"spec.verification.keys": []any{}}, field: "spec.verification",
			ok: fields{"spec.verification": map[string]any{}},
		},
		"spec.lookup enum Allowed,NoSecrets,Denied":            unknown("spec.lookup"),
		"spec.verification.mode enum Enforce,Warn,Off":         unknown("spec.verification.mode"),
		"spec.verification.keys maxItems 16":                   tooMany("spec.verification.keys", 16, key),
		"spec.verification.keys keys signatureName":            twice("spec.verification.keys", "signatureName", "one"),
		"spec.verification.keys[] required signatureName":      missing("spec.verification.keys[0].signatureName"),
		"spec.verification.keys[] required publicKeySecretRef": missing("spec.verification.keys[0].publicKeySecretRef"),
		"spec.verification.keys[].signatureName minLength 1":   empty("spec.verification.keys[0].signatureName"),
		"spec.verification.keys[].signatureName maxLength 253": tooLong("spec.verification.keys[0].signatureName", "", 253),
		"spec.verification.minimumVersions maxItems 256": tooMany("spec.verification.minimumVersions", 256, func(i int) any {
			return map[string]any{"component": fmt.Sprint("example.org/", i), "version": "1.0.0"}
		}),
		"spec.verification.minimumVersions keys component":            twice("spec.verification.minimumVersions", "component", "example.org/module/a"),
		"spec.verification.minimumVersions[] required component":      missing("spec.verification.minimumVersions[0].component"),
		"spec.verification.minimumVersions[] required version":        missing("spec.verification.minimumVersions[0].version"),
		"spec.verification.minimumVersions[].component minLength 1":   empty("spec.verification.minimumVersions[0].component"),
		"spec.verification.minimumVersions[].component maxLength 255": tooLong("spec.verification.minimumVersions[0].component", "", 255),
		"spec.verification.minimumVersions[].version minLength 1":     empty("spec.verification.minimumVersions[0].version"),
		"spec.verification.minimumVersions[].version maxLength 64":    tooLong("spec.verification.minimumVersions[0].version", "", 64),
		"spec.verification.deniedDigests maxItems 256":                tooMany("spec.verification.deniedDigests", 256, func(i int) any { return fmt.Sprintf("sha256:%064d", i) }),
		"spec.verification.deniedDigests[] maxLength 71": {
			set: fields{"spec.verification.deniedDigests[0]": "sha256:" + strings.Repeat("0", 65)}, field: "spec.verification.deniedDigests[0]",
		},
		"spec.verification.deniedDigests[] pattern ^sha256:[0-9a-f]{64}$": {
			set: fields{"spec.verification.deniedDigests[0]": "sha256:0"}, field: "spec.verification.deniedDigests[0]",
		},
		"spec.identity.type enum GoogleApplicationCredentials,AzureServicePrincipalCredentials,AzureWorkloadIdentityCredentials,UpboundTokens,AWSWebIdentityCredentials": unknown("spec.identity.type"),
	}
	for _, at := range []string{"spec.credentials", "spec.identity"} {
		maps.Copy(out, credentialsBreaches(at))
	}
	maps.Copy(out, secretBreaches("spec.registries[].caBundleSecretRef", "spec.registries[0].caBundleSecretRef", true))
	maps.Copy(out, secretBreaches("spec.registries[].pullSecretRef", "spec.registries[0].pullSecretRef", false))
	maps.Copy(out, secretBreaches("spec.verification.keys[].publicKeySecretRef", "spec.verification.keys[0].publicKeySecretRef", true))
	maps.Copy(out, impersonationBreaches("spec"))
	maps.Copy(out, conditionBreaches())
	return out
}

func credentialsBreaches(at string) map[string]breach {
	without := func(source, field string) breach {
		return breach{set: fields{at + ".source": source, at + "." + field: gone{}}, field: at, ok: fields{at + ".source": source}}
	}
	out := map[string]breach{
		at + " required source": missing(at + ".source"),
		at + ".source enum Secret,InjectedIdentity,Filesystem,Environment,None": unknown(at + ".source"),
		at + " cel secretRef is required when source is Secret":                 without("Secret", "secretRef"),
		at + " cel env is required when source is Environment":                  without("Environment", "env"),
		at + " cel fs is required when source is Filesystem":                    without("Filesystem", "fs"),
		at + ".env required name":                                               missing(at + ".env.name"),
		at + ".fs required path":                                                missing(at + ".fs.path"),
	}
	maps.Copy(out, secretBreaches(at+".secretRef", at+".secretRef", true))
	return out
}

// secretBreaches returns the breaches for a reference to a Secret. at is the path in the schema, and in is the path in the full
// object.
func secretBreaches(at, in string, keyed bool) map[string]breach {
	out := map[string]breach{
		at + " required name":          missing(in + ".name"),
		at + ".name minLength 1":       empty(in + ".name"),
		at + ".name maxLength 253":     tooLong(in+".name", "", 253),
		at + ".namespace minLength 1":  empty(in + ".namespace"),
		at + ".namespace maxLength 63": tooLong(in+".namespace", "", 63),
	}
	if keyed {
		out[at+" required key"] = missing(in + ".key")
		out[at+".key minLength 1"] = empty(in + ".key")
		out[at+".key maxLength 253"] = tooLong(in+".key", "", 253)
	}
	return out
}
