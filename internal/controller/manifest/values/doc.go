// SPDX-License-Identifier: Apache-2.0

// Package values reads the Secrets and ConfigMaps that valuesFrom of a Manifest names, in the namespace of the Manifest. It
// merges them below the values of an install, and keeps the content of Secrets out of its errors.
package values
