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
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/crossplane-contrib/provider-kyma/cluster/images/image"
	"github.com/crossplane-contrib/provider-kyma/cluster/images/xpkg"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "images: error:", err)
		os.Exit(1)
	}
}

// An order is what the command line requests.
type order struct {
	source image.Source
	// dir is the output directory.
	dir       string
	platforms []image.Platform
	// tag is the name of the image in bin/image.tar. Without a tag, that file is not written.
	tag name.Tag
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("images", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("dir", "bin", "output directory")
	version := flags.String("version", "v0.0.0-dev", "version of the provider")
	commit := flags.String("commit", "", "commit of the source code")
	platforms := flags.String("platforms", "linux/amd64,linux/arm64", "comma-separated platforms of the image")
	tag := flags.String("name", "", "name of the image in an archive for docker load")
	if err := flags.Parse(args); err != nil {
		return errors.Wrap(err, "invalid command line; see cluster/images/doc.go")
	}
	o := order{source: image.Source{Version: *version, Commit: *commit}}
	var err error
	if *tag != "" {
		if o.tag, err = name.NewTag(*tag); err != nil {
			return errors.Wrap(err, "invalid name of the image")
		}
	}
	if o.platforms, err = image.ParsePlatforms(*platforms); err != nil {
		return err
	}
	if o.dir, err = filepath.Abs(*dir); err != nil {
		return errors.Wrap(err, "cannot determine the output directory")
	}
	if o.source.Root, err = tools.Root(); err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil { //nolint:gosec // What is shipped is not secret.
		return errors.Wrap(err, "cannot create the output directory")
	}
	switch flags.Arg(0) {
	case "image":
		return makeImage(ctx, o, out)
	case "xpkg":
		return makePackages(ctx, o, out)
	default:
		return errors.Errorf("unknown target %q: must be image or xpkg", flags.Arg(0))
	}
}

// say prints a line that scripts can parse.
func say(out io.Writer, name, digest string) {
	_, _ = fmt.Fprintln(out, name, digest)
}

// makePackages writes the packages of the provider and of the configuration, and prints their digests.
func makePackages(ctx context.Context, o order, out io.Writer) error {
	made, err := images(ctx, o)
	if err != nil {
		return err
	}
	built, err := xpkg.Build(ctx, xpkg.Options{Root: o.source.Root, Dir: o.dir, Platforms: o.platforms, Images: made})
	if err != nil {
		return err
	}
	for _, p := range built {
		say(out, p.Name, p.Digest)
	}
	return nil
}
