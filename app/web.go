package app

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/web"
)

// webTool is web_fetch. A redirect to another host is followed where a rule allows
// that address too; else the model must ask for it, and the person sees it.
func (a *App) webTool() (*tools.Tool, error) {
	return web.New(
		web.WithAllowedHosts(a.opts.WebHosts...),
		web.WithProxy(a.opts.WebProxy),
		web.WithRedirectCheck(func(ctx context.Context, url string) error {
			arguments, err := json.Marshal(map[string]string{"url": url})
			if err != nil {
				return err
			}
			if trace := a.perms.policy.ExplainIn(ctx, "web_fetch", string(arguments)); trace.Decision != permissions.Allow {
				return fmt.Errorf("no rule allows this redirect (%s); fetch that address itself, if it is right, and the user is asked", trace.Verdict())
			}
			return nil
		}),
	).Tool()
}
