// SPDX-License-Identifier: Apache-2.0

// Package list implements kymactl module list, which lists the modules of the catalog and the modules that Kymas have enabled.
package list
