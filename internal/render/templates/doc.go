// SPDX-License-Identifier: Apache-2.0

/*
Package templates executes the templates of charts. It runs the same template
language with the same functions as Helm's template engine, but stops when its
context ends, and at limits of depth and size: Helm's engine cannot be canceled,
and endless recursion through tpl ends the whole process with a stack overflow.

It does not bound the memory that a hostile template can allocate with values
that grow by doubling, or the depth of a value that contains itself: set a
memory limit for the process.

Only lookup reads from a cluster, and only when Options.REST is given.
*/
package templates
