// SPDX-License-Identifier: Apache-2.0

// Package pull pulls modules and charts from OCI registries and from Helm chart
// repositories.
//
// Content is only returned when it has the digest that was asked for, and it is
// cached by that digest. What a caller may not pull, it does not get from the
// cache either.
package pull
