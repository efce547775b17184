// SPDX-License-Identifier: Apache-2.0

package netguardtest

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// Names are the addresses of hosts. A host that is not listed does not exist.
type Names map[string][]string

// Resolver returns a resolver that only knows these names. It needs no network. It looks up each name in the map each time, and
// calls the function, which can be nil, with the name before that.
func (n Names) Resolver(asked func(host string)) *net.Resolver {
	var mu sync.Mutex
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			for {
				query, err := receive(there)
				if err != nil {
					return
				}
				mu.Lock()
				answer, err := n.answer(query, asked)
				mu.Unlock()
				if err != nil {
					return
				}
				if _, err := there.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil { //nolint:gosec // Answers are short.
					return
				}
			}
		}()
		return here, nil
	}}
}

// receive reads one message with its length in front, as in DNS over TCP.
func receive(r io.Reader) ([]byte, error) {
	length := make([]byte, 2)
	if _, err := io.ReadFull(r, length); err != nil {
		return nil, err
	}
	query := make([]byte, binary.BigEndian.Uint16(length))
	_, err := io.ReadFull(r, query)
	return query, err
}

func (n Names) answer(query []byte, asked func(host string)) ([]byte, error) {
	m := dnsmessage.Message{}
	if err := m.Unpack(query); err != nil {
		return nil, err
	}
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	q := m.Questions[0]
	host := strings.TrimSuffix(q.Name.String(), ".")
	if asked != nil {
		asked(host)
	}
	addresses, ok := n[host]
	if !ok {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, text := range addresses {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return nil, err
		}
		header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	return m.Pack()
}
