// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// portAttempts is the maximum number of starts when other processes take the ports first.
const portAttempts = 5

// RetryTaken calls start again if another process took a port that was just free.
func RetryTaken(start func() error) error {
	var err error
	for range portAttempts {
		if err = start(); err == nil || !strings.Contains(err.Error(), "address already in use") {
			return err
		}
	}
	return err
}

// Await calls check until it succeeds, the process ends, or neither the error nor the log has changed for some time.
func (p *Process) Await(ctx context.Context, what string, check func(context.Context) error) error {
	err := Wait{What: p.name + " is " + what, Every: pollInterval, Broken: p.Err}.Until(ctx, func(ctx context.Context) (bool, string, error) {
		err := check(ctx)
		if err == nil {
			return true, "", nil
		}
		return false, fmt.Sprintf("%v (size of the log: %d bytes)", err, p.logSize()), nil
	})
	if err == nil || p.Err() != nil {
		return err
	}
	return errors.Errorf("%w; last lines of its log (%s):\n%s", err, p.log, p.Tail())
}

func (p *Process) logSize() int64 {
	info, err := os.Stat(p.log)
	if err != nil {
		return 0
	}
	return info.Size()
}

// CheckURL sends a GET request with a timeout and returns an error unless the status is 200.
func CheckURL(ctx context.Context, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := Get(ctx, client, url)
	return err
}

// Get sends a GET request and returns the body of the response, or an error unless the status is 200.
func Get(ctx context.Context, client *http.Client, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", errors.Wrap(err, "cannot create a request")
	}
	res, err := client.Do(req)
	if err != nil {
		return "", err //nolint:wrapcheck // It names the request.
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return "", errors.Errorf("GET %s: %s", url, res.Status)
	}
	body, err := io.ReadAll(res.Body)
	return string(body), errors.Wrapf(err, "cannot read the response to GET %s", url)
}
