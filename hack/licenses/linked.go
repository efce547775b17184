// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A program is a main package, and a platform for which it is released.
type program struct{ path, system, architecture string }

// programs returns all released programs. The operating system determines which packages are linked, and in a few modules,
// so does the architecture.
func programs() []program {
	var out []program
	for _, architecture := range []string{"amd64", "arm64"} {
		out = append(out, program{"./cmd/provider", "linux", architecture})
		for _, system := range []string{"linux", "darwin", "windows"} {
			out = append(out, program{"./cmd/kymactl", system, architecture})
		}
	}
	return out
}

// A module is a Go module, with the directories of those of its packages that are linked.
type module struct {
	root     string
	packages []string
}

// linked returns the modules of all packages that the programs contain, by module path, without the standard library and without
// this repository.
func linked(ctx context.Context, root string, all []program) (map[string]module, error) {
	out := map[string]module{}
	for _, p := range all {
		list, err := list(ctx, root, p)
		if err != nil {
			return nil, err
		}
		if err := add(out, list); err != nil {
			return nil, errors.Wrapf(err, "cannot read the packages of %s", p.path)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("the programs contain no module")
	}
	return out, nil
}

// add adds the packages in the output of go list.
func add(out map[string]module, list []byte) error {
	for d := json.NewDecoder(bytes.NewReader(list)); ; {
		var p struct {
			ImportPath string `json:"ImportPath"`
			Dir        string `json:"Dir"`
			Module     *struct {
				Path string `json:"Path"`
				Dir  string `json:"Dir"`
				Main bool   `json:"Main"`
			} `json:"Module"`
		}
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return errors.Wrap(err, "cannot decode the output of go list")
		case p.Module == nil || p.Module.Main:
			continue
		case p.Module.Dir == "" || p.Dir == "":
			return errors.Errorf("the sources of %s are not on this machine: run go mod download", p.ImportPath)
		}
		m := out[p.Module.Path]
		m.root = p.Module.Dir
		if !slices.Contains(m.packages, p.Dir) {
			m.packages = append(m.packages, p.Dir)
		}
		out[p.Module.Path] = m
	}
}

func list(ctx context.Context, root string, p program) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-mod=readonly", "-deps", "-json=ImportPath,Dir,Module", p.path) //nolint:gosec // The program is one of programs.
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.system, "GOARCH="+p.architecture)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	return out, errors.Wrapf(err, "go list %s: %s", p.path, strings.TrimSpace(stderr.String()))
}
