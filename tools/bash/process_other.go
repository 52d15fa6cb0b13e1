//go:build !linux && !darwin

package bash

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Elsewhere a command is one process: what it starts is not found.

func separate(cmd *exec.Cmd)             { cmd.SysProcAttr = &syscall.SysProcAttr{} }
func dieWithParent(*syscall.SysProcAttr) {}
func closeInherited()                    {}
func awaitExit(cmd *exec.Cmd)            { cmd.ProcessState, _ = cmd.Process.Wait() }
func terminate(p *os.Process)            { _ = p.Kill() }
func kill(p *os.Process)                 { _ = p.Kill() }
func killWithChildren(p *os.Process)     { _ = p.Kill() }

type survivor struct {
	pid  int
	line string
}

func survivors(int, time.Time) []survivor     { return nil }
func killSurvivors(int, []survivor)           {}
func killMarked(string, map[int]bool)         {}
func readRest(*os.File, []byte, func([]byte)) {}
func lockDirectory(string) (io.Closer, error) { return nil, errors.ErrUnsupported }
func ours(os.FileInfo) bool                   { return false }
func readable(string) bool                    { return false }
func writable(string) bool                    { return false }
func isTooLong(error) bool                    { return false }
