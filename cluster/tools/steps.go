// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Step is one build of a tool or of a program of this repository.
type Step struct {
	// Name is the name of the tool or program.
	Name string
	// Usually is the typical duration of a first build on two idle cores. It is empty if the build takes only seconds.
	Usually string
	Do      func(ctx context.Context) error
}

// Run runs steps in sequence, because each uses all cores, and prints a line for each, such as "3 of 8: kube-apiserver …,
// 2m10s". Call it before the first server starts and before the first wait: a build takes minutes, and a wait that
// includes a build times out too early.
func Run(ctx context.Context, out io.Writer, steps ...Step) error {
	for i, s := range steps {
		usually := ""
		if s.Usually != "" {
			usually = " (usually " + s.Usually + " the first time)"
		}
		_, _ = fmt.Fprintf(out, "  %d of %d: %s%s …", i+1, len(steps), s.Name, usually)
		begin := time.Now()
		if err := s.Do(ctx); err != nil {
			_, _ = fmt.Fprintln(out, ", failed")
			return errors.Wrapf(err, "cannot build %s", s.Name)
		}
		_, _ = fmt.Fprintf(out, ", %s\n", time.Since(begin).Round(time.Second))
	}
	return nil
}

// Missing returns a step for each tool that this user does not have yet, in the order that builds fastest. A server of
// the right version in $KUBEBUILDER_ASSETS or on PATH is used instead of a build.
func Missing(ctx context.Context, names ...Tool) ([]Step, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	for _, t := range names {
		if _, err := moduleOf(t); err != nil {
			return nil, err
		}
	}
	var steps []Step
	for _, m := range known() {
		for _, t := range m.order {
			if !slices.Contains(names, t) {
				continue
			}
			b, err := newBuild(ctx, root, m, t)
			if err != nil {
				return nil, errors.Wrapf(err, "cannot build %q", t)
			}
			ready, err := b.find(ctx)
			if err != nil {
				return nil, err
			}
			if !ready {
				steps = append(steps, Step{Name: string(t), Usually: m.usually[t], Do: b.run})
			}
		}
	}
	return steps, nil
}

// Ensure builds the tools that this user does not have yet; see Run and Missing.
func Ensure(ctx context.Context, out io.Writer, names ...Tool) error {
	steps, err := Missing(ctx, names...)
	if err != nil {
		return err
	}
	return Run(ctx, out, steps...)
}
