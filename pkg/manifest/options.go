// SPDX-License-Identifier: Apache-2.0

package manifest

// A CallOption configures one call; the Bundle describes what to install. Each method reads these options, and ignores the
// others:
//
//	Apply, ApplyPlan  WithCheckpoint, AsRollback, WithRetryToken, WithTestToken, WithRedactor, ForceRemoval, DeleteAdopted
//	Plan              AsRollback, WithRetryToken, WithTestToken
//	Observe           WithCheckpoint, WithRetryToken, WithTestToken
//	Remove            WithRetryToken, WithRedactor, ForceRemoval, DeleteAdopted
//	Install           options of Apply, and Wait
//	Check             options of Observe, and Wait
//	Uninstall         options of Remove, and Wait
//
// Observe reports what an Apply with the same options still has to do. Pass the options of Plan to ApplyPlan as well.
type CallOption func(*CallOptions)

// CallOptions contains the options of one call as a value. A fake Engine in a test gets it from CallOptionsOf.
type CallOptions struct {
	// Wait is set by the option Wait.
	Wait bool
	// Checkpoint is set by WithCheckpoint. If it is nil, no checkpoint is kept.
	Checkpoint []byte
	// Rollback is set by AsRollback.
	Rollback bool
	// Retry and Test are set by WithRetryToken and WithTestToken.
	Retry, Test string
	// Redact is set by WithRedactor. If it is nil, nothing is redacted.
	Redact func(text string) string
	// ForceRemoval is set by the option ForceRemoval.
	ForceRemoval bool
	// DeleteAdopted is set by the option DeleteAdopted.
	DeleteAdopted bool
}

// CallOptionsOf returns the result of applying options in order. Later options override earlier ones.
func CallOptionsOf(o ...CallOption) CallOptions {
	var out CallOptions
	for _, set := range o {
		set(&out)
	}
	return out
}

// Wait makes a call wait until the bundle is Ready or, for Uninstall, gone. Give the context a deadline to limit the wait. Until
// then, failures are retried, because most are temporary. A malformed bundle or an invalid option of the Engine is not retried.
func Wait() CallOption {
	return func(o *CallOptions) { o.Wait = true }
}

// WithCheckpoint sets data that describes this bundle to the caller. Once the bundle is Ready, or works although other
// clients changed objects, Apply stores the data in the inventory as the last known good revision, in place of the previous one; Observe
// returns the stored one. Without this option, no checkpoint is kept.
func WithCheckpoint(data []byte) CallOption {
	return func(o *CallOptions) { o.Checkpoint = data }
}

// AsRollback marks this bundle as the last known good revision. Charts are rendered and hooks run as with helm rollback.
func AsRollback() CallOption {
	return func(o *CallOptions) { o.Rollback = true }
}

// WithRetryToken makes a call run failed hooks again if the token differs from the token of the failed run. It may be empty.
func WithRetryToken(token string) CallOption {
	return func(o *CallOptions) { o.Retry = token }
}

// WithTestToken makes Apply run the test hooks of all charts, once for each new token that is not empty.
func WithTestToken(token string) CallOption {
	return func(o *CallOptions) { o.Test = token }
}

// WithRedactor sets a function that removes secret values from text. Apply and Remove call it with the last output of a failed
// hook. Apply also calls it with the reasons why parts failed or wait. Both call it before they shorten the text and store it in
// the cluster. The function must be safe for concurrent use.
func WithRedactor(redact func(text string) string) CallOption {
	return func(o *CallOptions) { o.Redact = redact }
}

// ForceRemoval makes Remove delete all custom resources of the kinds that the bundle defines, even those that it did not create.
// Without this option, these custom resources block the removal. With it, a deletion hook that fails blocks neither Remove nor an
// Apply that prunes an install.
func ForceRemoval() CallOption {
	return func(o *CallOptions) { o.ForceRemoval = true }
}

// DeleteAdopted makes Remove and Apply delete Namespaces, CRDs and volumes that existed before the bundle adopted them, with
// everything that they contain, including objects of other clients. By default, they stay in the cluster, and are no longer
// part of the bundle.
func DeleteAdopted() CallOption {
	return func(o *CallOptions) { o.DeleteAdopted = true }
}
