// SPDX-License-Identifier: Apache-2.0

package lazylog

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	uzap "go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// TestCore checks that a logger writes the same with the core as without it.
func TestCore(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Labels: map[string]string{"a": "b"}}}
	cases := map[string]struct {
		reason string
		log    func(l *uzap.Logger)
	}{
		"Plain":  {"There are no fields.", func(l *uzap.Logger) { l.Info("hello") }},
		"Fields": {"An entry has fields of its own.", func(l *uzap.Logger) { l.With(uzap.String("a", "1")).Info("hello", uzap.Int("b", 2)) }},
		"Chain":  {"The fields of several loggers have their order.", func(l *uzap.Logger) { l.With(uzap.String("a", "1")).With(uzap.String("b", "2")).Error("hello") }},
		"Siblings": {"Loggers with the same parent don't share fields.", func(l *uzap.Logger) {
			parent := l.With(uzap.String("a", "1")).With(uzap.String("b", "2")).With(uzap.String("c", "3"))
			one, two := parent.With(uzap.String("d", "4")), parent.With(uzap.String("e", "5"))
			one.Info("one")
			two.Info("two")
		}},
		"Namespace":    {"A namespace contains the fields after it.", func(l *uzap.Logger) { l.With(uzap.Namespace("n")).With(uzap.String("a", "1")).Info("hello") }},
		"Object":       {"An object is written as a whole in debug mode, without fields of the logger.", func(l *uzap.Logger) { l.Info("hello", uzap.Any("object", secret)) }},
		"ObjectFields": {"With fields, its name is written.", func(l *uzap.Logger) { l.With(uzap.String("a", "1")).Info("hello", uzap.Any("object", secret)) }},
		"Disabled":     {"A level that is not logged writes nothing.", func(l *uzap.Logger) { l.With(uzap.String("a", "1")).Debug("hello") }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, debug := range []bool{false, true} {
				var want, got bytes.Buffer
				tc.log(newLogger(&want, zap.UseDevMode(debug)))
				tc.log(newLogger(&got, zap.UseDevMode(debug), zap.RawZapOpts(uzap.WrapCore(Core))))
				if diff := cmp.Diff(want.String(), got.String()); diff != "" {
					t.Errorf("%s\ndebug %t, -want, +got:\n%s", tc.reason, debug, diff)
				}
			}
		})
	}
}

// newLogger returns a logger of entries without times.
func newLogger(to *bytes.Buffer, opts ...zap.Opts) *uzap.Logger {
	encoder := uzap.NewProductionEncoderConfig()
	encoder.TimeKey = ""
	return zap.NewRaw(append(opts, zap.WriteTo(to), zap.StacktraceLevel(zapcore.PanicLevel), zap.Encoder(zapcore.NewJSONEncoder(encoder)))...)
}

// TestCoreAllocates checks that a logger that writes nothing costs less than the buffer of an encoder, which has 1 KiB.
func TestCoreAllocates(t *testing.T) {
	var out bytes.Buffer
	l := newLogger(&out, zap.RawZapOpts(uzap.WrapCore(Core)))
	result := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		b.ReportAllocs()
		for range b.N {
			l.With(uzap.String("request", "namespace/name")).Debug("nothing")
		}
	})
	if n := result.AllocedBytesPerOp(); n >= 1<<10 {
		t.Errorf("want less than 1 KiB for a logger, got %d bytes", n)
	}
	if out.Len() > 0 {
		t.Errorf("want no output, got %q", out.String())
	}
}
