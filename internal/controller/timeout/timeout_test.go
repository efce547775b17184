// SPDX-License-Identifier: Apache-2.0

package timeout

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// slow calls a configurable function in each call.
type slow func(ctx context.Context) error

func (s slow) Connect(_ context.Context, _ *v1alpha1.Manifest) (managed.TypedExternalClient[*v1alpha1.Manifest], error) {
	return slowClient(s), nil
}

type slowClient func(ctx context.Context) error

func (s slowClient) Observe(ctx context.Context, _ *v1alpha1.Manifest) (managed.ExternalObservation, error) {
	return managed.ExternalObservation{}, s(ctx)
}

func (s slowClient) Create(ctx context.Context, _ *v1alpha1.Manifest) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, s(ctx)
}

func (s slowClient) Update(ctx context.Context, _ *v1alpha1.Manifest) (managed.ExternalUpdate, error) {
	return managed.ExternalUpdate{}, s(ctx)
}

func (s slowClient) Delete(ctx context.Context, _ *v1alpha1.Manifest) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, s(ctx)
}

func (s slowClient) Disconnect(context.Context) error { return nil }

// TestLimited checks that an error of a deadline names the exceeded time and the flag that sets it, with the same text each
// time.
func TestLimited(t *testing.T) {
	boom := errors.New("boom")
	const gaveUp = "timed out after 2m (--timeout)"
	cases := map[string]struct {
		reason string
		call   func(ctx context.Context) error
		ends   bool
		want   string
	}{
		"Cause": {reason: "An error that contains the cause of the timeout stays as it is.", ends: true, want: "a: " + gaveUp, call: func(ctx context.Context) error {
			<-ctx.Done()
			return errors.Wrap(context.Cause(ctx), "a")
		}},
		"Error": {reason: "The duration is added to an error without one.", ends: true, want: "a: context deadline exceeded; " + gaveUp, call: func(ctx context.Context) error {
			<-ctx.Done()
			return errors.Wrap(ctx.Err(), "a")
		}},
		"Other": {reason: "An error that is not a timeout stays as it is.", ends: true, want: "boom", call: func(ctx context.Context) error {
			<-ctx.Done()
			return boom
		}},
		"OwnTime": {reason: "An exceeded deadline of a part is not that of the reconcile.", want: "context deadline exceeded", call: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, 0)
			defer cancel()
			return ctx.Err()
		}},
		"Panic": {
			reason: "A panic is reported in the conditions, like any error.",
			want:   "cannot process this object because of a bug (a panic of type string); report the bug with the stack trace from the log",
			call:   func(context.Context) error { panic("a bad chart") },
		},
		"None": {reason: "A call that ends in time returns no error.", want: "", call: func(context.Context) error { return nil }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := Limited(slow(tc.call), 2*time.Minute).Connect(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				calls := map[string]func(ctx context.Context) error{
					"Observe": func(ctx context.Context) error { _, err := c.Observe(ctx, nil); return err },
					"Create":  func(ctx context.Context) error { _, err := c.Create(ctx, nil); return err },
					"Update":  func(ctx context.Context) error { _, err := c.Update(ctx, nil); return err },
					"Delete":  func(ctx context.Context) error { _, err := c.Delete(ctx, nil); return err },
				}
				for call, f := range calls {
					limit := time.Minute
					if tc.ends {
						limit = 2 * before
					}
					ctx, cancel := context.WithTimeout(t.Context(), limit)
					err := f(ctx)
					cancel()
					got := ""
					if err != nil {
						got = err.Error()
					}
					if diff := cmp.Diff(tc.want, got); diff != "" {
						t.Errorf("\n%s\n%s(...): -want, +got:\n%s", tc.reason, call, diff)
					}
					if deadline := tc.want != "" && tc.want != "boom" && name != "Panic"; errors.Is(err, context.DeadlineExceeded) != deadline {
						t.Errorf("\n%s\n%s(...): whether it is a deadline must stay", tc.reason, call)
					}
				}
			})
		})
	}
}

func TestTimeLimit(t *testing.T) {
	for limit, want := range map[time.Duration]string{2 * time.Minute: "2m", time.Hour: "1h", 90 * time.Second: "1m30s", 10 * time.Second: "10s", 61 * time.Minute: "1h1m"} {
		if got := (&Error{Limit: limit}).TimeLimit(); got != want {
			t.Errorf("TimeLimit(): want %s, got %s", want, got)
		}
	}
}
