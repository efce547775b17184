// SPDX-License-Identifier: Apache-2.0

package command

import (
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/crossplane-contrib/provider-kyma/internal/printable"
)

// Progress shows a progress bar for a transfer of bytes on a terminal, unless Quiet is set. report updates the bar, and end
// removes it. Neither is nil.
func (e *Environment) Progress(what string) (report func(done, total int64), end func()) {
	if !e.Terminal || e.Quiet {
		return func(int64, int64) {}, func() {}
	}
	bar := progressbar.NewOptions64(-1, append(e.barOptions(what), progressbar.OptionShowBytes(true))...)
	report = func(done, total int64) {
		if bar.GetMax64() != total {
			bar.ChangeMax64(total)
		}
		// An error while drawing must not stop the transfer.
		_ = bar.Set64(done)
	}
	return report, func() { _ = bar.Clear() }
}

// Waiting shows a spinner with a text on a terminal, unless Quiet is set. say changes the text, and end removes the spinner.
// Neither is nil.
func (e *Environment) Waiting(what string) (say func(text string), end func()) {
	if !e.Terminal || e.Quiet {
		return func(string) {}, func() {}
	}
	bar := progressbar.NewOptions64(-1, e.barOptions(what)...)
	return func(text string) {
		bar.Describe(printable.Text(text, ""))
		_ = bar.Add(1)
	}, func() { _ = bar.Clear() }
}

func (e *Environment) barOptions(what string) []progressbar.Option {
	return []progressbar.Option{
		progressbar.OptionSetWriter(e.Err),
		progressbar.OptionSetDescription(printable.Text(what, "")),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionClearOnFinish(),
	}
}
