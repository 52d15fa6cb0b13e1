package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/mcp"
)

func mcpCommand(flags *config.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "The MCP servers: list, add, remove, test, sign in",
		Long: `Servers of the Model Context Protocol give the model more tools, as mcp_<server>_<tool>.
They are in the settings, in tables [mcp.<name>], or in the .mcp.json of a repository;
those of a repository start after you accepted exactly that definition (agent trust).`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(mcpListCommand(flags), mcpAddCommand(flags), mcpRemoveCommand(flags), mcpTestCommand(flags), mcpLoginCommand(flags), mcpLogoutCommand(flags))
	return cmd
}

func mcpListCommand(flags *config.Flags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the servers of the settings; nothing is started",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := config.Load(*flags, os.Getenv)
			if err != nil {
				return usage("%v", err)
			}
			tellSettings(cmd.ErrOrStderr(), settings)
			var list []config.Value
			for _, s := range settings.Servers {
				list = append(list, config.Value{Key: s.Name, Value: s.Text(), Source: []string{s.Source}})
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), list)
			}
			for i, s := range settings.Servers {
				state := ""
				if !s.On() {
					state = " (off)"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s%s\n  %s\n  from %s\n", s.Name, state, visible(list[i].Value), visible(s.Source))
			}
			if list == nil {
				fmt.Fprintln(cmd.OutOrStdout(), noServers)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return cmd
}

const noServers = "there are no MCP servers; agent mcp add adds one"

func mcpAddCommand(flags *config.Flags) *cobra.Command {
	var s config.Server
	var env, headers []string
	var project, network, host bool
	var port int
	cmd := &cobra.Command{
		Use:   "add name (url | command [argument…])",
		Short: "Add a server to your settings, or to the project's",
		Long: `Adds a server to your settings. What begins with http:// or https:// is its address,
everything else a command line; put -- before a command with options of its own.
A value such as '${GITHUB_TOKEN}' is a variable of your environment at each start, so
that no secret stands in the file.`,
		Example: `  agent mcp add --net files -- npx -y @modelcontextprotocol/server-filesystem .
  agent mcp add --env 'GITHUB_TOKEN=${GITHUB_TOKEN}' --net github github-mcp-server stdio
  agent mcp add --header 'Authorization=Bearer ${KEY}' tracker https://mcp.example.com/mcp`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.Name = args[0]
			if args[1] == "--" && len(args) > 2 {
				args = args[1:]
			}
			if strings.HasPrefix(args[1], "http://") || strings.HasPrefix(args[1], "https://") {
				if s.URL = args[1]; len(args) > 2 {
					return usage("an address takes no arguments: %q", args[2:])
				}
			} else {
				s.Command, s.Args = args[1], args[2:]
			}
			var err error
			if s.Env, err = pairs("--env", env); err == nil {
				s.Headers, err = pairs("--header", headers)
			}
			if err != nil {
				return err
			}
			if network {
				s.Network = &network
			}
			if port != 0 {
				s.CallbackPort = &port
			}
			if sandboxed := !host; host {
				s.Sandbox = &sandboxed
			}
			settings, err := config.Load(*flags, os.Getenv)
			if err != nil {
				return usage("%v", err)
			}
			path := settings.Paths()[0]
			if project {
				path = settings.Paths()[1]
			}
			if err := config.AddServer(path, s); err != nil {
				return usage("%v", err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s is in %s; agent mcp test %s tries it\n", s.Name, visible(path), s.Name)
			if project {
				fmt.Fprintln(cmd.OutOrStdout(), "it counts after agent trust, here and for everybody who gets the file")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // the command has options of its own
	f.StringArrayVar(&env, "env", nil, "a variable of the command, as `NAME=value`; can be given again")
	f.StringArrayVar(&headers, "header", nil, "a header for the address, as `NAME=value`; can be given again")
	f.StringArrayVar(&s.Tools, "tool", nil, "only the tools of this `name` count, * is any text; can be given again")
	f.StringArrayVar(&s.Read, "read", nil, "a `path` that the command sees in its sandbox beside the workspace; can be given again")
	f.StringVar(&s.ClientID, "client-id", "", "the client that signs in at the address, where it registers none by itself: its `id`, or the https address of its document")
	f.StringVar(&s.ClientSecret, "client-secret", "", "the client's `secret`, best as '${NAME}'")
	f.IntVar(&port, "callback-port", 0, "the `port` of http://127.0.0.1:port/callback that the client is registered with")
	f.BoolVar(&project, "project", false, "add it to .phero/config.toml, which can be committed")
	f.BoolVar(&network, "net", false, "the command has the network in its sandbox")
	f.BoolVar(&host, "host", false, "the command runs outside of the sandbox, with your rights")
	return cmd
}

// pairs reads NAME=value.
func pairs(flag string, list []string) (map[string]string, error) {
	var out map[string]string
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usage("%s %q: write NAME=value", flag, text)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = value
	}
	return out, nil
}

func mcpRemoveCommand(flags *config.Flags) *cobra.Command {
	return &cobra.Command{
		Use:   "remove name",
		Short: "Take a server out of the settings file that it is in",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			settings, err := config.Load(*flags, os.Getenv)
			if err != nil {
				return usage("%v", err)
			}
			for _, path := range slices.Backward(settings.Paths()) {
				found, err := config.RemoveServer(path, args[0])
				if err != nil {
					return usage("%v", err)
				}
				if found {
					fmt.Fprintf(cmd.OutOrStdout(), "%s is no longer in %s\n", visible(args[0]), visible(path))
					return nil
				}
			}
			if i := slices.IndexFunc(settings.Servers, func(s config.Server) bool { return s.Name == args[0] }); i >= 0 {
				return usage("the server %s is in %s, which other agents read too: take it out there with an editor", args[0], visible(settings.Servers[i].Source))
			}
			return usage("there is no server %q in your settings or the project's; agent mcp list shows where each is", args[0])
		},
	}
}

// withServers runs fn with the servers of the settings, all of them or one.
func withServers(ctx context.Context, flags *config.Flags, name string, fn func(context.Context, *mcp.Servers) error) error {
	settings, err := config.Load(*flags, os.Getenv)
	if err != nil {
		return usage("%v", err)
	}
	tellSettings(os.Stderr, settings)
	opts := options(settings)
	if name != "" {
		i := slices.IndexFunc(opts.Servers, func(s config.Server) bool { return s.Name == name })
		if i < 0 {
			return usage("there is no MCP server %q that counts here; agent mcp list shows them", name)
		}
		opts.Servers = opts.Servers[i : i+1]
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	servers, closing, err := app.OpenServers(opts)
	if err != nil {
		return usage("%v", err)
	}
	return errors.Join(fn(ctx, servers), closing())
}

func mcpTestCommand(flags *config.Flags) *cobra.Command {
	return &cobra.Command{
		Use:   "test [name]",
		Short: "Start the servers, or one, and say what each offers",
		Long:  `Starts the servers as a session would, and says what each offers. The exit code is 1 when one does not work.`,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withServers(cmd.Context(), flags, strings.Join(args, ""), func(ctx context.Context, servers *mcp.Servers) error {
				return testServers(ctx, cmd.OutOrStdout(), servers)
			})
		},
	}
}

func testServers(ctx context.Context, out io.Writer, servers *mcp.Servers) error {
	servers.Start()
	servers.Wait(ctx, time.Minute)
	if len(servers.Names()) == 0 {
		fmt.Fprintln(out, noServers)
	}
	var bad []string
	for _, s := range servers.Status() {
		fmt.Fprintln(out, visible(s.Details(time.Now())))
		if s.State != mcp.Ready && s.State != mcp.Off {
			bad = append(bad, s.Name)
		}
	}
	if bad != nil {
		return fmt.Errorf("these servers do not work: %s", strings.Join(bad, ", "))
	}
	return ctx.Err()
}

func mcpLoginCommand(flags *config.Flags) *cobra.Command {
	return &cobra.Command{
		Use:   "login name",
		Short: "Sign in at a server that is reached by an address",
		Long: `Shows an address to open in a browser, and waits until it comes back to this machine.
The token is kept in the state directory, readable for you alone, for that address only.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withServers(cmd.Context(), flags, args[0], func(ctx context.Context, servers *mcp.Servers) error {
				ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
				defer cancel()
				err := servers.Login(ctx, args[0], func(address string) {
					fmt.Fprintf(cmd.OutOrStdout(), "Open this address in a browser:\n\n%s\n\n", visible(address))
				})
				if err == nil {
					fmt.Fprintln(cmd.OutOrStdout(), "signed in")
				}
				return err
			})
		},
	}
}

func mcpLogoutCommand(flags *config.Flags) *cobra.Command {
	return &cobra.Command{
		Use:   "logout name",
		Short: "Forget the token of a server",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withServers(cmd.Context(), flags, args[0], func(_ context.Context, servers *mcp.Servers) error {
				had, err := servers.Logout(args[0])
				if err == nil && !had {
					err = fmt.Errorf("you are not signed in at %s", args[0])
				}
				if err == nil {
					fmt.Fprintln(cmd.OutOrStdout(), "forgotten")
				}
				return err
			})
		},
	}
}
