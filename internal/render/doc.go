// SPDX-License-Identifier: Apache-2.0

/*
Package render renders charts to Kubernetes objects. Only this package and the
packages below it depend on Helm and kustomize.

Helm's own library implements what defines a chart: loading, dependencies with
their conditions, tags, aliases and imported values, the order of values, hooks,
the install order, and the format of the release record. Two of its parts are
not used:

  - Helm's template engine does not tell what package templates does: whether a
    chart renders the same again, and which template it executes. A test renders
    charts with both and compares the results.
  - Helm's schema validation fetches whatever a $ref of a chart refers to,
    including local files. This package uses the same validator, but cannot
    fetch anything.

A tenant may choose a chart and its values, which are programs: package sandbox
renders them in child processes, whose time and memory are limited. Load, which
the provider calls itself, neither executes nor compiles anything of a chart.

Nothing here writes to a cluster. Only lookup reads from one, and only when
Options.REST is given.
*/
package render
