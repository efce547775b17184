// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// TestTLSErrors checks that settings with which no connection can be opened are errors when a transport is created.
func TestTLSErrors(t *testing.T) {
	cases := map[string]struct {
		reason   string
		settings rest.TLSClientConfig
	}{
		"Authority": {reason: "The certificate authority is not in the PEM format.", settings: rest.TLSClientConfig{CAData: []byte("no certificate")}},
		"Pair":      {reason: "The client certificate and its key cannot be parsed.", settings: rest.TLSClientConfig{CertData: []byte("a"), KeyData: []byte("b")}},
		"File":      {reason: "A file does not exist.", settings: rest.TLSClientConfig{CAFile: filepath.Join(t.TempDir(), "ca.crt")}},
	}
	for name, tc := range cases {
		for _, scheme := range []string{"http", "https"} {
			t.Run(name+scheme, func(t *testing.T) {
				if tr, err := New(&rest.Config{Host: scheme + "://127.0.0.1:1", TLSClientConfig: tc.settings}, Options{}); err == nil {
					tr.Close()
					t.Errorf("%s\nNew(...): want an error", tc.reason)
				}
			})
		}
	}
}

// TestTLSFiles checks that connections that are opened later use the certificate authority as it was in its file when the transport was created.
func TestTLSFiles(t *testing.T) {
	opened := atomic.Int64{}
	s, rc := newTLS(t, func(http.ResponseWriter, *http.Request) {})
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	rc.TLSClientConfig = rest.TLSClientConfig{CAFile: file}
	tr := newTransport(t, rc, Options{Opened: func() { opened.Add(1) }})
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, code, err := get(t.Context(), tr, s.URL+"/version"); err != nil || code != http.StatusOK {
			t.Fatalf("request %d: got code %d and %v", i+1, code, err)
		}
		epoch := tr.Epoch()
		s.CloseClientConnections()
		for tick := time.Tick(time.Millisecond); tr.Epoch() == epoch; {
			<-tick // The client notices it as soon as it reads from the connection.
		}
	}
	if n := opened.Load(); n != 3 {
		t.Errorf("want three connections, got %d", n)
	}
}
