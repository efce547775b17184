// SPDX-License-Identifier: Apache-2.0

package await

import (
	"cmp"
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
)

// Until watches objects until the condition is met, and shows its progress on stderr: a spinner on a terminal, otherwise
// a line for each change. subject and goal describe what it waits for, such as "Kyma team-a/default" and "to become Ready".
// Until fails if check fails, unless the error is marked by Blind, and with ExitTimeout if ctx expires.
func Until(
	ctx context.Context, e *command.Environment, subject string, f *Follower, goal string, check func(Objects) (Result, error),
) error {
	waiting := "Waiting for " + subject + " " + goal
	show, end := e.Waiting(waiting)
	defer end()
	last := ""
	note := func(text string) {
		if text == "" || text == last {
			return
		}
		last = text
		show(waiting + ": " + text)
		if !e.Terminal {
			e.Sayf("%s: %s", waiting, text)
		}
	}
	f.trouble = func(err error) { note("cannot read from the control plane, retrying: " + err.Error()) }
	var checkErr error
	err := f.follow(ctx, func(all Objects) (bool, error) {
		v, err := check(all)
		if err == nil && !v.Met {
			note(v.Message)
		}
		if checkErr = err; isBlind(err) {
			checkErr = nil
		}
		return v.Met, err
	})
	switch {
	case err == nil:
		return nil
	case checkErr != nil:
		// The error of check needs no context.
		return checkErr
	case ctx.Err() != nil:
		return command.Ended(ctx, errors.Errorf("timed out waiting for %s %s: %s", subject, goal, cmp.Or(last, "the control plane did not respond")))
	}
	return lookup.Explain(err, "wait for "+subject+" "+goal)
}
