// SPDX-License-Identifier: Apache-2.0

/*
Package sandbox renders charts and kustomizations, and reads plain objects, in
child processes, so that hostile ones harm no one else: a process can be killed
at any time, and its memory is its own.

A Pool starts children of the running binary, which call Serve. A child gets the
files and the values of one request through a pipe, answers, and ends: nothing of
a request is left for the next one, and the memory and CPU time of a process are
those of one request. Starting it costs tens of milliseconds, so the Pool keeps
spare children that are ready: they have rendered a chart of this package, so
that code and tables are in memory.

A child has no environment, opens no file and no socket: its limit of open files
is zero. Where the kernel allows it without privileges, seccomp leaves it only
the system calls that the Go runtime needs, and Landlock denies it all files. Its
CPU time, memory and output are limited, and the parent kills it when the context
of the request ends. The function lookup of templates asks the parent, which
reads from the cluster with the client of the request.

A child sends nothing before it knows that its whole result is within the limits.
The parent trusts nothing that a child sends: it bounds each message, and the sum
of all. If a child dies, only its own request fails, with an Error.
*/
package sandbox
