// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func main() {
	if len(os.Args) > 2 {
		fmt.Fprintln(os.Stderr, "usage: words [DIRECTORY]")
		os.Exit(2)
	}
	root := "."
	if len(os.Args) == 2 {
		root = os.Args[1]
	}
	n, err := check(os.DirFS(root), os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case n > 0:
		fmt.Fprintf(os.Stderr, "%d banned words; see Words in CONTRIBUTING.md\n", n)
		os.Exit(1)
	}
}

// skipped reports whether a file or directory is not read: generated or third-party content, and the list of the words.
func skipped(name string, isDir bool) bool {
	base := path.Base(name)
	return (isDir && strings.HasPrefix(base, ".") && name != "." && name != ".ci" && name != ".github") || base == "bin" || base == "testdata" ||
		name == "package/crds" || strings.HasPrefix(base, "zz_generated") || name == "docs/kymactl.md" || name == "hack/words"
}

// check checks the files below a directory. It prints a line for each banned word, and returns the number of banned
// words.
func check(root fs.FS, out io.Writer) (int, error) {
	n, all := 0, rules()
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(name, true):
			return fs.SkipDir
		case skipped(name, false) || !d.Type().IsRegular():
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		applicable := rulesFor(all, name, data)
		for _, l := range append(textsOf(name, data), nameOf(name)) {
			for _, r := range find(applicable, l) {
				n++
				if _, err := fmt.Fprintf(out, "%s:%d: %q: write %q\n", name, l.number, r.name, r.instead); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return n, errors.Wrap(err, "cannot check the words")
}
