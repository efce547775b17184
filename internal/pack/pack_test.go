// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
)

// tree creates files in a new directory. A text that begins with -> is a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "->"); ok {
			err = os.Symlink(to, full)
		} else {
			err = os.WriteFile(full, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return root
}

func TestDir(t *testing.T) {
	outside := tree(t, map[string]string{"secret": "s"})
	cases := map[string]struct {
		reason string
		files  map[string]string
		dir    string
		chart  bool
		want   []string // In the form name=content.
		err    string
	}{
		"Sorted": {
			reason: "Names are sorted byte by byte, and relative to the directory.",
			files:  map[string]string{"c/b": "1", "c/B": "2", "c/a/z": "3", "c/a.yaml": "4", "other": "5"},
			dir:    "c",
			want:   []string{"B=2", "a.yaml=4", "a/z=3", "b=1"},
		},
		"Foreign": {
			reason: "What no module has is left out, also an image layout, which is an earlier output.",
			files: map[string]string{
				".git/config": "x", "a": "1", "s/.DS_Store": "x", "s/._a": "x", "s/.git": "gitdir: x", "out/oci-layout": "{}", "out/index.json": "{}",
				".gitignore": "2",
			},
			dir:  ".",
			want: []string{".gitignore=2", "a=1"},
		},
		"Links": {
			reason: "Links are followed within the root, also out of the directory.",
			files:  map[string]string{"common/a": "1", "c/link": "->../common/a", "c/all": "->../common"},
			dir:    "c",
			want:   []string{"all/a=1", "link=1"},
		},
		"Outside":   {reason: "Links do not leave the root.", files: map[string]string{"c/link": "->" + outside + "/secret"}, dir: "c", err: "c/link: symbolic link is broken or points outside of the directory"},
		"Climbing":  {reason: "Relative links do not leave the root.", files: map[string]string{"c/link": "->../../x"}, dir: "c", err: "c/link: symbolic link is broken or points outside of the directory"},
		"Dangling":  {reason: "A link must lead somewhere.", files: map[string]string{"c/link": "->nothing"}, dir: "c", err: "c/link: symbolic link is broken or points outside of the directory"},
		"Circle":    {reason: "A link that leads in a circle is refused.", files: map[string]string{"c/d/link": "->.."}, dir: "c", err: "c/d/link: symbolic links form a loop"},
		"Missing":   {reason: "A directory must be there.", dir: "c", err: "c: no such file or directory"},
		"File":      {reason: "A file is not a directory.", files: map[string]string{"c": "1"}, dir: "c", err: "c: not a directory"},
		"NotIgnore": {reason: "Only charts have a .helmignore.", files: map[string]string{".helmignore": "a", "a": "1"}, dir: ".", want: []string{".helmignore=a", "a=1"}},
		"Ignore": {
			reason: "A .helmignore is read as Helm does.",
			files: map[string]string{
				"c/.helmignore": "# comment\n\n*.swp\n/top\nci/\ndocs/*.md\nlink\n", "c/Chart.yaml": "1", "c/a.swp": "x", "c/s/b.swp": "x", "c/top": "x",
				"c/s/top": "2", "c/ci/v.yaml": "x", "c/s/ci": "3", "c/docs/a.md": "x", "c/docs/s/b.md": "4", "c/templates/.hidden": "x", "c/link": "->nothing",
			},
			dir:   "c",
			chart: true,
			want:  []string{".helmignore=# comment\n\n*.swp\n/top\nci/\ndocs/*.md\nlink\n", "Chart.yaml=1", "docs/s/b.md=4", "s/ci=3", "s/top=2"},
		},
		"BadIgnore": {reason: "A rule that Helm refuses is refused.", files: map[string]string{".helmignore": "a/**"}, dir: ".", chart: true, err: `.helmignore: pattern "a/**": ** is not supported by Helm`},
		"NoPattern": {reason: "A rule is a pattern.", files: map[string]string{".helmignore": "[a"}, dir: ".", chart: true, err: `.helmignore: invalid pattern "[a"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fsys := open(t, tree(t, tc.files)).FS()
			read := Directory
			if tc.chart {
				read = Chart
			}
			files, err := read(fsys, tc.dir)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), os.TempDir()) {
					t.Errorf("\n%s\nread(...): want error %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			var got []string
			for _, f := range files {
				got = append(got, f.Name+"="+string(f.Data))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("\n%s\nread(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestPipe checks that reading a pipe does not wait for its writer.
func TestPipe(t *testing.T) {
	dir := tree(t, map[string]string{"a": "1"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	fsys := open(t, dir).FS()
	if _, err := Directory(fsys, "."); err == nil || err.Error() != "pipe: neither a file nor a directory" {
		t.Errorf("Directory(...): %v", err)
	}
	if _, err := ReadFile(fsys, "pipe"); err == nil || err.Error() != "pipe: not a file" {
		t.Errorf("ReadFile(...): %v", err)
	}
}

// TestReadOnly checks that reading needs no write permission.
func TestReadOnly(t *testing.T) {
	dir := tree(t, map[string]string{"s/a": "1"})
	for _, d := range []string{filepath.Join(dir, "s"), dir} {
		if err := os.Chmod(d, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(d, 0o700)
	}
	files, err := Directory(open(t, dir).FS(), ".")
	if diff := cmp.Diff([]archive.File{{Name: "s/a", Data: []byte("1")}}, files); diff != "" || err != nil {
		t.Errorf("Directory(...): %v, %s", err, diff)
	}
}
