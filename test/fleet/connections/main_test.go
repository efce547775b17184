// SPDX-License-Identifier: Apache-2.0

package connections

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
)

// clusters is the number of clusters of the measurement.
var clusters = flag.Int("fleet.clusters", 20, "number of clusters")

// profile is the file to which the heap of connections at rest is written.
var profile = flag.String("fleet.profile", "", "file for a profile of the heap")

// serverFor is the environment variable with the number of clusters that makes the test process a server for them.
const serverFor = "FLEET_SERVER_FOR"

func TestMain(m *testing.M) {
	n, err := strconv.Atoi(os.Getenv(serverFor))
	if err != nil {
		os.Exit(m.Run())
	}
	if err := serve(n); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve serves clusters until its input ends. It writes their REST configs.
func serve(n int) error {
	s, err := apiserver.Start(context.Background(), apiserver.Options{Cluster: cluster.Options{NoControllers: true}})
	if err != nil {
		return err
	}
	defer s.Stop()
	for i := range n {
		name := fmt.Sprintf("c%d", i)
		if err := s.AddCluster(name); err != nil {
			return err
		}
		rc := s.Config(name)
		b, err := json.Marshal(target{Host: rc.Host, Token: rc.BearerToken, Name: rc.ServerName, CA: rc.CAData})
		if err != nil {
			return errors.Wrap(err, "cannot encode")
		}
		if _, err := fmt.Fprintln(os.Stdout, string(b)); err != nil {
			return errors.Wrap(err, "cannot write")
		}
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Wrap(err, "cannot wait for the end of the test")
}

// A target is the part of a REST config that differs between clusters.
type target struct {
	Host, Token, Name string
	CA                []byte
}

func (c target) config() *rest.Config {
	return &rest.Config{Host: c.Host, BearerToken: c.Token, TLSClientConfig: rest.TLSClientConfig{ServerName: c.Name, CAData: c.CA}}
}

// serveElsewhere serves clusters in another process, whose goroutines and memory are not measured.
func serveElsewhere(t *testing.T, n int) []target {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	c.Env, c.Stderr = append(os.Environ(), serverFor+"="+strconv.Itoa(n)), os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	all := make([]target, n)
	lines := bufio.NewReader(out)
	for i := range all {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(line, &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
