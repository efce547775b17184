// SPDX-License-Identifier: Apache-2.0

package access

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// gate forwards lookup requests that are allowed, and stores the values of Secrets in the responses. It decides by the path,
// because a malicious cluster can map any kind to the resource secrets.
type gate struct {
	next    http.RoundTripper
	options *Options
}

// RoundTrip sends a request, or returns the response of an API server that denies it.
func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	object, secrets := isObject(req.URL.Path), isSecrets(req.URL.Path)
	switch {
	case object && g.options.Lookup == v1alpha1.LookupDenied:
		return g.deny(req, "the template function lookup is not allowed: spec.lookup of "+g.options.Origin+" is Denied"), nil
	case secrets && g.options.Lookup == v1alpha1.LookupNoSecrets:
		return g.deny(req, "the template function lookup must not read Secrets: spec.lookup of "+g.options.Origin+
			" is NoSecrets, which is the default for credentials of the provider"), nil
	}
	resp, err := g.next.RoundTrip(req)
	if err != nil || !secrets || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	// The transport limits the size of the body.
	body, err := io.ReadAll(resp.Body)
	if closed := resp.Body.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = g.remember(body)
	}
	if err != nil {
		return nil, errors.Wrap(err, "cannot look up Secrets")
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// segments returns the part of a path after the API version: the resource and a name, with the namespace before them if there
// is one. It returns nothing for discovery. The path of the server can have a prefix, for example behind a proxy.
func segments(path string) []string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i, p := range parts {
		switch {
		case p == "api" && len(parts) > i+1 && parts[i+1] == "v1":
			return parts[i+2:]
		case p == "apis" && len(parts) > i+2:
			return parts[i+3:]
		}
	}
	return nil
}

// isObject reports whether a request is about objects.
func isObject(path string) bool { return len(segments(path)) > 0 }

// isSecrets reports whether a request is for Secrets. If in doubt, it returns true: any segment can be the resource.
func isSecrets(path string) bool {
	for i, p := range segments(path) {
		if p == "secrets" && i%2 == 0 {
			return true
		}
	}
	return false
}

// deny returns a response like that of an API server that denies a request.
func (g *gate) deny(req *http.Request, message string) *http.Response {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden, Message: message,
	}
	body, err := json.Marshal(status)
	if err != nil {
		body = []byte("{}")
	}
	return &http.Response{
		Status: http.StatusText(http.StatusForbidden), StatusCode: http.StatusForbidden, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": []string{"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)), Request: req,
	}
}

// remember adds the values of the Secrets in a response to the values that are redacted from messages.
func (g *gate) remember(body []byte) error {
	type secret struct {
		Data map[string]string `json:"data"`
	}
	var answer struct {
		secret `json:",inline"`

		Items []secret `json:"items"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return errors.New("cannot decode the response of the API server")
	}
	for _, s := range append(answer.Items, answer.secret) {
		for _, encoded := range s.Data {
			value, err := base64.StdEncoding.DecodeString(encoded)
			if err != nil {
				value = []byte(encoded)
			}
			if err := g.options.Secrets.Add(string(value)); err != nil {
				return err
			}
		}
	}
	return nil
}
