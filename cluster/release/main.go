// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/mod/semver"

	"github.com/crossplane-contrib/provider-kyma/cluster/images/image"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

const (
	// repositoryURL is the address of the repository.
	repositoryURL = "https://github.com/crossplane-contrib/provider-kyma"
	// guide is the page that explains how a release is built.
	guide = repositoryURL + "/blob/main/docs/releasing.md"
	// allPlatforms are those of kymactl. Images exist for those with linux.
	allPlatforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "release: error:", err)
		os.Exit(1)
	}
}

// An order is what the command line requests.
type order struct {
	source    image.Source
	platforms []image.Platform
	// dir is the output directory. It must be empty or missing.
	dir string
	// registry is where the image and the packages are pushed, without their names. If it is empty, nothing is pushed.
	registry string
	// key is the private key of cosign. If it is empty, nothing is signed.
	key string
	// baseURL is the address of the directory from which users download the files.
	baseURL string
	// builder is the URI of what runs the build, for the provenance.
	builder string
	// modified allows changes that are not committed.
	modified bool
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.source.Root, err = tools.Root(); err != nil {
		return err
	}
	c, err := head(ctx, o.source.Root)
	if err != nil {
		return err
	}
	if c.modified && !o.modified {
		return errors.New("the source has changes that are not committed, so no one could build the same release: commit them, or use -allow-modified for a test")
	}
	toolchain, err := pinned(o.source.Root)
	if err != nil {
		return err
	}
	o.source.Commit = c.short()
	if err := prepare(o.dir); err != nil {
		return err
	}
	r := &release{order: o, commit: c, out: out, sums: map[string]string{}, digests: map[string]string{}}
	if err := r.build(ctx); err != nil {
		return err
	}
	if err := r.describe(); err != nil {
		return err
	}
	if line := deviation(r.toolchain, toolchain); line != "" {
		r.sayf("%s", line)
	}
	return r.publish(ctx)
}

func parse(args []string) (order, error) {
	var o order
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("dir", filepath.Join("bin", "release"), "output directory, which must be empty or missing")
	platforms := flags.String("platforms", allPlatforms, "comma-separated platforms of kymactl, and those with linux of the image")
	flags.StringVar(&o.source.Version, "version", "", "version of the release, such as v0.1.0")
	flags.StringVar(&o.registry, "registry", "", "registry and path to which the image and the packages are pushed")
	flags.StringVar(&o.key, "key", "", "private key of cosign")
	flags.StringVar(&o.baseURL, "base-url", "", "URL from which the files are downloaded (default: that of the release on GitHub)")
	flags.StringVar(&o.builder, "builder", guide+"#by-hand", "URI of what runs the build, for the provenance")
	flags.BoolVar(&o.modified, "allow-modified", false, "allow changes that are not committed")
	if err := flags.Parse(args); err != nil {
		return order{}, errors.Wrap(err, "invalid command line; see cluster/release/doc.go")
	}
	if flags.NArg() > 0 {
		return order{}, errors.Errorf("unknown argument %q; see cluster/release/doc.go", flags.Arg(0))
	}
	if !semver.IsValid(o.source.Version) || semver.Canonical(o.source.Version) != o.source.Version {
		return order{}, errors.Errorf("invalid version %q: use a semantic version such as v0.1.0", o.source.Version)
	}
	if o.baseURL == "" {
		o.baseURL = repositoryURL + "/releases/download/" + o.source.Version
	}
	var err error
	if o.platforms, err = image.ParsePlatforms(*platforms); err != nil {
		return order{}, err
	}
	if len(o.linux()) == 0 {
		return order{}, errors.Errorf("no platform of %q can have an image: add linux/amd64 or linux/arm64", *platforms)
	}
	o.dir, err = filepath.Abs(*dir)
	return o, errors.Wrap(err, "cannot determine the output directory")
}

// linux returns the platforms of the image.
func (o *order) linux() []image.Platform {
	var out []image.Platform
	for _, p := range o.platforms {
		if p.OS == "linux" {
			out = append(out, p)
		}
	}
	return out
}

// prepare creates the output directory. Files that it already has could be taken for those of the release.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // What is shipped is not secret.
		return errors.Wrap(err, "cannot create the output directory")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return errors.Wrap(err, "cannot read the output directory")
	}
	if len(entries) > 0 {
		return errors.Errorf("the output directory %q is not empty: remove it", dir)
	}
	return nil
}
