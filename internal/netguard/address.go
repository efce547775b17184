// SPDX-License-Identifier: Apache-2.0

package netguard

import (
	"net/netip"
)

// A class is a set of addresses that are refused for the same reason.
type class struct {
	reason string
	ranges []netip.Prefix
}

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, s := range texts {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// never returns the addresses that are always refused. They are not used for API servers and registries.
func never() []class {
	return []class{
		{reason: "an unspecified address", ranges: prefixes("0.0.0.0/8", "::/128")},
		{reason: "the address of a metadata service", ranges: prefixes(
			// The metadata service of most clouds. Other link-local addresses are listed below.
			"169.254.169.254/32", "fe80::a9fe:a9fe/128",
			"fd00:ec2::/32",      // Amazon EC2: metadata, time, DNS, and identities of pods.
			"fd20:ce::254/128",   // Google Cloud.
			"168.63.129.16/32",   // Azure: the agent of the host.
			"100.100.100.200/32", // Alibaba Cloud.
			"192.0.0.192/32",     // Oracle Cloud.
			"fd00:42::42/128",    // Scaleway.
		)},
		{reason: "a link-local address", ranges: prefixes("169.254.0.0/16", "fe80::/10")},
		{reason: "a multicast address", ranges: prefixes("224.0.0.0/4", "ff00::/8")},
		{reason: "a broadcast address", ranges: prefixes("255.255.255.255/32")},
	}
}

func loopback() []netip.Prefix { return prefixes("127.0.0.0/8", "::1/128") }

// private returns the ranges of private networks, including the shared address space of RFC 6598.
func private() []netip.Prefix {
	return prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10")
}

// forms returns an address in its simplest form, followed by the IPv4 addresses to which gateways can translate it.
func forms(a netip.Addr) []netip.Addr {
	// A range never contains an address with a zone.
	a = a.WithZone("").Unmap()
	out := []netip.Addr{a}
	if a.Is4() {
		return out
	}
	b := a.As16()
	embedded := func(i ...int) {
		// Bytes that a layout does not use are zero.
		if b[i[0]] != 0 {
			out = append(out, netip.AddrFrom4([4]byte{b[i[0]], b[i[1]], b[i[2]], b[i[3]]}))
		}
	}
	for _, p := range []struct {
		prefix string
		bytes  [][]int
	}{
		// IPv4-compatible addresses, and the addresses of RFC 2765.
		{"::/96", [][]int{{12, 13, 14, 15}}},
		{"::ffff:0:0:0/96", [][]int{{12, 13, 14, 15}}},
		// NAT64: the well-known prefix, and the prefix for local use in the layouts of RFC 6052 that fit into it.
		{"64:ff9b::/96", [][]int{{12, 13, 14, 15}}},
		{"64:ff9b:1::/48", [][]int{{12, 13, 14, 15}, {6, 7, 9, 10}, {7, 9, 10, 11}, {9, 10, 11, 12}}},
		// 6to4.
		{"2002::/16", [][]int{{2, 3, 4, 5}}},
	} {
		if a == netip.IPv6Loopback() || a.IsUnspecified() || !netip.MustParsePrefix(p.prefix).Contains(a) {
			continue
		}
		for _, at := range p.bytes {
			embedded(at...)
		}
	}
	if netip.MustParsePrefix("2001::/32").Contains(a) {
		// A Teredo address contains the address of a server, and the address of a client with all bits flipped.
		embedded(4, 5, 6, 7)
		out = append(out, netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}))
	}
	return out
}

// longest returns the length of the most specific range that contains an address, or -1.
func longest(ranges []netip.Prefix, a netip.Addr) int {
	n := -1
	for _, r := range ranges {
		if r.Contains(a) {
			n = max(n, r.Bits())
		}
	}
	return n
}
