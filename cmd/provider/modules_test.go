// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVerificationKeys(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good=1.pem"), filepath.Join(dir, "bad.pem")
	block := &pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&private.PublicKey)}
	for file, content := range map[string][]byte{good: pem.EncodeToMemory(block), bad: []byte("secret")} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   int
		err    string
	}{
		"None":      {reason: "There are no keys by default."},
		"Two":       {reason: "Several keys are possible.", args: []string{"a=" + good, "b=" + good}, want: 2},
		"NoName":    {reason: "A key requires the name of its signatures.", args: []string{bad}, err: "must be NAME=FILE"},
		"NoFile":    {reason: "A missing file is named in the error.", args: []string{"a=" + filepath.Join(dir, "none.pem")}, err: "none.pem"},
		"Malformed": {reason: "A file without a key is named in the error, without its content.", args: []string{"a=" + bad}, err: "bad.pem"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			args := make([]string, 0, len(tc.args))
			for _, a := range tc.args {
				args = append(args, "--module-verification-key="+a)
			}
			f, err := parse(args)
			if err != nil {
				t.Fatal(err)
			}
			keys, err := verificationKeys(f.moduleKeys)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "secret") {
					t.Errorf("\n%s\nverificationKeys(...): want an error with %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil || len(keys) != tc.want || len(keys) > 0 && keys[0].Name != "a" {
				t.Errorf("\n%s\nverificationKeys(...): got %v, %v", tc.reason, keys, err)
			}
		})
	}
}
