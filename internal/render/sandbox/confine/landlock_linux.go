// SPDX-License-Identifier: Apache-2.0

package confine

import "golang.org/x/sys/unix"

// The versions of Landlock that add rights.
const (
	landlockRefer    = 2
	landlockTruncate = 3
	landlockNetwork  = 4
	landlockIoctl    = 5
	landlockScopes   = 6
)

// landlockRules returns a set of all rights that this kernel supports, without exceptions, or false if it does not support
// Landlock.
func landlockRules() (unix.LandlockRulesetAttr, bool) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || version < 1 {
		return unix.LandlockRulesetAttr{}, false
	}
	// The rights of the first version are the 13 lowest bits.
	out := unix.LandlockRulesetAttr{Access_fs: unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1}
	if version >= landlockRefer {
		out.Access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= landlockTruncate {
		out.Access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= landlockNetwork {
		out.Access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= landlockIoctl {
		out.Access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= landlockScopes {
		out.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return out, true
}
