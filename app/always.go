package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/tools/file"
)

// Scope says how long an always answer holds.
type Scope string

// The scopes: until another session is opened, or in every session of the workspace.
const (
	SessionScope   Scope = "session"
	WorkspaceScope Scope = "workspace"
)

// Always is what the person allowed for good: a subject of a tool, exactly as it
// was, or the rule that it was widened to.
type Always struct {
	Tool    string `json:"tool,omitempty"`
	Subject string `json:"subject,omitempty"`
	Rule    string `json:"rule,omitempty"` // ReadingRule, or a rule of permissions; "" is the exact subject
}

// ReadingRule stands for the shorter list of read-only commands, which holds
// where no sandbox does and the person said yes to it (decision 7).
const ReadingRule = "read-only commands"

func (a Always) String() string {
	switch {
	case a.Rule != "":
		return a.Rule
	case a.Subject == "":
		return a.Tool
	}
	return a.Tool + "(" + a.Subject + ")"
}

// answers are the always answers of one scope, in a file out of the model's reach
// (IMP-20, decision 6). Without a path they are kept in memory only.
type answers struct {
	path string
	list []Always
}

// answersFile is the form of the file.
type answersFile struct {
	Answers []Always `json:"answers"`
}

func workspaceAnswers(stateDir, workspace string) string {
	return filepath.Join(config.WorkspaceState(stateDir, workspace), "always.json")
}

func sessionAnswers(stateDir, id string) string {
	return filepath.Join(stateDir, "sessions", id+".json")
}

// readAnswers reads the file; one that does not exist holds none. A damaged one is
// an error, and nothing is ever written over it.
func readAnswers(path string) ([]Always, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var f answersFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("the always answers in %s cannot be read: %w; mend or remove the file", path, err)
	}
	return f.Answers, nil
}

// update changes the list and the file. The file is read again first: another
// agent in the same workspace may have written it.
func (a *answers) update(change func([]Always) []Always) error {
	a.list = change(a.list)
	if a.path == "" {
		return nil
	}
	saved, err := readAnswers(a.path)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(answersFile{change(saved)}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(a.path), 0o700); err != nil {
		return err
	}
	return file.WriteFileAtomic(a.path, append(data, '\n'), 0o600)
}

func (a *answers) add(more []Always) error {
	return a.update(func(list []Always) []Always {
		list = slices.Clone(list)
		for _, m := range more {
			if !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
		return list
	})
}

func (a *answers) drop(text string) error {
	return a.update(func(list []Always) []Always {
		return slices.DeleteFunc(slices.Clone(list), func(m Always) bool { return m.String() == text })
	})
}

func (s Scope) source() string { return "always, this " + string(s) }

// hold puts the answers of a scope into the policy. One that is malformed is left
// out, and returned as an error.
func (p *Permissions) hold(scope Scope, list []Always) error {
	var errs []error
	for _, a := range list {
		switch a.Rule {
		case "":
			p.policy.Grant(permissions.Grant{Tool: a.Tool, Subject: a.Subject})
		case ReadingRule:
		default:
			errs = append(errs, p.policy.AddAllow(permissions.Rule{Text: a.Rule, Source: scope.source()}))
		}
	}
	return errors.Join(errs...)
}

// release takes answers of a scope out of the policy again, but not what the
// other scope holds as well.
func (p *Permissions) release(scope Scope, list, other []Always) {
	for _, a := range list {
		switch {
		case a.Rule == ReadingRule:
		case a.Rule != "":
			p.policy.Remove(permissions.Rule{Text: a.Rule, Source: scope.source()})
		case !slices.Contains(other, a):
			p.policy.Forget(a.Tool, a.Subject)
		}
	}
}

// remember keeps what the person allowed for good.
func (p *Permissions) remember(scope Scope, list []Always) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	to := p.scope(scope)
	fresh := slices.DeleteFunc(slices.Clone(list), func(a Always) bool { return slices.Contains(to.list, a) })
	if len(fresh) == 0 {
		return nil
	}
	return errors.Join(p.hold(scope, fresh), to.add(fresh))
}

func (p *Permissions) scope(s Scope) *answers {
	if s == WorkspaceScope {
		return &p.workspace
	}
	return &p.session
}

// openSession takes over the answers of a session in place of those of the last one.
func (p *Permissions) openSession(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.release(SessionScope, p.session.list, p.workspace.list)
	p.session = answers{}
	if id == "" {
		return nil
	}
	path := sessionAnswers(p.opts.StateDir, id)
	list, err := readAnswers(path)
	p.session = answers{path: path, list: list}
	return errors.Join(err, p.hold(SessionScope, list))
}

// beginSession gives a session that has just begun the place for its answers.
func (p *Permissions) beginSession(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id != "" { // else nothing of it is saved
		p.session.path = sessionAnswers(p.opts.StateDir, id)
	}
}

// saidReads tells whether the person said yes to the list of read-only commands.
func (p *Permissions) saidReads() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	is := func(a Always) bool { return a.Rule == ReadingRule }
	return slices.ContainsFunc(p.workspace.list, is) || slices.ContainsFunc(p.session.list, is)
}

// place is where answers are kept, with its name for the person.
type place struct {
	name string
	*answers
}

// places are those that List and Forget see.
func (p *Permissions) places() []place {
	return append([]place{{WorkspaceScope.source(), &p.workspace}, {SessionScope.source(), &p.session}}, p.others...)
}

// Forget drops the always answers that List shows as text. It returns where they
// were; an error names what cannot be written.
func (p *Permissions) Forget(text string) ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var from []string
	var errs []error
	for _, at := range p.places() {
		gone := slices.DeleteFunc(slices.Clone(at.list), func(a Always) bool { return a.String() != text })
		if len(gone) == 0 {
			continue
		}
		from = append(from, at.name)
		errs = append(errs, at.drop(text))
		p.release(WorkspaceScope, gone, nil)
		p.release(SessionScope, gone, nil)
	}
	return from, errors.Join(errs...)
}
