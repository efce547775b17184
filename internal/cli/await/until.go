// SPDX-License-Identifier: Apache-2.0

package await

import (
	"cmp"
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
)

// Until follows objects until a verdict about a subject is met, and says meanwhile what it waits for. State is what the subject is
// as long as the verdict is not met, such as "not Ready". A judge that fails ends it.
func Until(
	ctx context.Context, e *command.Environment, subject string, f *Follower, state string, judge func(Objects) (Verdict, error),
) error {
	show, end := e.Waiting(subject)
	defer end()
	last := ""
	note := func(text string) {
		if text == "" || text == last {
			return
		}
		last = text
		show(subject + ": " + text)
		if !e.Terminal {
			e.Sayf("%s is %s: %s", subject, state, text)
		}
	}
	f.trouble = func(err error) { note("cannot be seen for now: " + err.Error()) }
	var judged error
	err := f.follow(ctx, func(all Objects) (bool, error) {
		v, err := judge(all)
		if err == nil && !v.Met {
			note(v.Message)
		}
		if judged = err; isBlind(err) {
			judged = nil
		}
		return v.Met, err
	})
	switch {
	case err == nil:
		return nil
	case judged != nil:
		// It is an answer, and stands for itself.
		return judged
	case ctx.Err() != nil:
		return command.Ended(ctx, errors.Errorf("%s is %s in time: %s", subject, state, cmp.Or(last, "the control plane did not answer")))
	}
	return lookup.Explain(err, "wait for "+subject)
}
