// SPDX-License-Identifier: Apache-2.0

package access

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// gate forwards lookup requests that are allowed, and stores the values of Secrets in the responses. It decides by the path,
// because a malicious cluster can map any kind to the resource secrets.
type gate struct {
	next    http.RoundTripper
	options *Options
	// prefix is the path of the server, without a slash at the end. It can contain the paths of other API servers.
	prefix string
}

// prefixOf returns the prefix of a gate for the requests of a client.
func prefixOf(rc *rest.Config) string {
	u, _, err := rest.DefaultServerUrlFor(rc)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path.Join("/", u.Path), "/")
}

// RoundTrip sends a request, or returns the response of an API server that denies it.
func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	object, secrets := g.isObject(req.URL.Path), g.isSecrets(req.URL.Path)
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

// segments returns the part of a path after the prefix of the server and the API version: the resource and a name, with the
// namespace before them if there is one. It returns nothing for discovery. It returns the whole path, and false, if the path is not
// one of the Kubernetes API.
func (g *gate) segments(path string) ([]string, bool) {
	inAPI, ok := strings.CutPrefix(path, g.prefix+"/")
	parts := strings.Split(strings.Trim(inAPI, "/"), "/")
	switch {
	case ok && parts[0] == "api":
		return parts[min(2, len(parts)):], true
	case ok && parts[0] == "apis":
		return parts[min(3, len(parts)):], true
	}
	return parts, false
}

// isObject reports whether a request is about objects. If in doubt, it returns true.
func (g *gate) isObject(path string) bool {
	parts, _ := g.segments(path)
	return len(parts) > 0
}

// isSecrets reports whether a request is for Secrets. If in doubt, it returns true: any segment that is not a name can be the resource.
func (g *gate) isSecrets(path string) bool {
	parts, known := g.segments(path)
	for i, p := range parts {
		if p == "secrets" && (!known || i%2 == 0) {
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
