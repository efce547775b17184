// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/render/config"
)

// maxWarnings bounds the number of warnings that a hostile module can cause.
const maxWarnings = 200

// A Subject is a module in the form in which it would be installed.
type Subject struct {
	CRDs     []archive.File // Files of the crds layer.
	Installs []Install      // In the order in which they are installed.
	Config   []config.Entry
	// CustomResource is the default custom resource, or nil.
	CustomResource *unstructured.Unstructured
	// CustomResourceFile is the name of its file, for messages; it may be empty.
	CustomResourceFile string
	Readiness          []v1alpha1.ReadinessRule
}

// An Install is a chart or plain YAML.
type Install struct {
	Name  string
	Chart bool // Files are the files of a chart; otherwise each is YAML.
	Files []archive.File
}

// A Result is the result of a check.
type Result struct {
	// Objects holds the objects that each install would apply with default values, by the name of the install. It
	// includes the CRDs of charts.
	Objects map[string][]*unstructured.Unstructured
	// Hooks are the manifests of the hooks of charts. They are not checked.
	Hooks []string
	// Warnings has at most 201 sorted entries of one line each: images that are not pinned, hooks, and the like.
	Warnings []string
}

// Module checks a module: charts render, YAML contains objects, config entries name installs and parse, an API server
// would accept the CRDs, the custom resource conforms to the schema of its CRD (if the module has one), no object
// occurs twice, readiness rules compile. The error is one line that names file, object and field. It does not change
// the subject.
func Module(ctx context.Context, s Subject) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkReadiness(s.Readiness); err != nil {
		return nil, err
	}
	configs, err := readConfigs(s.Config, s.Installs)
	if err != nil {
		return nil, err
	}
	w := &warnings{}
	crds, err := readCRDs(ctx, s.CRDs, w)
	if err != nil {
		return nil, err
	}
	found := contents{crds: crds, installs: map[key]string{}}
	result, err := checkInstalls(ctx, s.Installs, configs, found, w)
	if err != nil {
		return nil, err
	}
	if err := checkCustomResource(ctx, s.CustomResource, s.CustomResourceFile, found, w); err != nil {
		return nil, err
	}
	result.Warnings = w.sorted()
	return result, nil
}

// warnings collects the warnings of one check.
type warnings struct{ lines []string }

func (w *warnings) addf(format string, args ...any) {
	w.lines = append(w.lines, oneLine(fmt.Sprintf(format, args...)))
}

// sorted returns the warnings, sorted and without duplicates.
func (w *warnings) sorted() []string {
	slices.Sort(w.lines)
	out := slices.Compact(w.lines)
	if n := len(out) - maxWarnings; n > 0 {
		out = append(out[:maxWarnings], "… and "+strconv.Itoa(n)+" more warnings")
	}
	return out
}
