// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A commit identifies the source of a release.
type commit struct {
	// id is the full name of the commit.
	id   string
	time time.Time
	// modified is true if the working tree has changes that are not committed.
	modified bool
}

// short returns the commit as the binaries print it.
func (c commit) short() string { return c.id[:min(12, len(c.id))] }

// head returns the commit of a working tree.
func head(ctx context.Context, dir string) (commit, error) {
	said, err := git(ctx, dir, "show", "--no-patch", "--format=%H %ct", "HEAD")
	if err != nil {
		return commit{}, err
	}
	id, seconds, _ := strings.Cut(said, " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return commit{}, errors.Wrap(err, "cannot parse the time of the commit")
	}
	changes, err := git(ctx, dir, "status", "--porcelain")
	return commit{id: id, time: time.Unix(unix, 0).UTC(), modified: changes != ""}, err
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), errors.Wrapf(err, "git %s: %s", args[0], strings.TrimSpace(stderr.String()))
}
