package file

import (
	"context"
	"runtime"
	"sync"
)

// pool runs tasks on as many workers as there are processors. The task that was
// pushed last runs first, so that a walk goes deep before it goes wide: few
// directories are open at once, and results come nearly in path order.
type pool struct {
	ctx   context.Context
	mu    sync.Mutex
	ready *sync.Cond
	stack []func(worker int)
	busy  int
	done  sync.WaitGroup
	size  int
	fault any // what a task panicked with
}

func newPool(ctx context.Context) *pool {
	p := &pool{ctx: ctx, size: runtime.GOMAXPROCS(0)}
	p.ready = sync.NewCond(&p.mu)
	return p
}

// push adds tasks; the first one runs first.
func (p *pool) push(tasks ...func(worker int)) {
	p.mu.Lock()
	for i := len(tasks) - 1; i >= 0; i-- {
		p.stack = append(p.stack, tasks[i])
	}
	p.mu.Unlock()
	if len(tasks) == 1 {
		p.ready.Signal()
	} else {
		p.ready.Broadcast()
	}
}

// start lets the workers begin. They end when no task is left, or the context does.
func (p *pool) start() {
	context.AfterFunc(p.ctx, func() {
		p.mu.Lock() // a worker between its check and its wait must not miss this
		defer p.mu.Unlock()
		p.ready.Broadcast()
	})
	for w := range p.size {
		p.done.Go(func() { p.work(w) })
	}
}

func (p *pool) work(worker int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for len(p.stack) == 0 && p.busy > 0 && p.ctx.Err() == nil {
			p.ready.Wait()
		}
		if len(p.stack) == 0 || p.ctx.Err() != nil {
			p.stack = nil
			p.ready.Broadcast()
			return
		}
		task := p.stack[len(p.stack)-1]
		p.stack = p.stack[:len(p.stack)-1]
		p.busy++
		p.mu.Unlock()
		fault := guarded(task, worker)
		p.mu.Lock()
		p.busy--
		if fault != nil {
			p.fault, p.stack = fault, nil
		}
	}
}

func guarded(task func(int), worker int) (fault any) {
	defer func() { fault = recover() }()
	task(worker)
	return nil
}

// wait returns when all tasks are done. A panic of one goes on here, where who
// called can deal with it.
func (p *pool) wait() {
	p.done.Wait()
	if p.fault != nil {
		panic(p.fault)
	}
}
