// SPDX-License-Identifier: Apache-2.0

// Command vulncheck runs govulncheck, which reports known vulnerabilities in functions that the packages call, and exits with:
//
//	 0  if there are none
//	 1  if the packages cannot be analyzed
//	 2  if the command line is invalid
//	 3  if there are vulnerabilities
//	75  if the database of vulnerabilities cannot be reached, so that nothing was checked
//
// The last is a failure too: a check that did not run must not look like one that passed. It is found out first, because the
// analysis takes a minute, and reported in one line. The code is EX_TEMPFAIL of sysexits.h: try again later.
package main
