// SPDX-License-Identifier: Apache-2.0

package netguard

import (
	"net/netip"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

// FuzzForms checks that the address of each metadata service is refused, wherever it is embedded in an IPv6 address.
func FuzzForms(f *testing.F) {
	f.Add([]byte{0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 169, 254, 169, 254})
	f.Add([]byte{0x20, 0x02, 169, 254, 169, 254, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})
	d := New(Options{}).Dialer(Tenant)
	f.Fuzz(func(t *testing.T, b []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(b))()
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		plain, mapped := d.Check(a), d.Check(netip.AddrFrom16(a.As16()))
		if (plain == nil) != (mapped == nil) {
			t.Errorf("%s: %v, but mapped: %v", a, plain, mapped)
		}
		if six := a.WithZone("x"); a.Is6() && !a.Is4In6() && (d.Check(six) == nil) != (plain == nil) {
			t.Errorf("%s: %v, but with a zone: %v", a, plain, d.Check(six))
		}
	})
}
