// SPDX-License-Identifier: Apache-2.0

// Package sendcheck checks a request again when it is about to be sent.
//
// A process that may no longer write, for example because its lease has expired while it was suspended, checks this before each request.
// Between that check and the moment at which the request is sent, the request can wait for the network connection, for a processor, or
// until the suspended process resumes. A check in the context of the request is repeated after these waits.
package sendcheck
