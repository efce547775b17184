// SPDX-License-Identifier: Apache-2.0

package module

import (
	"github.com/Masterminds/semver/v3"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// CompareVersions returns -1, 0 or 1 if version a is lower than, equal to or higher than b. Versions are semantic ones
// that may begin with v and omit the last numbers. Pre-releases are lower than their releases; build metadata is
// ignored. It returns an error if one is not a version.
func CompareVersions(a, b string) (int, error) {
	x, err := parseVersion(a)
	if err != nil {
		return 0, err
	}
	y, err := parseVersion(b)
	if err != nil {
		return 0, err
	}
	return x.Compare(y), nil
}

func parseVersion(v string) (*semver.Version, error) {
	parsed, err := semver.NewVersion(v)
	if err != nil {
		return nil, errors.Errorf("malformed version %q: must be a semantic version such as 1.2.3", v)
	}
	return parsed, nil
}
