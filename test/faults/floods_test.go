// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
)

// discovering starts a server that is the target, but whose discovery documents contain a number of groups with a number of kinds
// each. It returns its URL.
func discovering(groups, kinds int) string {
	GinkgoHelper()
	proxy := targetProxy()
	all := make([]string, 0, groups)
	for i := range groups {
		all = append(all, fmt.Sprintf(`{"name":"g%d.example.org","versions":[{"groupVersion":"g%[1]d.example.org/v1","version":"v1"}]}`, i))
	}
	list := `{"kind":"APIGroupList","apiVersion":"v1","groups":[` + strings.Join(all, ",") + `]}`
	each := make([]string, 0, kinds)
	for i := range kinds {
		each = append(each, fmt.Sprintf(`{"name":"k%ds","singularName":"k%[1]d","kind":"K%[1]d","namespaced":true,"verbs":["get","list"]}`, i))
	}
	resources := `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"GROUP/v1","resources":[` + strings.Join(each, ",") + `]}`
	return serve(func(w http.ResponseWriter, r *http.Request) {
		document := list
		if group, ok := strings.CutPrefix(r.URL.Path, "/apis/"); ok && strings.Contains(group, ".example.org/") {
			document = strings.Replace(resources, "GROUP", strings.TrimSuffix(group, "/v1"), 1)
		} else if r.URL.Path != "/apis" {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, document)
	})
}

// A flood is the target, but each ConfigMap of a namespace has more labels in its responses, and watches begin with more ConfigMaps.
type flood struct {
	// namespace is the namespace of the ConfigMaps. Others stay as they are: objects of other tenants are not in a cluster of this tenant,
	// so that their installs must not cause larger responses.
	namespace string
	// size is the size of the labels of each ConfigMap, in bytes.
	size int
	// objects is the number of ConfigMaps at the beginning of a watch that begins with a list.
	objects int
	// env is added to the environment of the provider.
	env []string

	// labels are the labels in JSON, without braces.
	labels string
	// over ends the flood.
	over atomic.Bool
}

// labelsOf returns labels of a size in bytes, in JSON.
func labelsOf(size int) string {
	out := &strings.Builder{}
	for i := 0; out.Len() < size; i++ {
		fmt.Fprintf(out, `"flood.example.org/%045d":"%058d",`, i, i)
	}
	return strings.TrimSuffix(out.String(), ",")
}

// start starts the server, and returns its URL.
func (f *flood) start() string {
	GinkgoHelper()
	f.labels = labelsOf(f.size)
	proxy := targetProxy()
	proxy.ModifyResponse = func(r *http.Response) error {
		if !f.over.Load() && r.StatusCode < http.StatusBadRequest && strings.Contains(r.Request.URL.Path, "/configmaps") {
			r.ContentLength = -1
			r.Header.Del("Content-Length")
			r.Body = f.change(r.Body, r.Request.URL.Query().Get("sendInitialEvents") == "true")
		}
		return nil
	}
	return serve(func(w http.ResponseWriter, r *http.Request) {
		// Only uncompressed JSON can be changed as text.
		r.Header.Del("Accept-Encoding")
		var accept []string
		for format := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
			if !strings.Contains(format, "protobuf") {
				accept = append(accept, format)
			}
		}
		r.Header.Set("Accept", strings.Join(accept, ","))
		proxy.ServeHTTP(w, r)
	})
}

// change changes a response, which consists of lines of JSON.
func (f *flood) change(body io.ReadCloser, list bool) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		var err error
		for i := 0; list && i < f.objects && err == nil; i++ {
			_, err = fmt.Fprintf(in, `{"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"namespace":"flood",`+
				`"name":"flood-%d","uid":"flood-%[1]d","resourceVersion":"1","labels":{"%s":"%s",%s}}}}`+"\n", i, LabelManagedBy, ManagedBy, f.labels)
		}
		for lines := bufio.NewReader(body); err == nil; {
			line, readErr := lines.ReadBytes('\n')
			if bytes.Contains(line, []byte(`"namespace":"`+f.namespace+`"`)) {
				line = bytes.ReplaceAll(line, []byte(`"labels":{`), []byte(`"labels":{`+f.labels+`,`))
			}
			if _, err = in.Write(line); err == nil {
				err = readErr
			}
		}
		_ = in.CloseWithError(err)
	}()
	return changed{Reader: out, closers: []io.Closer{out, body}}
}

// A changed response closes the original one.
type changed struct {
	io.Reader

	closers []io.Closer
}

// Close closes both responses.
func (c changed) Close() error {
	for _, closer := range c.closers {
		_ = closer.Close()
	}
	return nil
}
