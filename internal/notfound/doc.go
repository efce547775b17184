// SPDX-License-Identifier: Apache-2.0

// Package notfound decides what "404 Not Found" means. It is the one place that does.
//
// Whatever is between us and a cluster may answer 404 too: a proxy, an ingress without a backend, a gateway whose cluster
// sleeps. client-go gives each of them the reason NotFound. Only two things say that something does not exist: a Status in
// which an API server names the object, and a discovery document that does not have the kind. An API server answers a path
// that it does not serve with a plain text, which any web server could have sent, so that such an answer proves nothing.
package notfound
