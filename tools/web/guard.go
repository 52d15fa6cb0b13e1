package web

import (
	"fmt"
	"net/netip"
	"sync"
	"syscall"
)

// special lists the ranges that are not fetched. The predicates of net/netip
// know fewer of them, so all are spelled out. Public addresses of this machine
// itself are not among them: what listens there is open to all.
var special = sync.OnceValue(func() []netip.Prefix {
	ranges := []string{
		"0.0.0.0/8",         // this network; 0.0.0.0 reaches this machine
		"10.0.0.0/8",        // private
		"100.64.0.0/10",     // carrier-grade NAT
		"127.0.0.0/8",       // loopback
		"168.63.129.16/32",  // Azure's platform, public only by its number
		"169.254.0.0/16",    // link-local, cloud metadata
		"172.16.0.0/12",     // private
		"192.0.0.0/24",      // protocol assignments
		"192.0.2.0/24",      // documentation
		"192.168.0.0/16",    // private
		"198.18.0.0/15",     // benchmarks
		"198.51.100.0/24",   // documentation
		"203.0.113.0/24",    // documentation
		"224.0.0.0/4",       // multicast
		"240.0.0.0/4",       // reserved, broadcast
		"::/128", "::1/128", // unspecified, loopback
		"64:ff9b:1::/48", // NAT64 of a network's own
		"100::/64",       // discard
		"2001:db8::/32",  // documentation
		"fc00::/7",       // unique local
		"fe80::/10",      // link-local
		"fec0::/10",      // site-local
		"ff00::/8",       // multicast
	}
	prefixes := make([]netip.Prefix, len(ranges))
	for i, r := range ranges {
		prefixes[i] = netip.MustParsePrefix(r)
	}
	return prefixes
})

// checkAddress refuses special addresses, and those of IPv6 that carry a
// special one of IPv4 (WEB-10 to WEB-15).
func checkAddress(a netip.Addr) error {
	a = a.WithZone("").Unmap()
	for _, p := range special() {
		if p.Contains(a) {
			return fmt.Errorf("%w: %s is in %s", ErrPrivateAddress, a, p)
		}
	}
	for _, inner := range embedded(a) {
		if err := checkAddress(inner); err != nil {
			return fmt.Errorf("%s carries %s: %w", a, inner, err)
		}
	}
	return nil
}

// embedded lists the IPv4 addresses that an IPv6 address can lead to.
func embedded(a netip.Addr) []netip.Addr {
	if !a.Is6() {
		return nil
	}
	b := a.As16()
	ipv4 := func(i int) netip.Addr { return netip.AddrFrom4([4]byte(b[i : i+4])) }
	zero := func(from, to int) bool {
		for _, x := range b[from:to] {
			if x != 0 {
				return false
			}
		}
		return true
	}
	switch {
	case zero(0, 12): // IPv4-compatible
		return []netip.Addr{ipv4(12)}
	case zero(0, 8) && b[8] == 0xff && b[9] == 0xff && zero(10, 12): // SIIT
		return []netip.Addr{ipv4(12)}
	case b[0] == 0 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b && zero(4, 12): // NAT64
		return []netip.Addr{ipv4(12)}
	case b[0] == 0x20 && b[1] == 0x02: // 6to4
		return []netip.Addr{ipv4(2)}
	case b[0] == 0x20 && b[1] == 0x01 && zero(2, 4): // Teredo: the server, and the client with its bits turned
		return []netip.Addr{ipv4(4), netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})}
	case b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // ISATAP
		return []netip.Addr{ipv4(12)}
	}
	return nil
}

// guard is a net.Dialer's Control: it sees each address just before it is
// connected to, after every lookup and for every redirect (WEB-16).
func guard(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q", ErrPrivateAddress, address)
	}
	return checkAddress(a.Addr())
}
