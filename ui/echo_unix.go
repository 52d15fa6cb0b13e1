//go:build linux || darwin

package ui

import (
	"os"

	"golang.org/x/sys/unix"
)

// hideEcho keeps a terminal from showing what is typed, but for the line's end, until
// show is called.
func hideEcho(tty *os.File) (show func(), err error) {
	fd := int(tty.Fd())
	was, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, err
	}
	hidden := *was
	hidden.Lflag = hidden.Lflag&^unix.ECHO | unix.ECHONL
	if err := unix.IoctlSetTermios(fd, setTermios, &hidden); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(fd, setTermios, was) }, nil
}
