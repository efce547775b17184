// SPDX-License-Identifier: Apache-2.0

/*
Package templates executes the templates of charts. It runs the same template
language with the same functions as Helm's template engine, but stops when its
context ends, at a depth and at a size: Helm's cannot be cancelled, and endless
recursion through tpl ends the whole process with a stack overflow.

What is not bounded is the memory that a hostile template can build up with
values that grow by doubling, and the depth of a value that holds itself: give
the process a memory limit.

Only lookup reads from a cluster, and only when Options.REST is given.
*/
package templates
