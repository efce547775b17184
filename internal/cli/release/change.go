// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// A Change of a release sets fields of it.
type Change struct {
	// Fields are the new values, keyed by the names in JSON. Without fields, nothing is written.
	Fields map[string]any
	// Downgrade sets the annotation that allows the new version although it is lower.
	Downgrade bool
}

// A Decider returns the change of a release. After a conflict with another client, it is called again with the current release.
type Decider func(t *Target) (Change, error)

// Modify changes the release of a module in a channel, which can be empty as for In, and returns the release that it decided on.
// It writes once, and only if nothing else changed the object since it was read, and retries conflicts until ctx ends.
func Modify(ctx context.Context, c client.Client, module, channel string, decide Decider) (*Target, error) {
	pause := wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 7, Cap: time.Second}
	for {
		m, err := Find(ctx, c, module)
		if err != nil {
			return nil, err
		}
		t, err := In(m, channel)
		if err != nil {
			return nil, err
		}
		change, err := decide(t)
		if err != nil || len(change.Fields) == 0 {
			return t, err
		}
		patch, err := patchOf(t, change)
		if err != nil {
			return nil, err
		}
		// The response must not replace the release that was decided on.
		err = c.Patch(ctx, m.DeepCopy(), client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(command.FieldManager))
		if !kerrors.IsConflict(err) {
			return t, errors.Wrapf(err, "cannot change ModuleReleaseMeta %s", m.Name)
		}
		select {
		case <-ctx.Done():
			return nil, command.Ended(ctx, errors.Errorf("ModuleReleaseMeta %s was not changed: each attempt conflicted with another client", m.Name))
		case <-time.After(pause.Step()):
		}
	}
}

// An operation of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// patchOf returns the JSON patch for a change. It sets the resource version that was read, so that the API server reports a
// conflict if the object has changed, and keeps fields that this version of kymactl does not know.
func patchOf(t *Target, change Change) ([]byte, error) {
	out := []operation{{"replace", "/metadata/resourceVersion", t.Meta.ResourceVersion}}
	for _, field := range slices.Sorted(maps.Keys(change.Fields)) {
		out = append(out, operation{"add", t.path + "/" + field, change.Fields[field]})
	}
	version, ok := change.Fields["version"].(string)
	if ok && version == t.Release.AbortedVersion {
		// A rollout of a version that was aborted earlier would be aborted at once.
		out = append(out, operation{"add", t.path + "/abortedVersion", ""})
	}
	if ok && change.Downgrade {
		annotations := maps.Clone(t.Meta.Annotations)
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[v1alpha1.AnnotationAllowDowngrade] = allowed(annotations[v1alpha1.AnnotationAllowDowngrade], t.Channel, version)
		out = append(out, operation{"add", "/metadata/annotations", annotations})
	}
	return json.Marshal(out)
}

// allowed returns the value of the annotation that allows downgrades, with the entry of a channel replaced.
func allowed(value, channel, version string) string {
	var out []string
	for entry := range strings.SplitSeq(value, ",") {
		entry = strings.TrimSpace(entry)
		if name, _, _ := strings.Cut(entry, "@"); entry != "" && name != channel {
			out = append(out, entry)
		}
	}
	return strings.Join(append(out, channel+"@"+version), ",")
}
