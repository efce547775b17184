// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/storetest"
)

// TestCopyEverywhere checks that content is copied unchanged between all kinds of stores, and that a second copy writes
// nothing.
func TestCopyEverywhere(t *testing.T) {
	dir := t.TempDir()
	for _, referrers := range []bool{false, true} {
		s := newServer(t, registry.WithReferrersSupport(referrers))
		source := repositoryAt(t, s, fmt.Sprintf("source-%t", referrers))
		root := storetest.Artifact(t, source, "1.0.0", "one", 6, nil)
		storetest.Artifact(t, source, store.FallbackTag(string(root.Digest))+".sig", "signature", 1, nil)
		sbom := storetest.Artifact(t, source, "", "sbom", 1, &root)
		storetest.Artifact(t, source, "", "signature of sbom", 1, &sbom)
		index := storetest.Multi(t, source, "2.0.0")
		storetest.Artifact(t, source, store.FallbackTag(string(index.Digest))+".att", "attestation", 1, nil)

		for name, to := range map[string]func(t *testing.T) (store.Store, func() store.Store){
			"Remote": func(t *testing.T) (store.Store, func() store.Store) {
				// In the test registry, each blob is in all repositories.
				r := repositoryAt(t, newServer(t, registry.WithReferrersSupport(referrers)), "copy")
				return r, func() store.Store { return r }
			},
			"Dir": func(t *testing.T) (store.Store, func() store.Store) {
				path := filepath.Join(dir, fmt.Sprint("dir-", referrers))
				l := newLayout(t, path)
				return l, func() store.Store { mustClose(t, l); return openLayout(t, path) }
			},
			"Tar": func(t *testing.T) (store.Store, func() store.Store) {
				path := filepath.Join(dir, fmt.Sprint("tar-", referrers, ".tar"))
				l := newLayout(t, path)
				return l, func() store.Store { mustClose(t, l); return openLayout(t, path) }
			},
			"Gzip": func(t *testing.T) (store.Store, func() store.Store) {
				path := filepath.Join(dir, fmt.Sprint("tar-", referrers, ".tgz"))
				l := newLayout(t, path)
				return l, func() store.Store { mustClose(t, l); return openLayout(t, path) }
			},
		} {
			t.Run(fmt.Sprint(name, referrers), func(t *testing.T) {
				target, reopen := to(t)
				for tag, want := range map[string]struct {
					digest   string
					uploaded int
				}{
					// 4 manifests, 6+1+1+1 layers, 4 configs.
					"1.0.0": {string(root.Digest), 17},
					// 1 index, 3 manifests, 3 layers, 3 configs.
					"2.0.0": {string(index.Digest), 10},
				} {
					o := store.CopyOptions{Tag: tag, Attachments: true}
					got, err := store.Copy(t.Context(), source, tag, target, o)
					if err != nil || got.Digest != want.digest || got.Uploaded != want.uploaded {
						t.Fatalf("Copy(%s): %+v, %v; want %s and %d uploads", tag, got, err, want.digest, want.uploaded)
					}
					s.Forget()
					got, err = store.Copy(t.Context(), source, tag, target, o)
					if err != nil || got != (store.Copied{Digest: want.digest}) || writes(s) != 0 {
						t.Errorf("Copy(%s) again: %+v, %v, %d writes", tag, got, err, writes(s))
					}
				}
				// Copy the copy to another store.
				from := reopen()
				if l, ok := from.(*layout.Store); ok {
					tag, digest, err := l.Root(t.Context())
					if tag != "1.0.0" || digest != string(root.Digest) || err != nil {
						t.Errorf("Root(): %q, %q, %v", tag, digest, err)
					}
				}
				last := repositoryAt(t, s, strings.ToLower(fmt.Sprint("last-", name, referrers)))
				for _, tag := range []string{"1.0.0", "2.0.0"} {
					if _, err := store.Copy(t.Context(), from, tag, last, store.CopyOptions{Tag: tag, Attachments: true}); err != nil {
						t.Fatal(err)
					}
				}
				attached, err := last.Referrers(t.Context(), string(root.Digest))
				if err != nil || len(attached) != 1 || attached[0].Digest != sbom.Digest {
					t.Errorf("referrers: %v, %v", attached, err)
				}
				attached, err = last.Referrers(t.Context(), string(sbom.Digest))
				if err != nil || len(attached) != 1 {
					t.Errorf("referrers of referrers: %v, %v", attached, err)
				}
				tags, err := last.Tags(t.Context())
				want := 4
				if !referrers {
					want += 2
				}
				// Although the test registry supports referrers, its responses to writes do not say so.
				if err != nil || len(tags) != want {
					t.Errorf("Tags(): %v, %v", tags, err)
				}
			})
		}
	}
}

func TestCopyTag(t *testing.T) {
	s := newServer(t)
	source := repositoryAt(t, s, "source")
	one, two := storetest.Artifact(t, source, "1", "one", 1, nil), storetest.Artifact(t, source, "2", "two", 1, nil)
	cases := map[string]struct {
		reason string
		o      store.CopyOptions
		exists bool
	}{
		"Other":     {reason: "A tag is not moved.", exists: true},
		"Overwrite": {reason: "A tag is overwritten on request.", o: store.CopyOptions{Overwrite: true}},
		"Replaces":  {reason: "A tag is overwritten if it has the expected digest.", o: store.CopyOptions{Replaces: string(one.Digest)}},
		"NotThat":   {reason: "A tag with another digest is not overwritten.", o: store.CopyOptions{Replaces: string(two.Digest)}, exists: true},
	}
	layouts := t.TempDir()
	for name, tc := range cases {
		for kind, to := range map[string]store.Store{"Remote": repositoryAt(t, s, strings.ToLower(name)), "Layout": newLayout(t, filepath.Join(layouts, name))} {
			t.Run(name+kind, func(t *testing.T) {
				if _, err := store.Copy(t.Context(), source, "1", to, store.CopyOptions{Tag: "x"}); err != nil {
					t.Fatal(err)
				}
				s.Forget()
				tc.o.Tag = "x"
				_, err := store.Copy(t.Context(), source, "2", to, tc.o)
				var exists *store.ExistsError
				if errors.As(err, &exists) != tc.exists || !tc.exists && err != nil {
					t.Fatalf("\n%s\nCopy(...): %v", tc.reason, err)
				}
				if tc.exists && (writes(s) != 0 || exists.Raced || exists.Have != string(one.Digest) || exists.Want != string(two.Digest)) {
					t.Errorf("\n%s\nCopy(...): %+v, %d writes", tc.reason, exists, writes(s))
				}
			})
		}
	}
}

// TestCopyRace checks that if several clients write different content to the same tag, exactly one of them succeeds, and that
// the tag has its content.
func TestCopyRace(t *testing.T) {
	const racers = 6
	s := newServer(t)
	source := repositoryAt(t, s, "source")
	for i := range racers {
		storetest.Artifact(t, source, fmt.Sprint("v", i), fmt.Sprint("content ", i), 1, nil)
	}
	path := filepath.Join(t.TempDir(), "layout")
	newLayout(t, path)
	for name, open := range map[string]func() store.Store{
		"Remote": func() store.Store { return repositoryAt(t, s, "race") },
		"Layout": func() store.Store { return newLayout(t, path) },
	} {
		t.Run(name, func(t *testing.T) {
			var won atomic.Pointer[string]
			var wins, losses atomic.Int32
			var wait sync.WaitGroup
			for i := range racers {
				to := open()
				wait.Go(func() {
					got, err := store.Copy(t.Context(), source, fmt.Sprint("v", i), to, store.CopyOptions{Tag: "x"})
					var exists *store.ExistsError
					switch {
					case err == nil:
						wins.Add(1)
						won.Store(&got.Digest)
					case errors.As(err, &exists):
						losses.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			wait.Wait()
			if wins.Load() != 1 || losses.Load() != racers-1 {
				t.Fatalf("%d won, %d were told that they lost", wins.Load(), losses.Load())
			}
			if _, have, err := open().Manifest(t.Context(), "x"); have != *won.Load() || err != nil {
				t.Errorf("tag: %s, %v; the winner wrote %s", have, err, *won.Load())
			}
		})
	}
}

// TestCopyAlike checks that several clients can push the same content concurrently.
func TestCopyAlike(t *testing.T) {
	s := newServer(t)
	source := repositoryAt(t, s, "source")
	root := storetest.Artifact(t, source, "1", "one", 3, nil)
	storetest.Artifact(t, source, "", "attached", 1, &root)
	path := filepath.Join(t.TempDir(), "layout")
	var wait sync.WaitGroup
	for range 16 {
		remote := repositoryAt(t, s, "alike")
		wait.Go(func() {
			if _, err := store.Copy(t.Context(), source, "1", remote, store.CopyOptions{Tag: "x", Attachments: true}); err != nil {
				t.Error(err)
			}
		})
		wait.Go(func() {
			l, err := layout.Create(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := store.Copy(t.Context(), source, "1", l, store.CopyOptions{Tag: "x", Attachments: true}); err != nil {
				t.Error(err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for name := range storetest.FilesOf(t, path) {
		if strings.Contains(name, "/.") || strings.HasPrefix(name, ".") {
			t.Errorf("%s was left", name)
		}
	}
}
