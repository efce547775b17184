// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func TestInstallSteps(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplConfig))
	for _, state := range []State{Ready, Ready} {
		o, err := b.Install(t.Context(), b.c, s)
		if err != nil || o.State != state {
			t.Fatalf("want %s, got %+v, %v", state, o, err)
		}
	}
	s.Transforms = []Transform{{Digest: "d", Func: func(context.Context, *unstructured.Unstructured) error { return errors.New("no") }}}
	o, err := b.Install(t.Context(), b.c, s)
	if err == nil || o.State != Error || !strings.Contains(o.Message, "transform d") {
		t.Errorf("an error of a part is returned, and observed: %+v, %v", o, err)
	}
	for range 3 {
		r, err := b.Uninstall(t.Context(), b.c, s)
		if err != nil {
			t.Fatal(err)
		}
		if r.Gone {
			return
		}
	}
	t.Error("the bundle must be gone after 3 steps")
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		s := bundleOf(install("web", tmplConfig))
		since, failures := time.Now(), 3
		s.Readiness = []Rule{{For: schema.GroupKind{Kind: "ConfigMap"}, Func: func(context.Context, *unstructured.Unstructured) (State, string, error) {
			if failures--; failures > 0 {
				return Error, "", errors.New("not yet")
			}
			return Ready, "", nil
		}}}
		o, err := b.Install(t.Context(), b.c, s, Wait())
		if err != nil || o.State != Ready {
			t.Fatalf("want Ready, got %+v, %v", o, err)
		}
		if waited := time.Since(since); waited == 0 {
			t.Error("it must have waited")
		}

		failures = 1 << 20
		b.Forget(b.c, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = b.Check(ctx, b.c, s, Wait())
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "web: ConfigMap apps/web: not yet") {
			t.Errorf("what was waited for must be told: %v", err)
		}

		since = time.Now()
		if _, err := b.Install(t.Context(), b.c, &Bundle{Transforms: []Transform{{}}}, Wait()); err == nil || time.Since(since) > 0 {
			t.Errorf("a bundle that is malformed is not waited for: %v", err)
		}
		r, err := b.Uninstall(t.Context(), b.c, &Bundle{Name: s.Name}, Wait())
		if err != nil || !r.Gone {
			t.Errorf("want it gone, got %+v, %v", r, err)
		}
	})
}

func TestWaitTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		s := bundleOf(install("web", tmplConfig))
		tries := 0
		s.Transforms = []Transform{{Digest: "d", Func: func(context.Context, *unstructured.Unstructured) error {
			if tries++; tries < 5 {
				return errors.New("no")
			}
			return nil
		}}}
		if o, err := b.Install(t.Context(), b.c, s, Wait()); err != nil || o.State != Ready {
			t.Errorf("what fails is tried again: %+v, %v", o, err)
		}
		b.c.cutAfter(0, false)
		s.Installs[0].Values = map[string]any{"greeting": "bye"}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := b.Install(ctx, b.c, s, Wait()); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), errCut.Error()) {
			t.Errorf("the last error must be told: %v", err)
		}
	})
}
