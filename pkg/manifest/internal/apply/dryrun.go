// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"strings"
	"sync"

	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// Assumed contains the objects that a dry run assumes to exist, because a run would have created them. It is safe for concurrent
// use.
type Assumed struct {
	// Planned is the set of names of the CRDs that would be created or updated.
	Planned map[string]bool

	mu         sync.Mutex
	crds       map[string]bool
	namespaces map[string]bool
}

// Created records an object that would be created.
func (s *Assumed) Created(o *object.Desired) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch o.Stage {
	case object.StageCRDs:
		s.crds = with(s.crds, o.Ref.Name)
	case object.StageNamespaces:
		s.namespaces = with(s.namespaces, o.Ref.Name)
	default:
	}
}

// isUntriable reports whether an object cannot be dry-run because its kind or its namespace does not exist yet.
func (s *Assumed) isUntriable(o *object.Desired) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crds[o.CRD] || (o.Ref.Namespace != "" && s.namespaces[o.Ref.Namespace])
}

// addNamespace assumes that a namespace exists. It returns false if the namespace is already assumed to exist.
func (s *Assumed) addNamespace(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.namespaces[name] {
		return false
	}
	s.namespaces = with(s.namespaces, name)
	return true
}

func with(set map[string]bool, name string) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	set[name] = true
	return set
}

// A dryRunner implements the verbs with dry runs.
type dryRunner struct {
	target  Target
	assumed *Assumed
	// refusals explains why the API server refuses objects.
	refusals refusals
}

func (d *dryRunner) create(ctx context.Context, in *Subject) (Outcome, error) {
	o := in.Object
	if d.assumed.isUntriable(o) {
		return Outcome{Kind: Created}, nil
	}
	_, err := d.target.Client.DryRun(ctx, o, ssa.Create)
	switch {
	case err == nil:
		return Outcome{Kind: Created}, nil
	case ssa.IsNamespaceMissing(err, o.Ref.Namespace):
		return d.createWithNamespace(o)
	}
	return d.explain(o, Created, err)
}

// createWithNamespace returns the outcome for an object whose namespace would be created with it.
func (d *dryRunner) createWithNamespace(o *object.Desired) (Outcome, error) {
	ns := o.Ref.Namespace
	if o.KeepNamespaces {
		return Outcome{}, &ssa.RefusedError{Err: errors.Wrap(ssa.NoNamespace(ns), o.Ref.String())}
	}
	out := Outcome{Kind: Created}
	if d.assumed.addNamespace(ns) {
		out.Note = "namespace " + ns + " would be created"
	}
	return out, nil
}

// applyUnread does nothing, because only a comparison with the object shows what would change.
func (d *dryRunner) applyUnread(context.Context, *Subject) (Outcome, bool, error) {
	return Outcome{}, false, nil
}

func (d *dryRunner) read(ctx context.Context, o *object.Desired) (*Live, error) {
	u, err := d.target.Client.Get(ctx, o.GVK(), o.Ref)
	if err != nil || u == nil {
		return nil, err
	}
	return &Live{PartialObjectMetadata: metadataOf(u), Object: u}, nil
}

// adopt does nothing, because the owners of fields do not affect the values of the fields.
func (d *dryRunner) adopt(_ context.Context, _ *object.Desired, l *Live) (*Live, error) {
	return l, nil
}

func (d *dryRunner) update(ctx context.Context, in *Subject, o *object.Desired, l *Live, ceded []ownership.Ceded) (Outcome, error) {
	fields, err := d.target.Client.DryRunDifferences(ctx, o, l.Object)
	if kerrors.IsInvalid(err) {
		fields, err = d.dryRunCleared(ctx, o, l.Object, err)
	}
	if err != nil {
		if out, known, err := d.refusals.outcome(ctx, in, l.PartialObjectMetadata, err); known {
			return out, err
		}
		return d.explain(in.Object, Updated, err)
	}
	if len(fields) == 0 && (!in.Drifted || !ownership.IsDrift(false, len(ceded))) {
		// The object is written differently, but has the same meaning.
		return Outcome{}, nil
	}
	return Outcome{Kind: Updated, Fields: fields}, nil
}

// explain translates the refusal of a dry run into the outcome or the error of the attempted operation.
func (d *dryRunner) explain(o *object.Desired, k Kind, err error) (Outcome, error) {
	switch {
	case isWithoutDryRun(err):
		return Outcome{Kind: k, Note: o.Ref.String() + " cannot be checked with a dry run: " + text.OneLine(ssa.Explain(err).Error())}, nil
	case ssa.IsNotServed(err) && d.assumed.Planned[o.CRD]:
		return Outcome{Kind: k, Note: o.Ref.String() +
			" cannot be checked with a dry run: the API version of this kind is not served yet"}, nil
	}
	return Outcome{}, errors.Wrap(ssa.Explain(err), o.Ref.String())
}

// isWithoutDryRun reports whether a dry run failed because an admission webhook has side effects and does not support dry runs.
// The object may still be applied successfully. The API server returns no reason that identifies this error.
func isWithoutDryRun(err error) bool {
	return kerrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry runs")
}
