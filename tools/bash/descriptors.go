package bash

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// The descriptors that are open in a command's process, but not in the command
// itself. 3 is the runner's, 5 the supervisor's own.
const (
	fdFilter    = 3 // the system call filter, read by bwrap
	fdGo        = 4 // a byte lets the sandbox's supervisor begin, its end says that this program is gone
	fdAlive     = 6 // held open by the sandbox as long as anything in it lives
	fdLeftovers = 7 // what was left running, written by the sandbox's supervisor
	fdScript    = 8 // the text that is run, where the command line is not enough
	fdState     = 9 // the state after the command, see state.go
)

// attach opens f as descriptor fd of the command.
func attach(cmd *exec.Cmd, fd int, f *os.File) error {
	i := fd - 3
	for len(cmd.ExtraFiles) <= i {
		cmd.ExtraFiles = append(cmd.ExtraFiles, nil)
	}
	if cmd.ExtraFiles[i] != nil {
		return fmt.Errorf("the runner uses the descriptor %d, which is the tool's", fd)
	}
	cmd.ExtraFiles[i] = f
	return nil
}

// inlet reads what a command's process writes to one of the descriptors.
type inlet struct {
	r    *os.File
	done chan struct{}
	data []byte
}

// open attaches an inlet. w must be closed once the process was started.
func openInlet(cmd *exec.Cmd, fd int) (in *inlet, w *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	if err := attach(cmd, fd, w); err != nil {
		r.Close()
		w.Close()
		return nil, nil, err
	}
	return &inlet{r: r, done: make(chan struct{})}, w, nil
}

// read takes up to limit bytes; what is above is read and dropped, so that the
// writer never waits.
func (in *inlet) read(limit int64) {
	defer close(in.done)
	in.data, _ = io.ReadAll(io.LimitReader(in.r, limit))
	io.Copy(io.Discard, in.r)
}

// readReady is read for [fdLeftovers]: the sandbox says by its first byte that it
// ends with this program from now on, and is let go unless it is over. made is
// closed when there is no more to wait for.
func (in *inlet) readReady(goOn *os.File, over func() bool, made chan struct{}) {
	first := make([]byte, 1)
	if n, _ := in.r.Read(first); n == 1 && !over() {
		_, _ = goOn.Write(first)
	}
	goOn.Close()
	close(made)
	in.read(maxSideBytes)
}

// end waits for the end of what is written, but not longer than d.
func (in *inlet) end(d time.Duration) []byte {
	if in == nil {
		return nil
	}
	expire := time.AfterFunc(d, func() { in.r.Close() })
	<-in.done
	expire.Stop()
	in.r.Close()
	return in.data
}

// openOutlet attaches a pipe that the process can read from fd. Both ends must
// be closed: r once the process was started, which also ends the writing when
// the process does not read.
func openOutlet(cmd *exec.Cmd, fd int) (r, w *os.File, err error) {
	if r, w, err = os.Pipe(); err != nil {
		return nil, nil, err
	}
	if err := attach(cmd, fd, r); err != nil {
		r.Close()
		w.Close()
		return nil, nil, err
	}
	return r, w, nil
}
