// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/registry"
)

// TestCopyEverywhere holds that content arrives unchanged, in all directions,
// and that a second copy writes nothing.
func TestCopyEverywhere(t *testing.T) {
	dir := t.TempDir()
	for _, referrers := range []bool{false, true} {
		s := newServer(t, registry.WithReferrersSupport(referrers))
		source := s.store(t, fmt.Sprintf("source-%t", referrers))
		root := artifact(t, source, "1.0.0", "one", 6, nil)
		artifact(t, source, fallbackTag(string(root.Digest))+".sig", "signature", 1, nil)
		sbom := artifact(t, source, "", "sbom", 1, &root)
		artifact(t, source, "", "signature of sbom", 1, &sbom)
		index := multi(t, source, "2.0.0")
		artifact(t, source, fallbackTag(string(index.Digest))+".att", "attestation", 1, nil)

		for name, to := range map[string]func(t *testing.T) (Store, func() Store){
			"Remote": func(t *testing.T) (Store, func() Store) {
				// The registry of the tests has each blob in all its repositories.
				r := newServer(t, registry.WithReferrersSupport(referrers)).store(t, "copy")
				return r, func() Store { return r }
			},
			"Folder": func(t *testing.T) (Store, func() Store) {
				path := filepath.Join(dir, fmt.Sprint("folder-", referrers))
				l := newLayout(t, path)
				return l, func() Store { mustClose(t, l); return openLayout(t, path) }
			},
			"Tar": func(t *testing.T) (Store, func() Store) {
				path := filepath.Join(dir, fmt.Sprint("tar-", referrers, ".tar"))
				l := newLayout(t, path)
				return l, func() Store { mustClose(t, l); return openLayout(t, path) }
			},
			"Gzip": func(t *testing.T) (Store, func() Store) {
				path := filepath.Join(dir, fmt.Sprint("tar-", referrers, ".tgz"))
				l := newLayout(t, path)
				return l, func() Store { mustClose(t, l); return openLayout(t, path) }
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
					o := CopyOptions{Tag: tag, Attachments: true}
					got, err := Copy(t.Context(), source, tag, target, o)
					if err != nil || got.Digest != want.digest || got.Uploaded != want.uploaded {
						t.Fatalf("Copy(%s): %+v, %v; want %s and %d uploads", tag, got, err, want.digest, want.uploaded)
					}
					s.forget()
					got, err = Copy(t.Context(), source, tag, target, o)
					if err != nil || got != (Copied{Digest: want.digest}) || s.count("PUT", "POST", "PATCH") != 0 {
						t.Errorf("Copy(%s) again: %+v, %v, %d writes", tag, got, err, s.count("PUT", "POST", "PATCH"))
					}
				}
				// And on, from there to somewhere else.
				from := reopen()
				if l, ok := from.(*Layout); ok {
					tag, digest, err := l.Root(t.Context())
					if tag != "1.0.0" || digest != string(root.Digest) || err != nil {
						t.Errorf("Root(): %q, %q, %v", tag, digest, err)
					}
				}
				last := s.store(t, strings.ToLower(fmt.Sprint("last-", name, referrers)))
				for _, tag := range []string{"1.0.0", "2.0.0"} {
					if _, err := Copy(t.Context(), from, tag, last, CopyOptions{Tag: tag, Attachments: true}); err != nil {
						t.Fatal(err)
					}
				}
				attached, err := last.referrers(t.Context(), string(root.Digest))
				if err != nil || len(attached) != 1 || attached[0].Digest != sbom.Digest {
					t.Errorf("referrers: %v, %v", attached, err)
				}
				attached, err = last.referrers(t.Context(), string(sbom.Digest))
				if err != nil || len(attached) != 1 {
					t.Errorf("referrers of referrers: %v, %v", attached, err)
				}
				tags, err := last.Tags(t.Context())
				want := 4
				if !referrers {
					want += 2
				}
				// With lists of its own, the registry of the tests still does not say so when it is written to.
				if err != nil || len(tags) != want {
					t.Errorf("Tags(): %v, %v", tags, err)
				}
			})
		}
	}
}

func TestCopyTag(t *testing.T) {
	s := newServer(t)
	source := s.store(t, "source")
	one, two := artifact(t, source, "1", "one", 1, nil), artifact(t, source, "2", "two", 1, nil)
	cases := map[string]struct {
		reason string
		o      CopyOptions
		exists bool
	}{
		"Other":     {reason: "A tag is not moved.", exists: true},
		"Overwrite": {reason: "But where that is asked for.", o: CopyOptions{Overwrite: true}},
		"Replaces":  {reason: "And where it has what is replaced.", o: CopyOptions{Replaces: string(one.Digest)}},
		"NotThat":   {reason: "Only that.", o: CopyOptions{Replaces: string(two.Digest)}, exists: true},
	}
	layouts := t.TempDir()
	for name, tc := range cases {
		for kind, to := range map[string]Store{"Remote": s.store(t, strings.ToLower(name)), "Layout": newLayout(t, filepath.Join(layouts, name))} {
			t.Run(name+kind, func(t *testing.T) {
				if _, err := Copy(t.Context(), source, "1", to, CopyOptions{Tag: "x"}); err != nil {
					t.Fatal(err)
				}
				s.forget()
				tc.o.Tag = "x"
				_, err := Copy(t.Context(), source, "2", to, tc.o)
				var exists *ExistsError
				if errors.As(err, &exists) != tc.exists || !tc.exists && err != nil {
					t.Fatalf("\n%s\nCopy(...): %v", tc.reason, err)
				}
				if tc.exists && (s.count("PUT", "POST") != 0 || exists.Raced || exists.Have != string(one.Digest) || exists.Want != string(two.Digest)) {
					t.Errorf("\n%s\nCopy(...): %+v, %d writes", tc.reason, exists, s.count("PUT", "POST"))
				}
			})
		}
	}
}

// TestCopyRace holds that of those that write different content to one tag, one
// says that it did, and that this is so.
func TestCopyRace(t *testing.T) {
	const racers = 6
	s := newServer(t)
	source := s.store(t, "source")
	for i := range racers {
		artifact(t, source, fmt.Sprint("v", i), fmt.Sprint("content ", i), 1, nil)
	}
	path := filepath.Join(t.TempDir(), "layout")
	newLayout(t, path)
	for name, open := range map[string]func() Store{
		"Remote": func() Store { return s.store(t, "race") },
		"Layout": func() Store { return newLayout(t, path) },
	} {
		t.Run(name, func(t *testing.T) {
			var won atomic.Pointer[string]
			var wins, losses atomic.Int32
			var wait sync.WaitGroup
			for i := range racers {
				to := open()
				wait.Go(func() {
					got, err := Copy(t.Context(), source, fmt.Sprint("v", i), to, CopyOptions{Tag: "x"})
					var exists *ExistsError
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

// TestCopyAlike holds that many may push the same.
func TestCopyAlike(t *testing.T) {
	s := newServer(t)
	source := s.store(t, "source")
	root := artifact(t, source, "1", "one", 3, nil)
	artifact(t, source, "", "attached", 1, &root)
	path := filepath.Join(t.TempDir(), "layout")
	var wait sync.WaitGroup
	for range 16 {
		remote := s.store(t, "alike")
		wait.Go(func() {
			if _, err := Copy(t.Context(), source, "1", remote, CopyOptions{Tag: "x", Attachments: true}); err != nil {
				t.Error(err)
			}
		})
		wait.Go(func() {
			l, err := CreateLayout(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := Copy(t.Context(), source, "1", l, CopyOptions{Tag: "x", Attachments: true}); err != nil {
				t.Error(err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for name := range filesOf(t, path) {
		if strings.Contains(name, "/.") || strings.HasPrefix(name, ".") {
			t.Errorf("%s was left", name)
		}
	}
}
