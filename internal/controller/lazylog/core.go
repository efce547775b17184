// SPDX-License-Identifier: Apache-2.0

package lazylog

import (
	"slices"

	"go.uber.org/zap/zapcore"
)

// Core returns a core that encodes the fields of With when an entry is written. The fields must not contain anything that changes until then.
func Core(c zapcore.Core) zapcore.Core { return &core{Core: c} }

// A core writes entries to another one.
type core struct {
	zapcore.Core

	fields []zapcore.Field
}

// With adds fields to each entry.
func (c *core) With(fields []zapcore.Field) zapcore.Core {
	return &core{Core: c.Core, fields: append(slices.Clip(c.fields), fields...)}
}

// Check adds the other core to an entry that it writes.
func (c *core) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !c.Enabled(e.Level) {
		return to
	}
	return c.encoded().Check(e, to)
}

// Write writes an entry.
func (c *core) Write(e zapcore.Entry, fields []zapcore.Field) error {
	return c.encoded().Write(e, fields) //nolint:wrapcheck // It is the same core.
}

// encoded returns the other core with the fields. Without any, it must be the same one: a copy of it would write objects in another way.
func (c *core) encoded() zapcore.Core {
	if len(c.fields) == 0 {
		return c.Core
	}
	return c.Core.With(c.fields)
}
