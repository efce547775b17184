// SPDX-License-Identifier: Apache-2.0

package ocitest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"testing"
)

// Chart returns a small archive of a chart; different content results in different archives.
func Chart(tb testing.TB, content string) []byte {
	tb.Helper()
	text := "name: sample\nversion: 1.2.3\n# " + content + "\n"
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "Chart.yaml", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}); err != nil {
		tb.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		tb.Fatal(err)
	}
	for _, c := range []io.Closer{w, z} {
		if err := c.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	return b.Bytes()
}

// Isolate makes a test ignore the docker configuration of the machine.
func Isolate(tb testing.TB) {
	tb.Helper()
	for _, v := range []string{"DOCKER_CONFIG", "HOME"} {
		tb.Setenv(v, tb.TempDir())
	}
	for _, v := range []string{"REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"} {
		tb.Setenv(v, "")
	}
}

// Text returns the text of err, or "" if err is nil.
func Text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
