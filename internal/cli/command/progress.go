// SPDX-License-Identifier: Apache-2.0

package command

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress shows how far a transfer of bytes is, where a person watches: the
// first result is told of it, the second ends it. Both may always be called.
func (e *Environment) Progress(what string) (report func(done, total int64), end func()) {
	if !e.Terminal || e.Quiet {
		return func(int64, int64) {}, func() {}
	}
	bar := progressbar.NewOptions64(-1, append(e.barOptions(what), progressbar.OptionShowBytes(true))...)
	report = func(done, total int64) {
		if bar.GetMax64() != total {
			bar.ChangeMax64(total)
		}
		// A bar that cannot be drawn is no reason to stop.
		_ = bar.Set64(done)
	}
	return report, func() { _ = bar.Clear() }
}

// Waiting shows what is waited for, where a person watches. The first result
// changes the text, the second ends it.
func (e *Environment) Waiting(what string) (say func(text string), end func()) {
	if !e.Terminal || e.Quiet {
		return func(string) {}, func() {}
	}
	bar := progressbar.NewOptions64(-1, e.barOptions(what)...)
	return func(text string) {
		bar.Describe(Printable(text))
		_ = bar.Add(1)
	}, func() { _ = bar.Clear() }
}

func (e *Environment) barOptions(what string) []progressbar.Option {
	return []progressbar.Option{
		progressbar.OptionSetWriter(e.Err),
		progressbar.OptionSetDescription(Printable(what)),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionClearOnFinish(),
	}
}
