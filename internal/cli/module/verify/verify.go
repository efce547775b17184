// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// isVersionTag matches tags that look like a version.
var isVersionTag = regexp.MustCompile(`^v?[0-9]`)

// CheckSignature verifies that a module is signed with one of the keys, and that its version matches its tag.
func CheckSignature(ctx context.Context, b *bundle.Bundle, keys []ocm.Key) error {
	if err := checkTag(b); err != nil {
		return err
	}
	return bundle.Verify(ctx, b, keys)
}

// checkTag returns an error if the tag of a module names a different version than the signed one. It accepts tags that are not
// versions, such as latest.
func checkTag(b *bundle.Bundle) error {
	version := b.Descriptor().Version()
	tag, err := ocm.Tag(version)
	if !isVersionTag.MatchString(b.Tag) || err == nil && b.Tag == tag {
		return nil
	}
	return &ocm.VerificationError{Reason: fmt.Sprintf("tag %s refers to version %s of component %s", b.Tag, version, b.Descriptor().Name())}
}

// Unverified adds the exit code ExitUnverified to errors of reading or verifying a module: a module that cannot be read
// completely is not verified. Errors keep their own exit code if the module does not exist, the timeout has expired, the user has
// interrupted the command, or the registry is unreachable. If opened is true, the module exists, so a missing part makes it
// unverified.
func Unverified(err error, opened bool) error {
	var missing *store.NotFoundError
	var call *oci.CallError
	switch {
	case errors.As(err, &missing) && (opened || strings.HasPrefix(missing.What, "blob ")):
		return command.WithCode(command.ExitUnverified, err)
	case errors.As(err, &call), errors.Is(err, context.Canceled), command.CodeOf(err) != command.ExitFailure:
		return err
	}
	return command.WithCode(command.ExitUnverified, err)
}
