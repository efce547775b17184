// SPDX-License-Identifier: Apache-2.0

/*
Package templates executes the templates of charts. It runs the same template
language with the same functions as Helm's template engine, which does not tell
what the package adds: whether the result depends on more than chart and values,
and which template is being executed. Its errors are one line that names the
innermost template, and contain no text that was given to tpl. Maps have an
order, so that a chart renders the same bytes each time.

It bounds neither the time nor the memory of templates: execute those that you
do not trust in a child process. See package sandbox.

Only lookup reads from a cluster, and only when Options.REST is given.
*/
package templates
