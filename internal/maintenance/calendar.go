// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // The image of the provider contains no time zones.

	"github.com/robfig/cron/v3"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A Calendar contains the maintenance windows of a Kyma. An empty one is always open.
type Calendar struct {
	windows []window
}

// A window opens at the times of a schedule in a time zone, and stays open for a duration.
type window struct {
	schedule cron.Schedule
	zone     *time.Location
	duration time.Duration
}

// A State is the state of a Calendar at one time.
type State struct {
	// Open is true if a window is open.
	Open bool
	// Opens is when a window opens next, in its time zone. It is zero if one is open, or if none opens within five years.
	Opens time.Time
}

// firstDay begins the five years in which each schedule must occur. It is in a leap year.
func firstDay() time.Time { return time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC) }

// Parse parses maintenance windows. An error names the field, and its index, that has to be corrected.
func Parse(windows []v1alpha1.MaintenanceWindow) (Calendar, error) {
	out := Calendar{windows: make([]window, 0, len(windows))}
	for i := range windows {
		w, err := parse(&windows[i])
		if err != nil {
			return Calendar{}, errors.Wrapf(err, "spec.forProvider.maintenanceWindows[%d]", i)
		}
		out.windows = append(out.windows, w)
	}
	return out, nil
}

func parse(w *v1alpha1.MaintenanceWindow) (window, error) {
	const advice = "use minute, hour, day of the month, month and day of the week, such as \"0 2 * * 6\""
	if strings.Contains(w.Schedule, "=") {
		return window{}, errors.Errorf("schedule %q contains a time zone; set timeZone instead", w.Schedule)
	}
	schedule, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(w.Schedule)
	if err != nil {
		return window{}, errors.Wrapf(err, "schedule %q is invalid, %s", w.Schedule, advice)
	}
	if schedule.Next(firstDay()).IsZero() {
		return window{}, errors.Errorf("schedule %q never occurs; %s", w.Schedule, advice)
	}
	zone, err := zoneOf(w.TimeZone)
	if err != nil || zone == time.Local { //nolint:gosmopolitan // It is refused, because it depends on the machine.
		return window{}, errors.Errorf("timeZone %q is unknown; use a name of the IANA time zone database, such as Europe/Berlin", w.TimeZone)
	}
	if w.Duration.Duration <= 0 {
		return window{}, errors.Errorf("duration %s is not positive", w.Duration.Duration)
	}
	return window{schedule: schedule, zone: zone, duration: w.Duration.Duration}, nil
}

// zones contains the time zones that were loaded, by name. Their number is limited by the IANA time zone database.
var zones sync.Map //nolint:gochecknoglobals // A cache of constants.

// zoneOf returns a time zone. To load one parses its file each time, and each pass of a rollout asks for the zones of all Kymas that wait.
func zoneOf(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil //nolint:forcetypeassert // Only zones are stored.
	}
	zone, err := time.LoadLocation(name)
	if err == nil {
		zones.Store(name, zone)
	}
	return zone, err //nolint:wrapcheck // The caller explains it.
}

// At returns the state at a time.
func (c Calendar) At(now time.Time) State {
	if len(c.windows) == 0 {
		return State{Open: true}
	}
	out := State{}
	for i := range c.windows {
		w := &c.windows[i]
		// The window is open if it began within its duration, however often it began.
		if start := w.next(now.Add(-w.duration)); !start.IsZero() && !start.After(now) {
			return State{Open: true}
		}
		if opens := w.next(now); !opens.IsZero() && (out.Opens.IsZero() || opens.Before(out.Opens)) {
			out.Opens = opens
		}
	}
	return out
}

// maxOffsets is the maximum number of changes of the offset of a time zone that next follows. No zone has as many within five years.
const maxOffsets = 64

// next returns the first start of the window after a time, or zero if there is none within five years. It divides the time into
// intervals with a constant offset from UTC, in which the schedule applies to the local time. A start that the local time skips is the
// end of the gap. A start that occurs twice begins the window twice.
func (w *window) next(after time.Time) time.Time {
	at := after.In(w.zone)
	local := onClock(at)
	for range maxOffsets {
		start := w.schedule.Next(local)
		if start.IsZero() {
			return time.Time{}
		}
		_, end := at.ZoneBounds()
		began := start.Add(-offsetOf(at)).In(w.zone)
		if end.IsZero() || began.Before(end) {
			return began
		}
		at = end.In(w.zone)
		local = onClock(at)
		if start.Before(local) {
			return at
		}
		// The schedule returns times after the given one only.
		local = local.Add(-time.Nanosecond)
	}
	return time.Time{}
}

// onClock returns what a clock in the time zone of a time shows, as a time in UTC.
func onClock(t time.Time) time.Time { return t.Add(offsetOf(t)).UTC() }

// offsetOf returns the offset of a time from UTC.
func offsetOf(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}
