// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// PollInterval is the interval between two calls of check in Await.
const PollInterval = 250 * time.Millisecond

// Await calls check until it reports done, and shows its progress on a terminal. what names the goal, such as "Kyma
// team-a/default to become Ready", and state describes what is missing. The error on a timeout contains both and has
// ExitTimeout. Await retries after temporary errors of check.
func Await(ctx context.Context, e *command.Environment, what string, check func(ctx context.Context) (done bool, state string, err error)) error {
	say, end := e.Waiting("Waiting for " + what)
	defer end()
	last := ""
	for {
		done, state, err := check(ctx)
		switch {
		case err == nil && done:
			return nil
		case err == nil:
			last = state
			say("Waiting for " + what + ": " + state)
		case ctx.Err() == nil && final(err):
			return err
		case ctx.Err() == nil:
			last = err.Error()
		}
		select {
		case <-ctx.Done():
			return over(ctx, what, last)
		case <-time.After(PollInterval):
		}
	}
}

// over returns the error of a wait whose context has ended.
func over(ctx context.Context, what, last string) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	if last == "" {
		last = "the control plane did not respond"
	}
	return command.WithCode(command.ExitTimeout, errors.Errorf("timed out waiting for %s: %s", what, last))
}

// final reports whether an error is permanent.
func final(err error) bool {
	return command.CodeOf(err) != command.ExitFailure || command.Refused(err)
}
