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

// isVersionTag says whether a tag looks like a version.
var isVersionTag = regexp.MustCompile(`^v?[0-9]`)

// CheckSignature checks that a module is signed by one of the keys, and that it is the version that its tag promises.
func CheckSignature(ctx context.Context, b *bundle.Bundle, keys []ocm.Key) error {
	if err := checkTag(b); err != nil {
		return err
	}
	return bundle.Verify(ctx, b, keys)
}

// checkTag refuses a signed version that is passed off as another one. Tags that
// are not versions, such as latest, promise nothing.
func checkTag(b *bundle.Bundle) error {
	version := b.Descriptor().Version()
	tag, err := ocm.Tag(version)
	if !isVersionTag.MatchString(b.Tag) || err == nil && b.Tag == tag {
		return nil
	}
	return &ocm.VerificationError{Reason: fmt.Sprintf("tag %s is version %s of component %s", b.Tag, version, b.Descriptor().Name())}
}

// Unverified gives what is wrong with a module the exit code for that, whatever
// kind of error it is: what cannot be read whole is not verified. That there is
// no module, that the time is over, and that its registry cannot be reached is
// something else. Opened says that the module is there, so that what is missing
// is a part of it.
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
