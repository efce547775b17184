// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// OfModule returns the name of the Manifest of a module of a Kyma: <kyma>-<module>.
func OfModule(kyma, module string) string { return Shorten(kyma+"-"+module, maxName) }

// Shorten truncates a name that is longer than a number of bytes. A hash of the whole name keeps it unique.
func Shorten(name string, most int) string {
	if len(name) <= most {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	suffix := "-" + hex.EncodeToString(sum[:5])
	return strings.TrimRight(name[:most-len(suffix)], ".-") + suffix
}
