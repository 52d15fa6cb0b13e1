//go:build !linux && !darwin

package bash

import (
	"os"
	"os/exec"
	"time"
)

// Elsewhere a command is one process: what it starts is not found.

func separate(*exec.Cmd)      {}
func closeInherited()         {}
func awaitExit(cmd *exec.Cmd) { cmd.ProcessState, _ = cmd.Process.Wait() }
func terminate(p *os.Process) { _ = p.Kill() }
func kill(p *os.Process)      { _ = p.Kill() }

type survivor struct {
	pid  int
	line string
}

func survivors(int, time.Time) []survivor     { return nil }
func killSurvivors(int, []survivor)           {}
func killMarked(string, map[int]bool)         {}
func readRest(*os.File, []byte, func([]byte)) {}
func isTooLong(error) bool                    { return false }
