// SPDX-License-Identifier: Apache-2.0

// Package values reads what valuesFrom of a Manifest names: Secrets and ConfigMaps in the namespace of the Manifest. It merges
// them below the values of an install, and keeps what comes from Secrets out of its errors.
package values
