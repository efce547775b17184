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

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// providerName is the name of the provider's image and of its package.
const providerName = "provider-kyma"

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
	// root is the directory of the repository.
	root string
	// dir is the output directory.
	dir string
	// version is the version that the provider prints.
	version string
	// commit is the commit that the provider prints.
	commit    string
	platforms []platform
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
	image := flags.String("name", "", "name of the image in an archive for docker load")
	if err := flags.Parse(args); err != nil {
		return errors.Wrap(err, "invalid command line; see cluster/images/doc.go")
	}
	o := order{version: *version, commit: *commit}
	var err error
	if *image != "" {
		if o.tag, err = name.NewTag(*image); err != nil {
			return errors.Wrap(err, "invalid name of the image")
		}
	}
	if o.platforms, err = parsePlatforms(*platforms); err != nil {
		return err
	}
	if o.dir, err = filepath.Abs(*dir); err != nil {
		return errors.Wrap(err, "cannot determine the output directory")
	}
	if o.root, err = tools.Root(); err != nil {
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
