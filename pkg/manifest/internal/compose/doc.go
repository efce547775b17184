// SPDX-License-Identifier: Apache-2.0

// Package compose makes Components of the parts of a bundle: it fetches the source of a part, renders it with what the
// config layer says of it, changes the objects with the transforms, and places them in their namespaces. A Component has the
// objects to apply, the hooks to run, and what a Helm release records of the chart.
package compose
