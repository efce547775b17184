// SPDX-License-Identifier: Apache-2.0

// Package remote reads and writes the artifacts of one repository of a registry.
//
// It retries transient failures and verifies what it reads. It keeps lists of the attachments of an artifact in tags
// if the registry does not list them.
package remote
