// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"net"
	"net/url"
	"strings"
)

// ofURL returns the scheme of a URL, or "" if it is not determined yet.
func (s scheme) ofURL() string {
	switch s {
	case schemeTLS:
		return https
	case schemePlain:
		return plainHTTP
	case schemeEither:
	}
	return ""
}

// serverOf returns host:port of a URL, with the protocol http, https or "". If neither its host nor its protocol determines the port,
// the result is not equal to that of any URL whose port is known.
func serverOf(protocol, host string) string {
	u := url.URL{Host: strings.ToLower(host)}
	port := u.Port()
	if port == "" {
		port = map[string]string{plainHTTP: "80", https: "443"}[protocol]
	}
	return net.JoinHostPort(u.Hostname(), port)
}
