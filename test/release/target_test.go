// SPDX-License-Identifier: Apache-2.0

package release

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

const (
	// user is the name of the provider in the target.
	user = "the-provider"
	// auditLog is the name of the file with the requests of the provider.
	auditLog = "audit.log"
)

// auditPolicy records the requests of the provider.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["` + user + `"]
- level: None
`

// A target is a cluster in which modules run. It records the requests of the provider.
type target struct {
	discovery discovery.DiscoveryInterface
	metadata  metadata.Interface
	dynamic   dynamic.Interface
	// kubeconfig is a file with the identity of the provider, and log the file with its requests.
	kubeconfig, log string
}

// audited returns the options of a target.
func audited(t *testing.T) controlplane.Options {
	t.Helper()
	dir := t.TempDir()
	policy := filepath.Join(dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	return controlplane.Options{
		Name: "target", Dir: dir,
		APIServerArgs: []string{"--audit-policy-file=" + policy, "--audit-log-path=" + filepath.Join(dir, auditLog)},
	}.Complete()
}

func newTarget(t *testing.T, c *controlplane.Cluster) *target {
	t.Helper()
	g := &target{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"), log: filepath.Join(c.Dir(), auditLog)}
	config, err := c.User(user, "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	data, err := c.KubeconfigOf(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(g.kubeconfig, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if g.discovery, err = discovery.NewDiscoveryClientForConfig(c.Config()); err != nil {
		t.Fatal(err)
	}
	quiet := c.Config()
	// Some kinds are deprecated.
	quiet.WarningHandler = rest.NoWarnings{}
	if g.metadata, err = metadata.NewForConfig(quiet); err != nil {
		t.Fatal(err)
	}
	if g.dynamic, err = dynamic.NewForConfig(c.Config()); err != nil {
		t.Fatal(err)
	}
	return g
}

// report reports that the custom resources of the modules are ready, in place of their operators, once they exist.
func (g *target) report(t *testing.T) {
	t.Helper()
	for name, m := range modules {
		resources := g.dynamic.Resource(m.resource).Namespace(m.sample.Namespace)
		err := process.Wait{What: "the custom resource of module " + name}.Until(t.Context(), func(ctx context.Context) (bool, string, error) {
			_, err := resources.Patch(ctx, m.sample.Name, types.MergePatchType, []byte(`{"status":{"state":"Ready"}}`), metav1.PatchOptions{}, "status")
			return err == nil, "", err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A request is a request of the provider that the target has answered.
type request struct {
	Verb      string `json:"verb"`
	URI       string `json:"requestURI"`
	ObjectRef struct {
		Group string `json:"apiGroup"`
	} `json:"objectRef"`
}

// requests returns the requests of the provider so far, in order.
func (g *target) requests(t *testing.T) []request {
	t.Helper()
	f, err := os.Open(g.log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []request
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r request
		// The last line may be incomplete.
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			out = append(out, r)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// writes returns the requests of the provider so far that are not reads, including dry runs.
func (g *target) writes(t *testing.T) []request {
	t.Helper()
	return slices.DeleteFunc(g.requests(t), func(r request) bool {
		// A question about permissions is a POST, too.
		return slices.Contains([]string{"get", "list", "watch"}, r.Verb) || r.ObjectRef.Group == "authorization.k8s.io"
	})
}

// settle waits until nothing changes in the target, and returns the objects and the number of writes of the provider.
func (g *target) settle(t *testing.T) (objects map[string]string, writes int) {
	t.Helper()
	// Neither the provider nor the controllers of the target pause for so many observations while they have something to do.
	const calm = 6
	same := 0
	err := process.Wait{What: "nothing changes in the target", Every: 500 * time.Millisecond}.Until(t.Context(), func(ctx context.Context) (bool, string, error) {
		now, err := g.objects(ctx)
		if err != nil {
			return false, "", err
		}
		if n := len(g.writes(t)); n != writes || !maps.Equal(now, objects) {
			objects, writes, same = now, n, 0
		}
		same++
		return same > calm, fmt.Sprintf("%d objects, %d writes", len(objects), writes), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return objects, writes
}

// objects returns the UIDs, generations and resource versions of all objects in the target, by their kind and name. It omits those that
// always change.
func (g *target) objects(ctx context.Context) (map[string]string, error) {
	lists, err := g.discovery.ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, l := range lists {
		version, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range l.APIResources {
			if !slices.Contains(r.Verbs, "list") || slices.Contains([]string{"events", "leases", "nodes", "componentstatuses"}, r.Name) {
				continue
			}
			found, err := g.metadata.Resource(version.WithResource(r.Name)).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, err
			}
			for _, o := range found.Items {
				key := r.Name + " " + types.NamespacedName{Namespace: o.Namespace, Name: o.Name}.String()
				out[key] = fmt.Sprintf("UID %s, generation %d, version %s", o.UID, o.Generation, o.ResourceVersion)
			}
		}
	}
	return out, nil
}

// countOf returns the number of objects whose keys begin with a prefix.
func countOf(objects map[string]string, prefix string) int {
	n := 0
	for key := range objects {
		if strings.HasPrefix(key, prefix) {
			n++
		}
	}
	return n
}

// scale changes a Deployment, as a user who must not.
func (g *target) scale(t *testing.T, name types.NamespacedName) {
	t.Helper()
	deployments := g.dynamic.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"})
	_, err := deployments.Namespace(name.Namespace).Patch(t.Context(), name.Name, types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}
