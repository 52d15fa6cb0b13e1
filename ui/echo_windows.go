package ui

import (
	"os"

	"golang.org/x/sys/windows"
)

// hideEcho keeps a console from showing what is typed until show is called.
func hideEcho(console *os.File) (show func(), err error) {
	h := windows.Handle(console.Fd())
	var was uint32
	if err := windows.GetConsoleMode(h, &was); err != nil {
		return nil, err
	}
	if err := windows.SetConsoleMode(h, was&^windows.ENABLE_ECHO_INPUT); err != nil {
		return nil, err
	}
	return func() { _ = windows.SetConsoleMode(h, was) }, nil
}
