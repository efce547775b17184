// SPDX-License-Identifier: Apache-2.0

// Package archive writes archives of files. The same files and time always produce the same bytes.
package archive
