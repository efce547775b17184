// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// TestSlowBuild checks that if a tool takes ten minutes to build, nothing is started before the build is complete, and no wait
// times out.
func TestSlowBuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var did []string
		var out bytes.Buffer
		ready := false
		err := inOrder(t.Context(),
			func(ctx context.Context) error {
				return tools.Run(ctx, &out, tools.Step{Name: "function-auto-ready", Do: func(context.Context) error {
					time.Sleep(10 * time.Minute)
					did = append(did, "build")
					ready = true
					return nil
				}})
			},
			func(context.Context) error {
				did = append(did, "start")
				return nil
			},
			func(ctx context.Context) error {
				did = append(did, "wait")
				return await(ctx, "function-auto-ready", func(context.Context) (bool, string, error) { return ready, "runs", nil })
			})
		if err != nil {
			t.Errorf("a slow build breaks the demo: %v", err)
		}
		if diff := cmp.Diff([]string{"build", "start", "wait"}, did); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestNothingBuildsLater checks that the processes of the demo find tools but never build them: a missing tool is an immediate
// error, and not a wait.
func TestNothingBuildsLater(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	_, err := controlplane.Start(t.Context(), controlplane.Options{Dir: t.TempDir()})
	var notBuilt *tools.NotBuiltError
	if !errors.As(err, &notBuilt) {
		t.Errorf("want a NotBuiltError, got %v", err)
	}
	for _, started := range []tools.Tool{tools.Etcd, tools.Kwok, tools.Crossplane, tools.FunctionAutoReady, tools.Kubectl} {
		if !slices.Contains(toolsOf(false), started) {
			t.Errorf("the demo runs %s and does not build it first", started)
		}
	}
}
