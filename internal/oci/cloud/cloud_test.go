// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
)

const (
	hostOfECR = "123456789012.dkr.ecr.eu-central-1.amazonaws.com"
	hostOfACR = "example.azurecr.io"
	hostOfGAR = "europe-docker.pkg.dev"
)

// isolate removes the identities of this machine from the environment.
func isolate(t *testing.T) {
	t.Helper()
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		for _, prefix := range []string{"AWS_", "AZURE_", "GOOGLE_", "GCE_", "IDENTITY_", "MSI_", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
			if strings.HasPrefix(name, prefix) {
				t.Setenv(name, "")
			}
		}
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(home, "none"))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
}

// A server simulates the token services of a cloud.
type server struct {
	*httptest.Server

	// asked lists the requests in their order.
	asked []string
}

func newServer(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		s.asked = append(s.asked, r.Method+" "+r.URL.Path)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func write(t *testing.T, name, content string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

type got struct {
	User, Password, Err string
}

// credentials requests the credentials of an identity twice.
func credentials(t *testing.T, i *identity, host string) got {
	t.Helper()
	if !i.hosts.MatchString(host) {
		t.Fatalf("%q is not a host of %s", host, i.provider)
	}
	var out got
	for range 2 {
		user, password, err := i.Credentials(t.Context(), host)
		out = got{User: user, Password: password}
		if err != nil {
			out.Err = err.Error()
		}
	}
	return out
}

func TestIdentity(t *testing.T) {
	cases := map[string]struct {
		reason   string
		provider string
		host     string
		want     string
	}{
		"ECR":       {reason: "An ECR registry belongs to an account.", provider: "aws", host: hostOfECR},
		"FIPS":      {reason: "ECR has FIPS endpoints.", provider: "aws", host: "123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com"},
		"DualStack": {reason: "ECR has dual-stack endpoints.", provider: "aws", host: "123456789012.dkr-ecr.eu-central-1.on.aws"},
		"China":     {reason: "ECR has registries in China.", provider: "aws", host: "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn"},
		"ACR":       {reason: "ACR is a registry of Azure.", provider: "azure", host: hostOfACR},
		"ACRChina":  {reason: "ACR has registries in China.", provider: "azure", host: "example.azurecr.cn"},
		"GAR":       {reason: "Artifact Registry is a registry of Google Cloud.", provider: "gcp", host: hostOfGAR},
		"GCR":       {reason: "Container Registry preceded Artifact Registry.", provider: "gcp", host: "eu.gcr.io"},
		"OldGCR":    {reason: "Container Registry has a host without a region.", provider: "gcp", host: "gcr.io"},
		"Case":      {reason: "Host names are case-insensitive.", provider: "azure", host: "Example.azurecr.io"},
		"Other":     {reason: "Three providers are supported.", provider: "oci", host: "ocir.io", want: `unknown provider "oci": must be aws, azure or gcp`},
		"None":      {reason: "The provider must not be empty.", host: hostOfECR, want: `unknown provider "": must be aws, azure or gcp`},
		"Suffix":    {reason: "Anyone can own a host with another suffix.", provider: "aws", host: hostOfECR + ".example.org", want: "is not a registry host of aws"},
		"Prefix":    {reason: "Anyone can own a host with another prefix.", provider: "gcp", host: "example-gcr.io", want: "is not a registry host of gcp"},
		"Deep":      {reason: "A registry does not have such a host.", provider: "gcp", host: "x.europe-docker.pkg.dev", want: "is not a registry host of gcp"},
		"Port":      {reason: "Another port is another server.", provider: "azure", host: hostOfACR + ":8443", want: "is not a registry host of azure"},
		"Swapped":   {reason: "A token of one cloud is not for another.", provider: "azure", host: hostOfGAR, want: "is not a registry host of azure"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := (&Identities{}).Identity(tc.provider, tc.host)
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("\n%s\nIdentity(...): want error %q, got %v", tc.reason, tc.want, err)
				}
				return
			}
			if err != nil || got.Name() != tc.provider {
				t.Errorf("\n%s\nIdentity(...): %v, %v", tc.reason, got, err)
			}
		})
	}
}

func TestCredentials(t *testing.T) {
	n := 0
	until := time.Time{}
	i := newIdentity("x", "", func(context.Context, string) (login, error) {
		n++
		return login{user: "u", password: strconv.Itoa(n), expires: until}, nil
	}, error.Error)
	for want, expires := range []time.Time{time.Now().Add(early / 2), time.Now().Add(time.Hour), time.Now().Add(time.Hour)} {
		until = expires
		_, password, err := i.Credentials(t.Context(), "h")
		if want := strconv.Itoa(min(want+1, 2)); password != want || err != nil {
			t.Errorf("Credentials(...): got the password %s, want %s: %v", password, want, err)
		}
	}
	if _, password, err := i.Credentials(t.Context(), "other"); password != "3" || err != nil {
		t.Errorf("Credentials(...) of another host: %s, %v", password, err)
	}
}

// TestCredentialsAtOnce checks that concurrent callers share one login, and that one of them can give up.
func TestCredentialsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		i := newIdentity("x", "", func(ctx context.Context, _ string) (login, error) {
			n++
			<-ctx.Done()
			return login{}, ctx.Err()
		}, error.Error)
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := i.Credentials(impatient, "h"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Credentials(...) of a caller that gave up: %v", err)
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				_, _, err := i.Credentials(t.Context(), "h")
				if want := `x did not return credentials for host "h" within 30s`; err == nil || err.Error() != want {
					t.Errorf("Credentials(...): error %v, want %q", err, want)
				}
			})
		}
		all.Wait()
		if _, _, err := i.Credentials(t.Context(), "h"); err == nil || n != 1 {
			t.Errorf("Credentials(...) soon after: %d logins, %v", n, err)
		}
		// The clock of the bubble is fake: this takes no time.
		time.Sleep(pause)
		if _, _, err := i.Credentials(t.Context(), "h"); err == nil || n != 2 {
			t.Errorf("Credentials(...) later: %d logins, %v", n, err)
		}
	})
}

// TestForget checks that credentials that a registry rejects are replaced, but not after each rejection.
func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logins := 0
		i := newIdentity("aws", hostsOfAWS, func(context.Context, string) (login, error) {
			logins++
			return login{user: "u", password: strconv.Itoa(logins), expires: time.Now().Add(time.Hour)}, nil
		}, error.Error)
		i.Forget("unknown")
		want := func(reason, password string) {
			t.Helper()
			if _, got, err := i.Credentials(t.Context(), hostOfECR); err != nil || got != password {
				t.Errorf("%s\nCredentials(...): want %q, got %q, error %v", reason, password, got, err)
			}
		}
		want("The first login.", "1")
		i.Forget(hostOfECR)
		want("New credentials are kept.", "1")
		time.Sleep(pause)
		want("So are old ones.", "1")
		i.Forget(hostOfECR)
		want("Old ones that are refused are not.", "2")
		i.Forget(hostOfECR)
		want("The new ones are kept.", "2")
	})
}

// TestCredentialsPanic checks that if a source panics, all callers that wait for the credentials of the host get an error.
func TestCredentialsPanic(t *testing.T) {
	i := newIdentity("x", "", func(context.Context, string) (login, error) { panic("a bad response") }, error.Error)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, _, err := i.Credentials(t.Context(), "h"); !panics.Is(err) || !strings.Contains(err.Error(), "host h") {
				t.Errorf("Credentials(...): want the error of a panic that names the host, got %v", err)
			}
		})
	}
	all.Wait()
}
