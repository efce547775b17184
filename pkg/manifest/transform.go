// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// validateFuncs of who uses the package: without a digest nobody knows whether a transform changed.
func (s *Set) validateFuncs() error {
	for i := range s.Transforms {
		switch t := &s.Transforms[i]; {
		case t.Digest == "":
			return errors.Errorf("transforms[%d] has no digest", i)
		case t.Func == nil:
			return errors.Errorf("transforms[%d] %s has no function", i, t.Digest)
		}
	}
	for i := range s.Readiness {
		if err := s.Readiness[i].validate(); err != nil {
			return errors.Wrapf(err, "readiness[%d]", i)
		}
	}
	return nil
}

func (s *Set) transformDigests() []string {
	out := make([]string, 0, len(s.Transforms))
	for i := range s.Transforms {
		out = append(out, s.Transforms[i].Digest)
	}
	return out
}

// transform objects as the set wants it, each by all transforms in their order.
func (w *work) transform(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for i := range w.s.Transforms {
		t := &w.s.Transforms[i]
		for _, u := range objects {
			gk, k := u.GroupVersionKind().GroupKind(), object.RefOf(u)
			err := t.call(ctx, u)
			if now := u.GroupVersionKind().GroupKind(); err == nil && now != gk {
				err = errors.Errorf("it makes a %s of it, and must leave the kind as it is", now)
			}
			if err == nil && u.GetName() == "" {
				err = errors.New("it takes the name away")
			}
			if err != nil {
				return errors.Wrapf(err, "transform %s: %s", t.Digest, k)
			}
		}
	}
	return nil
}

func (t *Transform) call(ctx context.Context, u *unstructured.Unstructured) (err error) {
	defer caught(&err)
	return t.Func(ctx, u)
}

// call the function of a rule.
func (r Rule) call(ctx context.Context, u *unstructured.Unstructured) (s State, message string, err error) {
	defer caught(&err)
	if s, message, err = r.Func(ctx, u); err != nil {
		return Error, "", err
	}
	if !s.Valid() {
		return Error, "", errors.Errorf("the readiness function gives the state %q, which is none", s)
	}
	if s != Ready {
		message = cmp.Or(text.OneLine(message), "the readiness function says "+string(s))
	}
	return s, message, nil
}

// caught turns a panic of somebody else's function into an error: it must not end a process that works on other sets too.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = errors.New(text.OneLine(fmt.Sprintf("panic: %v", r)))
	}
}

func (r Rule) validate() error {
	switch {
	case r.CEL == "" && r.Func == nil:
		return errors.New("has neither an expression nor a function")
	case r.CEL != "" && r.Func != nil:
		return errors.New("has an expression and a function; take one of them out")
	}
	return nil
}

// id tells rules for one kind apart, as far as that can be told: a function is taken for the one of before.
func (r Rule) id() string {
	if r.Func != nil {
		return "func"
	}
	return r.CEL
}
