// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "usage: licenses")
		os.Exit(2)
	}
	faults, err := run(context.Background(), ".", os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "licenses: error:", err)
		os.Exit(2)
	}
	for _, f := range faults {
		fmt.Fprintln(os.Stderr, "licenses: error:", f)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
}

// run checks the programs in the repository at root, prints a summary, and returns what is wrong.
func run(ctx context.Context, root string, out io.Writer) ([]string, error) {
	modules, err := linked(ctx, root, programs())
	if err != nil {
		return nil, err
	}
	c, err := newClassifier()
	if err != nil {
		return nil, err
	}
	found := map[string]licensing{}
	for path, m := range modules {
		l, err := c.read(m)
		if err != nil {
			return nil, errors.Wrap(err, path)
		}
		found[path] = l
	}
	_, err = io.WriteString(out, summary(found))
	return faults(found, exceptions()), errors.Wrap(err, "cannot print the licenses")
}

// summary returns a line for each combination of licenses, with the number of its modules. The most frequent one is first.
func summary(found map[string]licensing) string {
	count := map[string]int{}
	for _, l := range found {
		count[l.String()]++
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		if n := count[b] - count[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%4d  %s\n", count[name], name)
	}
	return b.String()
}
