// SPDX-License-Identifier: Apache-2.0

// Package compose turns the parts of a bundle into Components: it fetches the source of a part, renders it with the settings of
// the config layer, applies the transforms, and sets namespaces. A Component has the objects to apply, the hooks to run, and what
// a Helm release records about the chart.
//
// Composing changes nothing in the cluster. It reads through two interfaces: Environment for the mappings of kinds and, if a
// chart needs them, versions; and Releases for release records. A chart may also look up objects. A Preview needs no cluster.
package compose
