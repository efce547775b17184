// SPDX-License-Identifier: Apache-2.0

package manifest

// A CallOption says something about one call; the Bundle says what is wanted. Each call reads these options, and ignores the others:
//
//	Apply, ApplyPlan  WithCheckpoint, AsRollback, WithRetryToken, WithTestToken, WithRedactor, ForceRemoval
//	Plan              AsRollback, WithRetryToken, WithTestToken
//	Observe           WithCheckpoint, WithRetryToken, WithTestToken
//	Remove            WithRetryToken, WithRedactor, ForceRemoval
//	Install           those of Apply, and Wait
//	Check             those of Observe, and Wait
//	Uninstall         those of Remove, and Wait
//
// Observe reports what is left to do for an Apply with the same options, and ApplyPlan needs the options that Plan had.
type CallOption func(*CallOptions)

// CallOptions are the options of one call as a value. A fake Engine in a test gets them from CallOptionsOf.
type CallOptions struct {
	// Wait is set by Wait.
	Wait bool
	// Checkpoint is set by WithCheckpoint; nil keeps none.
	Checkpoint []byte
	// Rollback is set by AsRollback.
	Rollback bool
	// Retry and Test are set by WithRetryToken and WithTestToken.
	Retry, Test string
	// Redact is set by WithRedactor; nil removes nothing.
	Redact func(text string) string
	// ForceRemoval is set by ForceRemoval.
	ForceRemoval bool
}

// CallOptionsOf returns what options set. A later one wins over an earlier one.
func CallOptionsOf(o ...CallOption) CallOptions {
	var out CallOptions
	for _, set := range o {
		set(&out)
	}
	return out
}

// Wait makes a call wait until the bundle is Ready, or gone for Uninstall. The context limits how long, and should have a deadline.
// Until then failures are retried, because most are temporary. A malformed bundle or an invalid option of the Engine is not retried.
func Wait() CallOption {
	return func(o *CallOptions) { o.Wait = true }
}

// WithCheckpoint passes data that describes this bundle to the caller. Once the bundle is Ready, Apply keeps it in the inventory
// as the last known good revision, instead of the one before; Observe returns the one that is kept. Without it none is kept.
func WithCheckpoint(data []byte) CallOption {
	return func(o *CallOptions) { o.Checkpoint = data }
}

// AsRollback says that this bundle is the last known good revision: charts are rendered and hooks run as by helm rollback.
func AsRollback() CallOption {
	return func(o *CallOptions) { o.Rollback = true }
}

// WithRetryToken runs hooks that failed once more if the token is another one than that of the failed run. It may be empty.
func WithRetryToken(token string) CallOption {
	return func(o *CallOptions) { o.Retry = token }
}

// WithTestToken has Apply run the test hooks of all charts, once for each new token that is not empty.
func WithTestToken(token string) CallOption {
	return func(o *CallOptions) { o.Test = token }
}

// WithRedactor removes values that are secret from texts. Apply and Remove call it with the last output of a hook that failed,
// and Apply with the reasons why parts failed or wait, before they shorten that and store it in the cluster. It must be safe
// for concurrent use.
func WithRedactor(redact func(text string) string) CallOption {
	return func(o *CallOptions) { o.Redact = redact }
}

// ForceRemoval makes Remove delete custom resources of the kinds that the bundle defines, also those that it did not create.
// Without it they block the removal. With it, a deletion hook that fails blocks neither Remove nor an Apply that prunes an install.
func ForceRemoval() CallOption {
	return func(o *CallOptions) { o.ForceRemoval = true }
}
