// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

const mib = 1 << 20

// TestSlowRegistry checks that a registry that announces a large blob and sends little of it cannot prevent other pulls from proceeding or
// from failing clearly.
func TestSlowRegistry(t *testing.T) {
	s := ocitest.NewRegistry(t)
	slow, small, large := s.Push(t, repo, bytes.Repeat([]byte("a"), 2*mib)), s.Push(t, repo, []byte("b")), s.Push(t, repo, bytes.Repeat([]byte("c"), 2*mib))
	stalled := make(chan struct{})
	var once sync.Once
	s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, slow) {
			return false
		}
		w.Header().Set("Content-Length", strconv.Itoa(2*mib))
		_, _ = w.Write(make([]byte, mib))
		w.(http.Flusher).Flush()
		once.Do(func() { close(stalled) })
		<-r.Context().Done()
		return true
	})
	c := newClient(t, WithLimits(archive.Limits{Compressed: 2 * mib, Archives: decoding.NewArchives(4 * mib)}))
	pull := func(ctx context.Context, digest string) error {
		_, err := c.Blob(ctx, s.Plain("", ""), s.Host()+"/"+repo, digest)
		return err
	}
	stopped, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if err := pull(stopped, slow); err == nil {
			t.Error("the slow pull cannot succeed")
		}
	})
	<-stalled
	type want struct {
		Err             string
		Busy, Retryable bool
	}
	cases := map[string]struct {
		reason string
		digest string
		want   want
	}{
		"Small": {reason: "A pull that needs what is left proceeds.", digest: small},
		"Large": {
			reason: "A pull that must wait fails with a clear error when its time is over.", digest: large,
			want: want{Err: "too many large archives are being pulled or unpacked at the same time; the provider tries again", Busy: true, Retryable: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := pull(ctx, tc.digest)
			var r interface{ Retryable() bool }
			got := want{Err: text(err), Busy: errors.Is(err, decoding.ErrArchivesBusy), Retryable: errors.As(err, &r) && r.Retryable()}
			if tc.want.Err != "" && strings.HasSuffix(got.Err, tc.want.Err) {
				got.Err = tc.want.Err
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nBlob(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	stop()
	all.Wait()
	if err := pull(t.Context(), large); err != nil {
		t.Errorf("want the memory back when the slow pull has ended, got %v", err)
	}
}

// TestPulledMemory checks that what is pulled, or read from the cache, counts as long as its archive is held.
func TestPulledMemory(t *testing.T) {
	s := ocitest.NewRegistry(t)
	one, two := s.Push(t, repo, bytes.Repeat([]byte("a"), 2*mib)), s.Push(t, repo, bytes.Repeat([]byte("b"), 2*mib))
	c := newClient(t, WithCacheDir(t.TempDir()), WithLimits(archive.Limits{Compressed: 2 * mib, Archives: decoding.NewArchives(4 * mib)}))
	pull := func(ctx context.Context, digest string) error {
		_, err := c.Blob(ctx, s.Plain("", ""), s.Host()+"/"+repo, digest)
		return err
	}
	for _, from := range []string{"registry", "cache"} {
		ctx, done := decoding.HoldArchive(t.Context())
		if err := pull(ctx, one); err != nil {
			t.Fatalf("from the %s: %v", from, err)
		}
		var large *decoding.ArchiveError
		if err := pull(ctx, two); !errors.As(err, &large) {
			t.Errorf("from the %s: want both to count, got %v", from, err)
		}
		done()
		if err := pull(t.Context(), two); err != nil {
			t.Errorf("from the %s: want the memory back, got %v", from, err)
		}
	}
	if n := s.Count("GET", oci.DigestOf(bytes.Repeat([]byte("a"), 2*mib))); n != 1 {
		t.Errorf("want one pull, got %d", n)
	}
}
