// SPDX-License-Identifier: Apache-2.0

/*
Package render turns charts into Kubernetes objects. It and the packages below
it are the only ones that know Helm and kustomize.

Helm's own library does what defines a chart: loading, dependencies with their
conditions, tags, aliases and imported values, the order of values, hooks, the
install order, and the format of the release record. Two of its parts are not
used, because a chart and its values are input that a tenant may choose:

  - Helm's template engine cannot be stopped. Package templates has another one.
    A test renders charts with both and compares.
  - Helm's schema check fetches whatever a $ref of a chart names, files of this
    machine included. The check of this package uses the same validator without
    a way to fetch anything.

Nothing here writes to a cluster. Only lookup reads from one, and only when
Options.REST is given.
*/
package render
