// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// pollInterval is how often something that is waited for is looked at.
const pollInterval = 250 * time.Millisecond

// await until check says that it is done. What it is waiting for is shown, and is
// in the error where the time is over. An API server that is away for a moment is
// no reason to give up.
func await(ctx context.Context, e *command.Environment, what string, check func(ctx context.Context) (done bool, state string, err error)) error {
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
		case <-time.After(pollInterval):
		}
	}
}

// over says what was waited for when the time was over.
func over(ctx context.Context, what, last string) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	if last == "" {
		last = "there was no answer"
	}
	return command.WithCode(command.ExitTimeout, errors.Errorf("the time was over before %s: %s", what, last))
}

// final says whether an error is there to stay.
func final(err error) bool {
	return command.CodeOf(err) != command.ExitFailure || command.Refused(err)
}
