// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

func windowOf(schedule, zone, duration string) v1alpha1.MaintenanceWindow {
	d, err := time.ParseDuration(duration)
	if err != nil {
		panic(err)
	}
	return v1alpha1.MaintenanceWindow{Schedule: schedule, TimeZone: zone, Duration: metav1.Duration{Duration: d}}
}

func timeOf(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason  string
		windows []v1alpha1.MaintenanceWindow
		want    []string
	}{
		"None":      {"A Kyma without windows is valid.", nil, nil},
		"Names":     {"Names of days and months are part of the standard format.", []v1alpha1.MaintenanceWindow{windowOf("0 2 * JAN-MAR SAT,SUN", "Europe/Berlin", "2h")}, nil},
		"UTC":       {"A window without a time zone is in UTC.", []v1alpha1.MaintenanceWindow{windowOf("0 2 * * *", "", "2h")}, nil},
		"LeapDay":   {"A schedule that occurs every four years occurs.", []v1alpha1.MaintenanceWindow{windowOf("0 0 29 2 *", "", "24h")}, nil},
		"Index":     {"The message names the window that is wrong.", []v1alpha1.MaintenanceWindow{windowOf("0 2 * * *", "", "2h"), windowOf("0 2 * *", "", "2h")}, []string{"spec.forProvider.maintenanceWindows[1]: schedule", "found 4", "minute, hour"}},
		"Range":     {"A value out of range is not corrected.", []v1alpha1.MaintenanceWindow{windowOf("0 25 * * *", "", "2h")}, []string{"[0]: schedule", "25"}},
		"Shorthand": {"A shorthand is not one of five fields.", []v1alpha1.MaintenanceWindow{windowOf("@every 1h", "", "2h")}, []string{"[0]: schedule"}},
		"Seconds":   {"A sixth field is not part of the format.", []v1alpha1.MaintenanceWindow{windowOf("0 0 2 * * *", "", "2h")}, []string{"[0]: schedule", "found 6"}},
		"TwoZones":  {"A time zone in the schedule would replace the other one.", []v1alpha1.MaintenanceWindow{windowOf("TZ=UTC", "", "2h")}, []string{"[0]: schedule", "timeZone"}},
		"Never":     {"A day that does not exist would block upgrades without a message.", []v1alpha1.MaintenanceWindow{windowOf("0 0 31 2 *", "", "2h")}, []string{"[0]: schedule", "never occurs"}},
		"Empty":     {"A list without a value never occurs.", []v1alpha1.MaintenanceWindow{windowOf(", 0 1 1 *", "", "2h")}, []string{"[0]: schedule", "never occurs"}},
		"Zone":      {"An unknown time zone is not replaced by UTC.", []v1alpha1.MaintenanceWindow{windowOf("0 2 * * *", "Europe/Berlni", "2h")}, []string{`[0]: timeZone "Europe/Berlni" is unknown`}},
		"Local":     {"The time zone of the machine is not the one of the user.", []v1alpha1.MaintenanceWindow{windowOf("0 2 * * *", "Local", "2h")}, []string{`[0]: timeZone "Local" is unknown`}},
		"Path":      {"A time zone is not a path.", []v1alpha1.MaintenanceWindow{windowOf("0 2 * * *", "../../etc/passwd", "2h")}, []string{"[0]: timeZone"}},
		"Duration":  {"A window without a duration never opens.", []v1alpha1.MaintenanceWindow{windowOf("0 2 * * *", "", "0s")}, []string{"[0]: duration"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(tc.windows)
			if (err == nil) != (tc.want == nil) {
				t.Fatalf("%s\nParse(...): want an error with %q, got %v", tc.reason, tc.want, err)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s\nParse(...): want an error with %q, got %q", tc.reason, want, err)
				}
			}
		})
	}
}

func TestAt(t *testing.T) {
	const open = "open"
	nightly := windowOf("0 2 * * *", "Europe/Berlin", "2h")
	cases := map[string]struct {
		reason  string
		windows []v1alpha1.MaintenanceWindow
		now     string
		want    string
	}{
		"Always":        {"Without windows, upgrades begin at any time.", nil, "2026-11-27T12:00:00Z", open},
		"Before":        {"A closed window opens in its time zone.", []v1alpha1.MaintenanceWindow{nightly}, "2026-11-27T00:59:59Z", "2026-11-27T02:00:00+01:00"},
		"Start":         {"A window is open from its first moment.", []v1alpha1.MaintenanceWindow{nightly}, "2026-11-27T01:00:00Z", open},
		"LastSecond":    {"A window is open until its duration has passed.", []v1alpha1.MaintenanceWindow{nightly}, "2026-11-27T02:59:59Z", open},
		"End":           {"A window is closed when its duration has passed.", []v1alpha1.MaintenanceWindow{nightly}, "2026-11-27T03:00:00Z", "2026-11-28T02:00:00+01:00"},
		"Midnight":      {"A window continues after midnight.", []v1alpha1.MaintenanceWindow{windowOf("0 23 * * 6", "", "4h")}, "2026-11-29T02:59:00Z", open},
		"AfterMidnight": {"A window of another day does not open.", []v1alpha1.MaintenanceWindow{windowOf("0 23 * * 6", "", "4h")}, "2026-11-29T03:00:00Z", "2026-12-05T23:00:00Z"},
		"Overlap":       {"A duration that is longer than the interval keeps the window open.", []v1alpha1.MaintenanceWindow{windowOf("0 0 * * *", "", "25h")}, "2026-11-29T23:59:00Z", open},
		"EachMinute":    {"Minutes that follow each other leave no gap.", []v1alpha1.MaintenanceWindow{windowOf("* * * * *", "Europe/Berlin", "1m")}, "2026-11-29T23:59:59Z", open},
		"Any":           {"One open window of several is enough.", []v1alpha1.MaintenanceWindow{windowOf("0 0 1 1 *", "", "1h"), nightly}, "2026-11-27T02:00:00Z", open},
		"First":         {"Of several windows, the next one counts.", []v1alpha1.MaintenanceWindow{windowOf("0 0 1 1 *", "", "1h"), nightly}, "2026-11-27T12:00:00Z", "2026-11-28T02:00:00+01:00"},
		"Week":          {"A window can last a week.", []v1alpha1.MaintenanceWindow{windowOf("0 0 1 * *", "", "168h")}, "2026-11-07T23:59:59Z", open},
		"Skipped": {
			"A start that is skipped when summer time begins is the first moment after the gap.", []v1alpha1.MaintenanceWindow{windowOf("30 2 * * 0", "Europe/Berlin", "1h")},
			"2026-03-29T00:59:59Z", "2026-03-29T03:00:00+02:00",
		},
		"SkippedOpen":  {"A window whose start was skipped is open.", []v1alpha1.MaintenanceWindow{windowOf("30 2 * * 0", "Europe/Berlin", "1h")}, "2026-03-29T01:59:59Z", open},
		"SkippedEnd":   {"It is closed after its duration.", []v1alpha1.MaintenanceWindow{windowOf("30 2 * * 0", "Europe/Berlin", "1h")}, "2026-03-29T02:00:00Z", "2026-04-05T02:30:00+02:00"},
		"AfterGap":     {"A start at the end of the gap is not skipped.", []v1alpha1.MaintenanceWindow{windowOf("0 3 * * 0", "Europe/Berlin", "1h")}, "2026-03-29T00:59:59Z", "2026-03-29T03:00:00+02:00"},
		"Repeated":     {"A start that occurs twice when summer time ends opens the window the first time.", []v1alpha1.MaintenanceWindow{windowOf("30 2 * * 0", "Europe/Berlin", "10m")}, "2026-10-25T00:00:00Z", "2026-10-25T02:30:00+02:00"},
		"RepeatedNext": {"It opens the window the second time, too.", []v1alpha1.MaintenanceWindow{windowOf("30 2 * * 0", "Europe/Berlin", "10m")}, "2026-10-25T00:45:00Z", "2026-10-25T02:30:00+01:00"},
		"RepeatedHour": {"Each minute of the repeated hour has a start.", []v1alpha1.MaintenanceWindow{windowOf("* * * * *", "Europe/Berlin", "1m")}, "2026-10-25T01:30:30Z", open},
		"Elapsed":      {"A duration is elapsed time, whatever the clocks show.", []v1alpha1.MaintenanceWindow{windowOf("0 1 * * 0", "Europe/Berlin", "3h")}, "2026-10-25T01:59:59Z", open},
		"ElapsedEnd":   {"It does not become longer because an hour occurs twice.", []v1alpha1.MaintenanceWindow{windowOf("0 1 * * 0", "Europe/Berlin", "3h")}, "2026-10-25T02:00:00Z", "2026-11-01T01:00:00+01:00"},
		"NoMidnight":   {"In Beirut, summer time begins at midnight.", []v1alpha1.MaintenanceWindow{windowOf("0 0 * * *", "Asia/Beirut", "1h")}, "2026-03-28T20:00:00Z", "2026-03-29T01:00:00+03:00"},
		"NoDay":        {"In Apia, a whole day was skipped.", []v1alpha1.MaintenanceWindow{windowOf("0 12 * * *", "Pacific/Apia", "1h")}, "2011-12-30T09:00:00Z", "2011-12-31T00:00:00+14:00"},
		"HalfHour":     {"In Lord Howe, clocks change by half an hour.", []v1alpha1.MaintenanceWindow{windowOf("15 2 * * *", "Australia/Lord_Howe", "5m")}, "2026-10-03T15:00:00Z", "2026-10-04T02:30:00+11:00"},
		"Century":      {"Between the leap days around 2100, no window opens.", []v1alpha1.MaintenanceWindow{windowOf("0 0 29 2 *", "", "1h")}, "2097-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := Parse(tc.windows)
			if err != nil {
				t.Fatal(err)
			}
			got, s := open, c.At(timeOf(tc.now))
			if !s.Open {
				got = s.Opens.Format(time.RFC3339)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nAt(%s): -want, +got:\n%s", tc.reason, tc.now, diff)
			}
		})
	}
}

// FuzzCalendar checks that any window is refused or has a state within limits, that a closed calendar opens at the time that it
// returns, and that it is closed just before.
func FuzzCalendar(f *testing.F) {
	f.Add("0 2 * * 6", "Europe/Berlin", int64(7200), int64(1_790_000_000))
	f.Add("*/7 1-5/2 ? JAN,3 MON-FRI", "America/Sao_Paulo", int64(60), int64(1_540_000_000))
	f.Add("0 0 31 2 *", "", int64(60), int64(0))
	f.Add("TZ=x", "Pacific/Apia", int64(604_800), int64(1_325_200_000))
	f.Add("30 2 * 10 0", "Africa/Casablanca", int64(1800), int64(4_000_000_000))
	f.Fuzz(func(t *testing.T, schedule, zone string, seconds, now int64) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 2 << 20, PerByte: 1 << 10}, len(schedule)+len(zone))()
		seconds, now = max(seconds%(7*24*3600), 60), now%(1<<36)
		c, err := Parse([]v1alpha1.MaintenanceWindow{{Schedule: schedule, TimeZone: zone, Duration: metav1.Duration{Duration: time.Duration(seconds) * time.Second}}})
		if err != nil {
			return
		}
		at := time.Unix(now, 0)
		s := c.At(at)
		if s.Open || s.Opens.IsZero() {
			return
		}
		if !s.Opens.After(at) || !c.At(s.Opens).Open {
			t.Errorf("closed at %s, and not open at %s", at, s.Opens)
		}
		if before := c.At(s.Opens.Add(-time.Second)); before.Open {
			t.Errorf("closed at %s, and open before %s", at, s.Opens)
		}
	})
}

// TestZonesAreLoadedOnce checks that the windows of a fleet do not load the same time zone again.
func TestZonesAreLoadedOnce(t *testing.T) {
	windows := []v1alpha1.MaintenanceWindow{{Schedule: "0 2 * * *", TimeZone: "Europe/Berlin", Duration: metav1.Duration{Duration: time.Hour}}}
	one, err := Parse(windows)
	two, again := Parse(windows)
	if err != nil || again != nil || one.windows[0].zone != two.windows[0].zone {
		t.Errorf("want the same zone twice, got %v, %v", err, again)
	}
}
