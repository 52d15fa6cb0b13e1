package bash

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// landlockVersion is the kernel's version of the interface; 0 is none.
func landlockVersion() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// MaybeHelper turns this process into the helper of [LandlockRunner] when it was
// started as that. It must come first in main, and in TestMain; it returns when
// the process is not the helper.
func MaybeHelper() {
	if len(os.Args) != 2 || os.Args[0] != helperName {
		return
	}
	if err := restrictAndRun(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "the sandbox could not be set up:", err)
		os.Exit(126)
	}
}

func restrictAndRun(spec string) error {
	var rules landlockRules
	if err := json.Unmarshal([]byte(spec), &rules); err != nil {
		return err
	}
	if err := rules.restrict(); err != nil {
		return err
	}
	// What follows is about the thread that becomes the command.
	runtime.LockOSThread()
	if err := dropCapabilities(); err != nil {
		return err
	}
	argv := append([]string{"bash"}, rules.Commands[1:]...)
	return syscall.Exec(rules.Commands[0], argv, os.Environ())
}

// dropCapabilities keeps root from what capabilities allow beside Landlock,
// such as reading the environment of any process.
func dropCapabilities() error {
	for c := range uintptr(64) {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) {
			return nil // there are none to drop, or none left
		}
		if err != nil {
			return fmt.Errorf("drop capabilities: %w", err)
		}
	}
	return nil
}

func (l landlockRules) restrict() error {
	const write = ll.AccessFSWriteFile | ll.AccessFSTruncate
	var fs []landlock.Rule
	add := func(paths []string, dirs, files func(...string) landlock.FSRule) {
		for _, p := range paths {
			info, err := os.Stat(p)
			switch {
			case err != nil:
			case info.IsDir():
				fs = append(fs, dirs(p))
			default:
				fs = append(fs, files(p))
			}
		}
	}
	add(l.Read, landlock.RODirs, landlock.ROFiles)
	add(l.Write, func(p ...string) landlock.FSRule { return landlock.RWDirs(p...).WithRefer() }, landlock.RWFiles)
	add(l.List, func(p ...string) landlock.FSRule { return landlock.PathAccess(ll.AccessFSReadDir, p...) }, landlock.ROFiles)
	add(l.Devices, landlock.RODirs, func(p ...string) landlock.FSRule {
		return landlock.PathAccess(ll.AccessFSReadFile|write, p...)
	})
	best := landlock.V11.BestEffort()
	if l.Network {
		if err := best.RestrictPaths(fs...); err != nil {
			return err
		}
		return best.RestrictScoped()
	}
	return best.Restrict(fs...)
}
