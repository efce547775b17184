// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/vuln/scan"
)

// Exit codes. Those of govulncheck are 0, 1, 2 and 3.
const (
	exitError       = 1
	exitUsage       = 2
	exitUnreachable = 75
)

// patience is the time that the database has to answer.
const patience = time.Minute

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run checks the packages and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("vulncheck", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("C", ".", "the directory of the module")
	db := flags.String("db", "", "the URL of the database of vulnerabilities, such as file:///path. The default is that of govulncheck")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	if flags.NArg() == 0 {
		sayf(stderr, "error: name the packages to check, for example ./cmd/...")
		return exitUsage
	}
	var common []string
	if *db != "" {
		common = []string{"-db", *db}
	}
	if err := reach(ctx, *db, common); err != nil {
		return unreachable(stderr, err)
	}
	err := govulncheck(ctx, stdout, stderr, append(append(common, "-C", *dir), flags.Args()...)...)
	var code interface{ ExitCode() int }
	var network *url.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return code.ExitCode()
	case errors.As(err, &network):
		return unreachable(stderr, err)
	}
	sayf(stderr, "error: %s", oneLine(err))
	return exitError
}

func unreachable(stderr io.Writer, err error) int {
	sayf(stderr, "NOT CHECKED: the database of vulnerabilities cannot be reached: %s", oneLine(err))
	return exitUnreachable
}

func sayf(stderr io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(stderr, "vulncheck: "+format+"\n", args...)
}

// oneLine returns the message of an error as one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// govulncheck runs govulncheck in this process.
func govulncheck(ctx context.Context, stdout, stderr io.Writer, args ...string) error {
	cmd := scan.Command(ctx, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(""), stdout, stderr
	if err := cmd.Start(); err != nil {
		return errors.Wrap(err, "cannot start govulncheck")
	}
	return cmd.Wait() //nolint:wrapcheck // The caller reads the type.
}

// reach returns why the database cannot be read. It reads the index, which is small.
func reach(ctx context.Context, db string, common []string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// If such a database cannot be reached, govulncheck reports that its format is unknown.
	if strings.HasPrefix(db, "http://") || strings.HasPrefix(db, "https://") {
		if err := get(ctx, strings.TrimRight(db, "/")+"/index/modules.json.gz"); err != nil {
			return err
		}
	}
	var stderr bytes.Buffer
	// Any module will do.
	err := govulncheck(ctx, io.Discard, &stderr, append(common, "-mode=query", "-json", "stdlib@v1.0.0")...)
	return errors.Wrapf(err, "cannot read the index%s", stderr.String())
}

func get(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errors.Wrap(err, "the URL is invalid")
	}
	// The transport of this client uses the proxy of the environment.
	resp, err := (&http.Client{}).Do(req)
	if err != nil {
		return err //nolint:wrapcheck // The message names the URL.
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return errors.Errorf("GET %s: %s", address, resp.Status)
	}
	return nil
}
