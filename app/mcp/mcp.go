// Package mcp keeps the connections to servers of the Model Context Protocol.
//
//	Open ──► server.run: connect ► list ► ready ──ends──► wait, longer each time ► connect …
//	             │                          └── lists that change, progress, logs, questions
//	Call ────────┘ a call waits for the server, and for signs of its progress
//
// Nothing that a server does holds anybody up: it is started in the background,
// everything it is asked has a time limit, and what it sends is bounded. What it
// says of itself is shown as its words and allows nothing.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/human"
	"github.com/phero-agent/agent/tools/mcp"
)

// Options say which servers there are, and what they can reach.
type Options struct {
	Servers   []config.Server
	Version   string // of the program
	Workspace string // absolute; servers are told it as their root
	StateDir  string // for the tokens of remote servers
	Getenv    func(string) string

	// Launch starts the program of a server with its arguments and variables.
	Launch func(ctx context.Context, s config.Server, argv, env []string) (*bash.Program, error)
	// Walled tells whether a server's program runs in the sandbox.
	Walled func(config.Server) bool
	// Image makes an image one that models take.
	Image func(ctx context.Context, name string, data []byte) (tools.Result, error)
	// Ask puts a server's questions to the person; nil: there is nobody.
	Ask func(ctx context.Context, source string, in human.Input) (map[string]human.Answer, error)
	// Sample lets the model answer a server, after the person's yes; nil: there is nobody.
	Sample func(ctx context.Context, server string, s Sample) (Sampled, error)
	// Tell takes news for the person. It must return at once, as the next two.
	Tell func(warning bool, text string)
	// Progress takes what a server says of a running call.
	Progress func(callID, text string)
	// Changed is told that prompts or resources are others now.
	Changed func()

	Limits Limits
}

// Limits are times that a server gets. The zero value is the defaults.
type Limits struct {
	Start   time.Duration // to be ready (30 s)
	Retry   time.Duration // until the first new start, doubled each time (1 s)
	Begin   time.Duration // to answer how newer clients begin, before it is spoken to as older ones do (10 s)
	Ready   time.Duration // that a call waits for a server that is starting (10 s)
	Goodbye time.Duration // to end by itself (500 ms)
}

func (l *Limits) fill() {
	for _, d := range []struct {
		of *time.Duration
		by time.Duration
	}{{&l.Start, 30 * time.Second}, {&l.Retry, time.Second}, {&l.Begin, 10 * time.Second}, {&l.Ready, 10 * time.Second}, {&l.Goodbye, 500 * time.Millisecond}} {
		if *d.of == 0 {
			*d.of = d.by
		}
	}
}

// Sample is what a server wants the model to be asked.
type Sample struct {
	System   string
	Messages []SampleMessage
}

// SampleMessage is a message of a [Sample].
type SampleMessage struct {
	Assistant bool // the model said it; else the user
	Text      string
}

// ErrSampleDeclined is the error of [Options.Sample] where the person does not want it.
var ErrSampleDeclined = errors.New("the user declined")

// Sampled is the model's answer.
type Sampled struct{ Model, Text string }

// Servers are the connections to all servers.
type Servers struct {
	opts   Options
	ctx    context.Context
	cancel context.CancelFunc
	list   []*server
	wg     sync.WaitGroup
}

// Open prepares the servers; [Servers.Start] starts them.
func Open(opts Options) *Servers {
	opts.Limits.fill()
	s := &Servers{opts: opts}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for _, def := range opts.Servers {
		s.list = append(s.list, newServer(s, def))
	}
	return s
}

// Start starts all servers that are on. It returns at once.
func (s *Servers) Start() {
	for _, v := range s.list {
		if v.def.On() {
			s.wg.Go(func() { v.run(s.ctx) })
		}
	}
}

// Close ends all servers and waits for that.
func (s *Servers) Close() {
	s.cancel()
	s.wg.Wait()
}

// Any tells whether a server is on.
func (s *Servers) Any() bool {
	return slices.ContainsFunc(s.list, func(v *server) bool { return v.def.On() })
}

// Wait waits until each server was ready or failed once, at most for a time, and
// returns the names of those that are still starting.
func (s *Servers) Wait(ctx context.Context, most time.Duration) (late []string) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for _, v := range s.list {
		if !v.def.On() {
			continue
		}
		select {
		case <-v.settled:
		case <-ctx.Done():
			select {
			case <-v.settled:
			default:
				late = append(late, v.def.Name)
			}
		}
	}
	return late
}

// Changeable tells whether a server may offer other tools later: it says so, or is
// not ready.
func (s *Servers) Changeable() bool {
	return slices.ContainsFunc(s.list, func(v *server) bool { return v.def.On() && v.changeable() })
}

// Tools are the tools that the servers offer now, by server and name.
func (s *Servers) Tools() (list []mcp.Definition) {
	for _, v := range s.list {
		list = append(list, v.tools()...)
	}
	return list
}

func (s *Servers) find(name string) (*server, error) {
	i := slices.IndexFunc(s.list, func(v *server) bool { return v.def.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no MCP server named %q; agent mcp list shows them", name)
	}
	return s.list[i], nil
}

// Call runs a tool. It is the tools' [mcp.Caller].
func (s *Servers) Call(ctx context.Context, d mcp.Definition, arguments json.RawMessage) (tools.Result, error) {
	v, err := s.find(d.Server)
	if err != nil {
		return tools.Result{}, err
	}
	return v.call(ctx, d, arguments)
}

// Restart starts a server anew, also one that has failed for good.
func (s *Servers) Restart(name string) error {
	v, err := s.find(name)
	if err != nil {
		return err
	}
	if !v.def.On() {
		return fmt.Errorf("the server %s is off: set enabled = true in %s", v.def.Name, v.def.Source)
	}
	v.restart()
	return nil
}

// Prompt is a text that a server makes of arguments.
type Prompt struct {
	Server, Name, Description string
	Arguments                 []Argument
}

// Argument is an argument of a [Prompt].
type Argument struct {
	Name     string
	Required bool
}

// Resource is something that a server lets read.
type Resource struct{ Server, URI, Name string }

// Prompts are the prompts that the servers offer now.
func (s *Servers) Prompts() (list []Prompt) {
	for _, v := range s.list {
		v.mu.Lock()
		list = append(list, v.has.prompts...)
		v.mu.Unlock()
	}
	return list
}

// Resources are the resources that the servers list now.
func (s *Servers) Resources() (list []Resource) {
	for _, v := range s.list {
		v.mu.Lock()
		list = append(list, v.has.resources...)
		v.mu.Unlock()
	}
	return list
}

// Names are the names of the servers.
func (s *Servers) Names() []string {
	names := make([]string, len(s.list))
	for i, v := range s.list {
		names[i] = v.def.Name
	}
	return names
}

// errArguments says that a prompt lacks an argument.
var errArguments = errors.New("it needs more arguments")

// words gives a prompt's arguments their values: a word each, the last one the rest.
func (p Prompt) words(given string) (map[string]string, error) {
	values := map[string]string{}
	rest := strings.TrimSpace(given)
	for i, a := range p.Arguments {
		word := rest
		if i < len(p.Arguments)-1 {
			word, rest, _ = strings.Cut(rest, " ")
			rest = strings.TrimSpace(rest)
		}
		switch {
		case word != "":
			values[a.Name] = word
		case a.Required:
			return nil, fmt.Errorf("%w: %s", errArguments, p.Hint())
		}
	}
	return values, nil
}

// Hint names the arguments as a person gives them, as "<city> [unit]".
func (p Prompt) Hint() string {
	words := make([]string, len(p.Arguments))
	for i, a := range p.Arguments {
		words[i] = "[" + a.Name + "]"
		if a.Required {
			words[i] = "<" + a.Name + ">"
		}
	}
	return strings.Join(words, " ")
}
