// SPDX-License-Identifier: Apache-2.0

// Package yamlsize bounds what foreign YAML and JSON becomes when it is read. A
// few kilobytes can stand for gigabytes: an alias stands for all that its anchor
// holds, and libraries bound how many nodes aliases make, but not how large the
// nodes are.
package yamlsize
