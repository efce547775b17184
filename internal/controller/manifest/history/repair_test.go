// SPDX-License-Identifier: Apache-2.0

package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

// A line is a logger that keeps the last line.
type line struct {
	logging.Logger

	got []any
}

// Info keeps a line.
func (l *line) Info(message string, fields ...any) { l.got = append([]any{message}, fields...) }

// TestRecordRepairs checks the line of a repair.
func TestRecordRepairs(t *testing.T) {
	l, m := &line{}, manifest(1, "v1", "")
	RecordRepairs(l)(m, 2, 1500*time.Microsecond)
	want := []any{"Repaired drift", "namespace", "team-a", "name", "istio", "module", "service-mesh", "cluster", "ProviderConfig team-a/edge", "objects", 2, "duration", "2ms"}
	if diff := cmp.Diff(want, l.got); diff != "" {
		t.Errorf("RecordRepairs(...): -want, +got:\n%s", diff)
	}
}
