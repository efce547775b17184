// SPDX-License-Identifier: Apache-2.0

// Package yamlsize limits the size of untrusted YAML and JSON in memory. A few kilobytes can expand to gigabytes, because each
// alias is replaced with the content of its anchor. Libraries limit the number of nodes that aliases produce, but not the size
// of the nodes. The number of values is limited too, because each of them takes hundreds of times its length. It is the only
// package that decodes YAML, and all of its functions have limits.
package yamlsize
